/**
 * What a chart draws besides its data: a shaded band for what counts as no difference, and published figures. A figure is a
 * named line or, with `@` and a place on the x axis, a hollow point. `data-chart-marks="S1, journal = 30000000 | S0 @ 4096 = 15.6"`
 * lists them, in base units of the axes. And what the talk finds, written at the point of the data that it is about:
 * `data-chart-notes="With journal @ 4096 = {CLAIM.CONDITION} at 4K"`.
 */

import { formatValue, seriesNames, wrapLabel } from "chartjs-plugin-csv";

import { formatRatio } from "../data/format.js";
import { marginOf } from "../data/margin.js";
import { RATIO, viewOf } from "./views.js";

const MARGIN_COLOR = "var(--ink-muted)";
const MARK_COLOR = "var(--ink-muted)";
const MARK_INK = "var(--ink)";
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

/** What stands in braces in a note: a bound value, or the figure of the point itself. */
const FIGURE = /\{([^{}]*)\}/g;
export const HERE = "here";
/** Letters in a line of a note, about. */
const NOTE_LINE = 22;

/**
 * The notes in an attribute. Pure.
 * @param {string|undefined} attribute   `SERIES @ X = TEXT`, several separated by a bar; figures are values in braces
 * @returns {{notes: {series: string, at: string, text: string, values: string[]}[], problems: string[]}}
 */
export function parseNotes(attribute) {
  const notes = [];
  const problems = [];
  for (const part of (attribute ?? "").split("|").filter((text) => text.trim() !== "")) {
    const [, series, at, text] = /^\s*(.+?)\s*@\s+(\S+)\s*=\s*(.+?)\s*$/.exec(part) ?? [];
    if (text === undefined) problems.push(`“${part.trim()}” is not “SERIES @ X = TEXT”`);
    else {
      const values = [...text.matchAll(FIGURE)]
        .map(([, value]) => value.trim())
        .filter((value) => value !== HERE);
      notes.push({ series, at, text, values });
    }
  }
  return { notes, problems };
}

/**
 * The notes of a chart as marks. A note whose point is missing or not on show, or whose figure the data do not have, is not
 * written.
 * @param {object} slot   a chart of the plugin
 * @param {{resolve: (value: string) => string|null}} numbers   bound values
 */
export function notesOf({ src, canvas, model, settings, state }, numbers) {
  const { chartNotes, chartSrc } = canvas.dataset;
  if (!chartNotes || !model || src !== chartSrc) return [];
  const { notes, problems } = parseNotes(chartNotes);
  if (problems.length) console.error(`data-chart-notes of ${chartSrc}: ${problems.join("; ")}`);
  return notes.flatMap(({ series, at, text }) => {
    if (state.shown && !state.shown.includes(series)) return [];
    const points = model.series.find(({ name }) => name === series)?.points ?? [];
    const point = points.find(({ x, y }) => String(x) === at && y !== null);
    if (!point) return [];
    const label = withFigures(text, (value) =>
      value === HERE ? saidOf(point.y, settings) : numbers.resolve(value),
    );
    return label === null
      ? []
      : [{ x: point.x, y: point.y, label: inLines(label), color: MARK_INK, shape: "none" }];
  });
}

/** A value as a sentence says it: with two digits. */
function saidOf(value, settings) {
  if (settings.yUnit === "ratio") return formatRatio(value);
  return formatValue(Number(value.toPrecision(2)), settings.yUnit, settings);
}

/** A text with its figures; null if one is not known. */
function withFigures(text, figureOf) {
  const figures = [...text.matchAll(FIGURE)].map(([, value]) => figureOf(value.trim()));
  if (figures.includes(null)) return null;
  return text.replace(FIGURE, () => figures.shift());
}

/** Short lines: a note stands beside its point, and a long line would reach across the plot. */
function inLines(text) {
  return wrapLabel(text, NOTE_LINE, ({ length }) => length).join("\n");
}

/**
 * The marks of a chart, for the plugin's option `marks`.
 * @param {{src: string|null, canvas: HTMLCanvasElement, scale: string|null,
 *          state: {shown: string[]|null, used: {series: string[]|null}|null}}} slot   a chart of the plugin
 * @param {object|null} entry   what the manifest says of it
 */
export function marksOf({ src, canvas, scale, state }, entry) {
  if (!src) return [];
  const about = state.shown ?? state.used?.series ?? seriesNames(canvas.dataset.chartSeries);
  return [...noDifference(src, scale), ...shaded(marginOf(entry, about)), ...published(src, canvas)];
}

/** The line at 1 of a ratio. A log2 axis always has an emphasised tick there; an axis that starts at zero may not. */
function noDifference(src, scale) {
  if (viewOf(src) !== RATIO || scale !== "linear") return [];
  return [{ axis: "value", value: 1, color: "var(--ink)", dash: [] }];
}

function shaded(margin) {
  return margin === null ? [] : [{ axis: "value", ...margin, color: MARGIN_COLOR }];
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
    return at === undefined ? { axis: "value", value, dash: DASH, ...named } : { x: at, y: value, ...named };
  });
}
