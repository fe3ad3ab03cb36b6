/** The axes of a kind: lanes with names, which are its rows or columns, and the measured values across them. */

import { looksOf, valueScale, yScaleType } from "../axes.js";
import { wordsOf, wrapLabel } from "../labels-layout.js";
import { textWidth } from "./in-chart.js";

/** The greatest share of the width that names of rows take, and what they may always take, in sizes of the font. */
const NAMES = { share: 0.34, least: 5 };
/** px between names side by side. */
const BETWEEN = 12;

/** A lane for each series, by its name. */
export function laneOfEach({ entries, colorOf }) {
  return entries.map(({ label, name }) => ({ text: label, color: colorOf(name) }));
}

/**
 * The scale of an axis along which series or categories are, with their names.
 * @param {import("../kinds.js").Given} given
 * @param {{text: string, color?: string, weight?: number}[]} lanes
 * @param {(chart: any) => typeof lanes} [lanesIn]   the lanes of a chart of that size
 */
export function laneScale({ theme, flipped }, lanes, lanesIn = () => lanes) {
  const scale = { type: "category", labels: lanes.map(({ text }) => text), offset: true, bounds: "ticks" };
  const looks = looksOf(theme);
  Object.assign(scale, looks, { grid: { display: false }, border: { display: false } });
  scale.ticks = {
    ...looks.ticks,
    autoSkip: false,
    padding: 8,
    color: ({ chart, index }) => lanesIn(chart)[index]?.color ?? theme.text,
    font: ({ chart, index }) => ({ ...theme.font, weight: lanesIn(chart)[index]?.weight ?? 700 }),
    callback(index) {
      return namesOf(this.chart, lanesIn(this.chart), flipped, theme.font)[index] ?? "";
    },
  };
  return scale;
}

/** The lines of the names of rows or columns. */
function namesOf(chart, lanes, isBeside, { size }) {
  const widthOf = (text) => textWidth(chart, text, { weight: 700 });
  const names = lanes.map(({ text }) => text);
  return isBeside
    ? names.map((name) => wrapLabel(name, Math.max(NAMES.least * size, chart.width * NAMES.share), widthOf))
    : namesInLanes(names, (chart.width - 3 * size) / Math.max(1, names.length), widthOf).map(
        ({ lines: own, row }) => [...Array.from({ length: row }, () => ""), ...own],
      );
}

/**
 * Breaks names at blanks, so that each is as narrow as its lane. If a word is wider than that, every other name goes below its
 * neighbours, where it may take the width of two lanes; the first and the last, which have a neighbour on one side only, of one
 * and a half. Pure.
 * @param {string[]} names   from left to right
 * @param {number} lane   width, px
 * @param {(text: string) => number} widthOf   px
 * @returns {{lines: string[], row: number}[]} row: the number of lines above the name
 */
export function namesInLanes(names, lane, widthOf) {
  const narrow = lane - BETWEEN;
  const fits = names.every((name) => wordsOf(name).every((word) => widthOf(word) <= narrow));
  const isOuter = (at) => at === 0 || at === names.length - 1;
  const more = (at) => (fits ? 0 : isOuter(at) ? lane / 2 : lane);
  const lines = names.map((name, at) => wrapLabel(name, narrow + more(at), widthOf));
  if (fits) return lines.map((nameLines) => ({ lines: nameLines, row: 0 }));
  const upper = Math.max(...lines.filter((_, at) => at % 2 === 0).map(({ length }) => length));
  return lines.map((nameLines, at) => ({ lines: nameLines, row: at % 2 === 0 ? 0 : upper }));
}

/** The scale of the measured values of a kind with lanes. */
export function acrossScale({ settings, theme, flipped }) {
  const title = flipped ? settings.yTitle : null;
  const scale = valueScale(settings, theme, { horizontal: flipped, title });
  return { ...scale, grace: yScaleType(settings) === "linear" ? "6%" : 0 };
}
