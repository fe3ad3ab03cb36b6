/**
 * Reads names in the attributes of a canvas, and the words that identify a chart for a reader.
 */

import { seriesNames } from "chartjs-plugin-csv";

import { isDenied } from "./verdict-text.js";

/** The steps of `data-chart-steps="A | B + C"`: the series that each one reveals. */
export function stepsOf(attribute) {
  return (seriesNames(attribute) ?? []).map((step) =>
    step
      .split("+")
      .map((name) => name.trim())
      .filter(Boolean),
  );
}

/** The charts of a slide in order, without those that the current data's verdicts hide. */
export function canvasesOf(slide) {
  return [...(slide?.querySelectorAll("canvas[data-chart]") ?? [])].filter((canvas) => !isDenied(canvas));
}

/** A file's address without folders: `claims.json`. */
export function wholeFileName(src) {
  return (src ?? "").split(/[?#]/, 1)[0].split("/").at(-1);
}

/** A table's address without folders and ending: `throughput-write-seq`. */
export function fileName(src) {
  return wholeFileName(src).replace(/\.csv$/i, "");
}

/**
 * A chart's heading: its `data-chart-label`, else the heading of its panel without the figures of one view; null if it is
 * the only chart on its slide.
 */
export function headingOf(canvas) {
  if (canvas.dataset.chartLabel) return canvas.dataset.chartLabel;
  const heading = canvas.closest(".panel")?.querySelector("h3, h4");
  if (!heading) return null;
  const copy = heading.cloneNode(true);
  for (const element of copy.querySelectorAll("[hidden], [data-view]")) element.remove();
  return copy.textContent.replace(/\s+/g, " ").trim() || null;
}
