/**
 * The label of each slide that has charts: which data set, n, date, what limited it. One line for one data set,
 * under all charts of the slide.
 */

import { ceilingWords, ceilingsOf } from "./ceilings.js";
import { partsOf } from "./data-set.js";
import { provenance } from "./provenance.js";

const CLASS = "provenance";

/**
 * Writes or rewrites the labels below `root`.
 * @param {Element} root
 * @param {{resolve: (src: string) => string, manifestOf: (dataSet: string) => object|null}} data
 */
export function writeLabels(root, { resolve, manifestOf }) {
  for (const slide of root.querySelectorAll("section")) {
    const canvases = [...slide.querySelectorAll("canvas[data-chart-src]")];
    if (canvases.length === 0 || slide.querySelector("section")) continue;
    const label = slide.querySelector(`:scope > .${CLASS}`) ?? appended(slide);
    const sources = canvases.map((canvas) => resolve(canvas.dataset.chartSrc));
    const origin = byDataSet(sources)
      .map((group) => provenance(group, manifestOf(partsOf(group[0])?.dataSet)))
      .join("; ");
    const lines = canvases.flatMap((canvas, at) =>
      ceilingsOf(canvas.dataset.chartCeiling, manifestOf(partsOf(sources[at])?.dataSet)),
    );
    const text = [origin, ceilingWords(lines)].filter(Boolean).join(" · ");
    if (label.textContent !== text) label.textContent = text;
  }
}

/** Addresses grouped by their data set, in order of appearance. */
export function byDataSet(sources) {
  const groups = new Map();
  for (const src of sources) {
    const name = partsOf(src)?.dataSet ?? "";
    groups.set(name, [...(groups.get(name) ?? []), src]);
  }
  return [...groups.values()];
}

function appended(slide) {
  const label = slide.ownerDocument.createElement("p");
  label.className = CLASS;
  // Notes stay the last element of a slide, where reveal put them.
  slide.insertBefore(label, slide.querySelector(":scope > aside.notes"));
  return label;
}
