/**
 * The two views of one measurement: ratios to the reference, and absolute values. The files `ratio-X.csv` and `X.csv` are
 * next to each other; key R switches between them. Pure functions.
 */

import { fileName } from "../text/canvases.js";

export const RATIO = "ratio";
const ABSOLUTE = "absolute";
const PREFIX = "ratio-";

/** Which view a file is: `ratio` or `absolute`. */
export function viewOf(src) {
  return fileName(src).startsWith(PREFIX) ? RATIO : ABSOLUTE;
}

/**
 * The file of the other view, whether or not it exists.
 * @param {string} src   as written on the slide
 * @param {string} [absolute]   what `data-chart-absolute` names, if the canvas has it
 */
export function otherSource(src, absolute) {
  const at = src.lastIndexOf("/") + 1;
  const [folder, file] = [src.slice(0, at), src.slice(at)];
  if (viewOf(src) === ABSOLUTE) return `${folder}${PREFIX}${file}`;
  return absolute || `${folder}${file.slice(PREFIX.length)}`;
}

/**
 * The series to show in the other view when the slide selects some. The reference has no line in the ratio view, but needs
 * one in the absolute view.
 * @param {string[]|null} chosen   the slide's choice; null for all
 * @param {string|null} reference   the label of the variant that all are compared with
 * @param {string} view   the view to show
 * @returns {string[]|null}
 */
export function seriesInView(chosen, reference, view) {
  if (chosen === null || reference === null) return chosen;
  const others = chosen.filter((name) => name !== reference);
  if (view === ABSOLUTE) return [reference, ...others];
  return others.length ? others : null;
}

/** The label of the variant that an experiment's ratios compare with, or null. */
export function referenceOf(experiment) {
  return experiment?.variants?.find(({ reference }) => reference)?.label ?? null;
}

/**
 * What an axis measures, in words: "Throughput: Without journal ÷ each line".
 * @param {object|null} entry   what the manifest says of the chart
 * @param {object|null} experiment   and of its experiment
 */
export function quantity(entry, experiment) {
  const label = entry?.y?.label ?? null;
  if (label === null || !/: ratio$/.test(label)) return label;
  const base = label.replace(/: ratio$/, "");
  const reference = referenceOf(experiment);
  if (reference === null) return `${base}, as a ratio`;
  switch (experiment.ratio_direction) {
    case "reference/variant":
      return `${base}: ${reference} ÷ each line`;
    case "variant/reference":
      return `${base}: each line ÷ ${reference}`;
    default:
      return `${base}, as a ratio to ${reference}`;
  }
}

/** The line below a slide's title for a view without a line of its own; null if the manifest says too little. */
export function measureWords(entry, experiment) {
  const what = quantity(entry, experiment);
  if (what === null) return null;
  const over = entry.x?.label ? ` by ${entry.x.label}` : "";
  if (viewOf(entry.path) === RATIO) return `${what},${over}; 1 is no difference`;
  const direction = { higher: "higher is better", lower: "lower is better" }[entry.y.better];
  return [`${what}${over}: median, least and greatest run`, direction].filter(Boolean).join("; ");
}
