/**
 * Marks the slides that show altered data: a line in words above the first chart that is concerned, or below the title of
 * a slide whose texts are. A figure that somebody edited must never be shown as if it had been measured.
 */

import { alteredSentence, behindChart, ofDataSet } from "../data/alterations.js";
import { partsOf } from "../data/data-set.js";
import { element } from "../page/elements.js";
import { canvasesOf } from "./canvases.js";
import { shownSources } from "./labels.js";
import { slidesIn } from "./slide-data.js";

const CLASS = "altered-data";
/** What takes its text from the data: bound values, texts that verdicts choose, tables of claims. */
const FROM_DATA = "data[value], [data-when], [data-claims]";

/**
 * Writes, rewrites or removes the marks at and below `root`.
 * @param {Element} root
 * @param {import("../data/data-on-show.js").DataOnShow} data
 * @param {{dataSet: string}} documents   dataSet: the one that texts are from
 */
export function writeAlteredMarks(root, data, documents) {
  for (const slide of slidesIn(root)) markSlide(slide, data, documents);
}

function markSlide(slide, { resolve, alterationsOf }, { dataSet }) {
  const charts = canvasesOf(slide)
    .filter((canvas) => canvas.dataset.chartSrc)
    .map((canvas) => ({
      canvas,
      alterations: shownSources(canvas, resolve).flatMap((src) =>
        behindChart(src, alterationsOf(partsOf(src)?.dataSet)),
      ),
    }))
    .filter(({ alterations }) => alterations.length > 0);
  const texts = slide.querySelector(FROM_DATA) === null ? [] : ofDataSet(alterationsOf(dataSet));
  const sentence = alteredSentence([...charts.flatMap(({ alterations }) => alterations), ...texts]);
  const present = slide.querySelector(`:scope > .${CLASS}`);
  if (sentence === null) {
    present?.remove();
    return;
  }
  if (present?.textContent === sentence) return;
  const mark = present ?? element(slide.ownerDocument, "p", { class: CLASS, role: "status" });
  if (present === null) slide.insertBefore(mark, placeFor(slide, charts[0]?.canvas ?? null));
  mark.textContent = sentence;
}

/** The part of a slide before which its mark stands. */
function placeFor(slide, canvas) {
  if (canvas !== null) return [...slide.children].find((part) => part.contains(canvas));
  const heading = [...slide.children].find((part) => /^H[12]$/.test(part.tagName));
  return heading ? heading.nextElementSibling : slide.firstElementChild;
}
