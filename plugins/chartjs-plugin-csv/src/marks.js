import { indexAxisOf } from "./axes.js";
import { kindOf } from "./kinds.js";
import { drawMark, isBand, isInSight, isPoint } from "./marks-draw.js";
import { writeNames } from "./marks-names.js";
import { csvOf } from "./plugin.js";
import { isLogarithmic } from "./range.js";
import { namesOfLines } from "./runs.js";
import { resolveColor } from "./style.js";
import { formatValue } from "./units.js";

/**
 * @typedef {{label?: string, color?: string, reach?: boolean}} MarkLook   reach: false: the axis need not reach as far
 * @typedef {MarkLook & {axis: "x"|"y"|"value"|"index", value: number|string, dash?: number[]}} LineMark
 * @typedef {MarkLook & {axis: "x"|"y"|"value"|"index", low?: number|string|null, high?: number|string|null}} BandMark
 * @typedef {MarkLook & {x: number|string, y: number, shape?: "dot"|"none"}} PointMark
 * @typedef {LineMark|BandMark|PointMark} Mark
 * @typedef {{size?: number, weight?: number|string, family?: string}} NameFont
 * @typedef {{items?: Mark[]|((chart: import("chart.js").Chart<any, any, any>) => Mark[]), font?: NameFont, color?: string, halo?: string}} MarkOptions
 *   color: of marks without one; halo: around names, the page's own colour
 */

const DEFAULTS = {
  items: [],
  font: { size: 20, weight: 600 },
  color: "var(--chart-text, currentcolor)",
  halo: "var(--page, canvas)",
};

/** An axis reaches this much beyond its greatest value (a factor), so that a line is not drawn on the frame. */
const HEADROOM = 1.06;
const current = new WeakMap();

/**
 * Chart.js plugin `csvMarks`: what the data are compared with. Shaded bands, lines and single points, with names that
 * do not cover each other or, if possible, the data.
 *
 * `options.plugins.csvMarks.items`: a list, or a function of the chart that gives one, asked at each update:
 *
 * - `{axis: "y"|"x"|"value"|"index", value, label?, color?, dash?}` a line; `dash: []` is a solid one. `value` is the axis of the
 *   values, whichever that is
 * - `{axis: "y"|"x", low, high, label?, color?}` a band; without `low` or `high` it reaches to the plot's edge
 * - `{x, y, label?, color?, shape?}` a point, as a hollow diamond; `shape: "dot"` a filled circle, `"none"` only its name
 *
 * A name with line breaks is written in several lines. If single runs are drawn as lines, their names are marks as well.
 *
 * The y axis reaches as far as its marks, unless its end is set or the mark says `reach: false`.
 * @type {import("chart.js").Plugin<import("chart.js").ChartType, MarkOptions> & {id: "csvMarks", defaults: MarkOptions}}
 */
export const Marks = {
  id: "csvMarks",
  defaults: DEFAULTS,
  descriptors: { _scriptable: false, _indexable: false },

  beforeUpdate(chart) {
    current.set(chart, marksOf(chart));
  },

  afterDataLimits(chart, { scale }) {
    if (scale.axis === indexAxisOf(chart) || scale.type === "category") return;
    const { items = [] } = current.get(chart) ?? {};
    const values = items
      .filter((item) => item.reach !== false)
      .flatMap((item) => (item.axis === scale.axis ? [item.value, item.low, item.high] : [item.y]))
      .filter((value) => Number.isFinite(value));
    reach(scale, values);
  },

  beforeDatasetsDraw(chart) {
    const { items = [] } = current.get(chart) ?? {};
    for (const item of items) if (isBand(item)) drawMark(chart, item);
  },

  afterDatasetsDraw(chart) {
    const { items = [], options } = current.get(chart) ?? {};
    const all = [...items, ...(options ? lineNames(chart) : [])];
    if (all.length === 0) return;
    const drawn = all.filter((item) => isBand(item) || isInSight(chart, item));
    for (const item of drawn) if (!isBand(item)) drawMark(chart, item);
    current.get(chart).placed = writeNames(chart, drawn, options);
  },
};

/** The names of single runs that are drawn as lines, with two digits. */
function lineNames(chart) {
  const { lines, entries, settings } = csvOf(chart) ?? {};
  if (!lines) return [];
  const { yUnit, prefix } = settings;
  const { end = "high", name = end === "low" ? "lowest" : "highest" } = settings.lines;
  const format = (value) => formatValue(Number(value.toPrecision(2)), yUnit, { prefix });
  return namesOfLines(chart, entries, lines, { end, name }, format);
}

/** Where the names of a chart's marks are: label, left, top, width, height in px (for tests). */
export function placedMarks(chart) {
  return current.get(chart)?.placed ?? [];
}

/** The marks with colours that a canvas understands; marks without a place are left out. */
function marksOf(chart) {
  const given = chart.config.options.plugins?.csvMarks;
  if (kindOf(chart.config.type)?.controller.hasValueAxis === false) return { items: [] };
  const options = { ...DEFAULTS, ...given, font: { ...DEFAULTS.font, ...given?.font } };
  const { canvas } = chart;
  const list = typeof options.items === "function" ? options.items(chart) : options.items;
  const index = indexAxisOf(chart);
  const axes = { index, value: index === "x" ? "y" : "x" };
  const items = (list ?? []).filter(hasPlace).map((item) => ({
    ...item,
    ...(item.axis ? { axis: axes[item.axis] ?? item.axis } : {}),
    color: resolveColor(canvas, item.color ?? options.color),
  }));
  return { items, options: { ...options, halo: resolveColor(canvas, options.halo) } };
}

function hasPlace(item) {
  if (isPoint(item)) return Number.isFinite(item.y);
  const { value, low, high } = item;
  return [value, low, high].some((place) => Number.isFinite(place) || typeof place === "string");
}

function reach(scale, values) {
  if (values.length === 0) return;
  const { minDefined, maxDefined } = scale.getUserBounds();
  const logarithmic = isLogarithmic(scale.type);
  const shown = logarithmic ? values.filter((value) => value > 0) : values;
  if (shown.length === 0) return;
  const [lowest, highest] = [Math.min(...shown), Math.max(...shown)];
  if (!maxDefined && highest > scale.max) scale.max = highest > 0 ? highest * HEADROOM : highest;
  if (!minDefined && lowest < scale.min) scale.min = logarithmic ? lowest / HEADROOM : lowest;
}
