/** Keeps a slide's words in step with its charts: the line that names the measure, parts for one view, the label. */

import { element } from "../page/elements.js";
import { labelOf, labelSlide } from "../text/labels.js";
import { namedDataSet } from "../text/slide-data.js";
import { placeOf } from "./charted.js";
import { canvasesOf } from "../text/canvases.js";
import { measureWords, viewOf } from "./views.js";

const OTHER_VIEW = "other-view";
const COMPUTED = "computed-measure";
const COMPARED = "compared";

/**
 * @param {Element} slide
 * @param {import("./shown.js").ShownCharts} shown
 * @param {object} data   data on show
 */
export function writeWords(slide, shown, data) {
  const canvases = canvasesOf(slide).filter((canvas) => canvas.dataset.chartSrc);
  if (canvases.length === 0) return;
  writeView(slide, canvases, data);
  labelSlide(slide, data, data.about(data.nameFor(namedDataSet(slide))));
  if (shown.comparison !== null && !slide.hasAttribute("data-compare")) {
    const sources = shown.slotsOf(slide).map(({ src }) => src);
    writeComparison(slide, shown.comparison.words(sources.filter(Boolean)));
  }
}

/** A slide's own words are for its default view. */
function writeView(slide, canvases, data) {
  const usual = viewOf(canvases[0].dataset.chartSrc);
  const switched = canvases.find((canvas) => canvas.dataset.chartShown);
  const view = switched ? viewOf(switched.dataset.chartShown) : usual;
  for (const part of slide.querySelectorAll("[data-view]"))
    part.classList.toggle(OTHER_VIEW, part.dataset.view !== view);
  for (const measure of slide.querySelectorAll(`:scope > .measure:not([data-view], .${COMPUTED})`))
    measure.classList.toggle(OTHER_VIEW, view !== usual);
  const written = slide.querySelector(`:scope > .measure[data-view="${view}"]`);
  const { entry, experiment } = placeOf(switched?.dataset.chartShown ?? null, data, switched);
  writeMeasure(slide, view === usual || written ? null : measureWords(entry, experiment));
}

function writeMeasure(slide, words) {
  const present = slide.querySelector(`:scope > .${COMPUTED}`);
  if (words === null) {
    present?.remove();
    return;
  }
  const line = present ?? element(slide.ownerDocument, "p", { class: `measure ${COMPUTED}` });
  line.textContent = words;
  if (!present) slide.querySelector(":scope > :is(h1, h2, h3)")?.after(line);
}

function writeComparison(slide, words) {
  const label = labelOf(slide);
  const present = label.querySelector(`:scope > .${COMPARED}`);
  if (!words) {
    present?.remove();
    return;
  }
  const part = present ?? element(slide.ownerDocument, "span", { class: COMPARED });
  part.textContent = ` · ${words}`;
  if (!present) label.insertBefore(part, label.querySelector(":scope > .chart-controls"));
}
