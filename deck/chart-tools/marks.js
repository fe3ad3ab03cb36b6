/**
 * What a chart draws besides its data: a shaded band for what counts as no difference, and published figures. A figure is a
 * named line or, with `@` and a place on the x axis, a hollow point. `data-chart-marks="S1, journal = 30000000 | S0 @ 4096 = 15.6"`
 * lists them, in base units of the axes.
 */

import { seriesNames } from "chartjs-plugin-csv";

import { marginOf } from "../data/margin.js";
import { RATIO, viewOf } from "./views.js";

const MARGIN_COLOR = "var(--ink-muted)";
const MARK_COLOR = "var(--ink-muted)";
const DASH = [4, 6];
const NUMBER = /^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;
/** Precedes the place on the x axis where a figure holds. */
const NAME_AT = /^(.*?)\s*@\s+(\S+)$/;

/**
 * The figures in an attribute.
 * @param {string|undefined} attribute
 * @returns {{marks: {label: string, value: number, at?: number}[], problems: string[]}} at: the only place on the x axis for
 *   which a figure holds; each part that cannot be read gives a problem, in words
 */
export function parseMarks(attribute) {
  const marks = [];
  const problems = [];
  for (const part of (attribute ?? "").split("|").filter((text) => text.trim() !== "")) {
    const equals = part.lastIndexOf("=");
    const [name, value] = [part.slice(0, Math.max(equals, 0)).trim(), part.slice(equals + 1).trim()];
    const [, label, at] = NAME_AT.exec(name) ?? [name, name];
    if (equals < 0 || label === "" || ![value, at ?? "0"].every((number) => NUMBER.test(number)))
      problems.push(`“${part.trim()}” is not “NAME = NUMBER” or “NAME @ X = NUMBER”, numbers in base units`);
    else marks.push({ label, value: Number(value), ...(at !== undefined && { at: Number(at) }) });
  }
  return { marks, problems };
}

/**
 * The marks of a chart, for the plugin's option `marks`.
 * @param {{src: string|null, canvas: HTMLCanvasElement, scale: string|null,
 *          state: {shown: string[]|null, used: {series: string[]|null}|null}}} slot   a chart of the plugin
 * @param {(src: string) => object|null} entryOf   what the manifest says of a chart
 */
export function marksOf({ src, canvas, scale, state }, entryOf) {
  if (!src) return [];
  const about = state.shown ?? state.used?.series ?? seriesNames(canvas.dataset.chartSeries);
  return [...noDifference(src, scale), ...shaded(marginOf(entryOf(src), about)), ...published(src, canvas)];
}

/** The line at 1 of a ratio. A log2 axis always has an emphasised tick there; an axis that starts at zero may not. */
function noDifference(src, scale) {
  if (viewOf(src) !== RATIO || scale !== "linear") return [];
  return [{ axis: "y", value: 1, color: "var(--ink)", dash: [] }];
}

function shaded(margin) {
  return margin === null ? [] : [{ axis: "y", ...margin, color: MARGIN_COLOR }];
}

/** Only for the view whose unit the figures have. A name that several figures share is written once. */
function published(src, canvas) {
  const { chartMarks, chartSrc } = canvas.dataset;
  if (!chartMarks || src !== chartSrc) return [];
  const { marks, problems } = parseMarks(chartMarks);
  if (problems.length) console.error(`data-chart-marks of ${chartSrc}: ${problems.join("; ")}`);
  return marks.map(({ label, value, at }, place) => {
    const isFirst = marks.findIndex((mark) => mark.label === label) === place;
    const named = { color: MARK_COLOR, ...(isFirst && { label }) };
    return at === undefined ? { axis: "y", value, dash: DASH, ...named } : { x: at, y: value, ...named };
  });
}
