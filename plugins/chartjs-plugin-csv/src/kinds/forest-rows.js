/** The rows of a forest: which of them each series and each x has, and where the headings of groups stand. */

import { place } from "../figures.js";
import { wrapLabel } from "../labels-layout.js";
import { csvOf } from "../plugin.js";
import { LINE, aboutIn, emOf, isFlipped, laneOfEach, laneScale, textWidth, themeOf } from "./base.js";

/** The width from which headings that are sentences have room beside the rows, in sizes of the chart's font. */
const WIDE = 40;
/** The share of it that they take, and their sizes, of which the largest that fits is taken. */
const HEADING = { share: 0.4, sizes: [1, 0.85, 0.75], gap: 10 };
/** Lines of a heading above its rows, at most. */
const MOST_LINES = 6;
/** Lanes between groups whose headings are beside them. */
const BETWEEN_GROUPS = 0.5;
/** Letters of a heading that is no sentence. */
const SHORT = 16;

/**
 * How the rows are laid out: one for each series, one for each x of a single series, or groups with a heading, which is above
 * their rows or beside these. Lanes are as high as a row; between groups there may be less. Pure.
 * @param {any[]} xs
 * @param {number} count   of series
 * @param {{isBeside?: boolean, heightOf?: (x: any) => number}} [headings]   heightOf: of a heading above its rows, in lanes
 * @returns {{headings: {lane: number, x: any}[], laneOf: (series: number, x: number) => number, count: number}}
 */
export function rowsOf(xs, count, { isBeside = false, heightOf = () => 1 } = {}) {
  if (xs.length === 1) return { headings: [], laneOf: (series) => series, count };
  if (count === 1) return { headings: [], laneOf: (_, x) => x, count: xs.length };
  const headings = [];
  const firsts = [];
  let next = 0;
  for (const x of xs) {
    const height = isBeside ? 0 : heightOf(x);
    firsts.push(next + height);
    headings.push({ lane: isBeside ? next + (count - 1) / 2 : next + (height - 1) / 2, x });
    next += height + count + (isBeside ? BETWEEN_GROUPS : 0);
  }
  return { headings, laneOf: (series, x) => firsts[x] + series, count: Math.floor(next) };
}

/** The rows of a chart. */
export function layoutIn(chart) {
  const { model, settings } = csvOf(chart);
  const count = aboutIn(chart).length;
  const isGrouped = model.xs.length > 1 && count > 1;
  const flipped = isFlipped(chart);
  // Headings that are no sentences can stand among the names of rows.
  const areShort = !isGrouped || model.xs.every((x) => nameOf(x, settings).length <= SHORT);
  const isBeside = !areShort && flipped && chart.width > WIDE * emOf(chart);
  const heightOf = (x) => (areShort || !flipped ? 1 : headingLines(chart, x, { isBeside }).length);
  return { ...rowsOf(model.xs, count, { isBeside, heightOf }), isBeside, areShort };
}

function nameOf(x, settings) {
  return place(x, settings.xUnit, settings);
}

/** Headings that are sentences, as labels beside the rows or above them. */
export function labelsOfHeadings(chart) {
  const layout = layoutIn(chart);
  const { areShort, isBeside } = layout;
  if (areShort) return [];
  const flipped = isFlipped(chart);
  const scale = chart.scales[flipped ? "y" : "x"];
  const { left, top } = chart.chartArea;
  const size = isBeside ? sizeBeside(chart, layout) : 1;
  const look = { size, weight: isBeside ? 400 : 700, color: themeOf(chart).ink };
  return layout.headings.map(({ lane, x }) => ({
    lines: headingLines(chart, x, { isBeside, size }).map((text) => ({ text, ...look })),
    isFixed: true,
    places: (width, height) => {
      const at = scale.getPixelForValue(lane);
      if (!flipped) return [{ left: at - width / 2, top: top + 2, align: "center" }];
      const start = isBeside ? left - HEADING.gap - width : 2;
      return [{ left: start, top: at - height / 2, align: isBeside ? "right" : "left" }];
    },
  }));
}

/** The lines of a heading that is a sentence. */
function headingLines(chart, x, { isBeside, size = 1 }) {
  const width = isBeside ? HEADING.share * chart.width : chart.width - 12;
  const weight = isBeside ? 400 : 700;
  return wrapLabel(nameOf(x, csvOf(chart).settings), width, (text) =>
    textWidth(chart, text, { size, weight }),
  );
}

/** The largest size in which no heading beside its group is higher than this. */
function sizeBeside(chart, { headings }) {
  const { y } = chart.scales;
  const [first, second] = headings;
  const most = y.getPixelForValue(second.lane) - y.getPixelForValue(first.lane);
  const heightOf = (x, size) => headingLines(chart, x, { isBeside: true, size }).length * LINE * size;
  const fits = (size) => headings.every(({ x }) => heightOf(x, size) * emOf(chart) <= most);
  return HEADING.sizes.find(fits) ?? HEADING.sizes.at(-1);
}

/** The names of all lanes, as far as they have one. */
function lanesIn(chart, own) {
  const { model, settings } = csvOf(chart);
  const { ink } = themeOf(chart);
  const layout = layoutIn(chart);
  const lanes = Array.from({ length: layout.count }, () => ({ text: "" }));
  if (layout.isBeside) return lanes;
  if (layout.areShort)
    for (const { lane, x } of layout.headings) lanes[lane] = { text: nameOf(x, settings), color: ink };
  const isPerX = layout.headings.length === 0 && model.xs.length > 1;
  model.xs.forEach((x, group) =>
    own.forEach((name, series) => {
      const row = isPerX ? { text: nameOf(x, settings), color: name.color } : name;
      lanes[layout.laneOf(series, group)] = row;
    }),
  );
  return lanes;
}

/** The scale of the rows. */
export function rowScale(given) {
  const { model, entries, settings } = given;
  const own = laneOfEach(given);
  // As many lanes as a narrow chart needs, whose headings are of several lines.
  const most = rowsOf(model.xs, entries.length, { heightOf: () => MOST_LINES }).count;
  const unnamed = Array.from({ length: most }, () => ({ text: "" }));
  const scale = laneScale(given, unnamed, (chart) => lanesIn(chart, own));
  scale.afterDataLimits = (drawn) => {
    drawn.max = layoutIn(drawn.chart).count - 1;
  };
  scale.afterFit = (drawn) => {
    const { chart } = drawn;
    if (!layoutIn(chart).isBeside) return;
    const widths = model.xs.map((x) => textWidth(chart, nameOf(x, settings)));
    drawn.width = Math.min(HEADING.share * chart.width, Math.max(...widths)) + HEADING.gap;
  };
  return scale;
}
