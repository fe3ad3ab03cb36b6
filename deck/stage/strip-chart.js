/**
 * Chart type `strip`: a lane for each series, with a dot for each trial, a line at the median, and the worst trial by name. For
 * measurements where the order of trials means nothing and the worst one counts.
 */

import { Chart, ScatterController } from "chart.js";
import { csvOf, formatValue } from "chartjs-plugin-csv";

import { STRIP } from "../chart-tools/charted.js";
import { unbroken } from "../data/format.js";
import { medianOf } from "../data/median.js";

/** The part of a lane over which dots are spread, and the part that the median's line takes. */
const SPREAD = 0.36;
const MEDIAN = 0.6;
/** Dots are dealt out over so many places, so that equal values do not hide each other. */
const PLACES = 7;
/** In sizes of the chart's font: a line of a name, the distance from the worst dot to its figure, and a dot's radius. */
const LINE_HEIGHT = 1.2;
const GAP = 0.6;
const RADIUS = 0.35;
/** px: between the plot and the names, and between names side by side */
const ABOVE_NAMES = 10;
const BETWEEN_NAMES = 12;
/** Lines below a plot, also if its names are short: strips side by side then end at the same height. */
const LEAST_ROWS = 2;
/** About the width of the axis with its labels, in sizes of the font. */
const AXIS = 3;

/**
 * Where the dots of a lane are: around its middle, in the order of their values. Pure.
 * @param {number} count   of dots
 * @param {{middle: number, width: number}} lane   px
 * @returns {number[]} px
 */
export function dotsAcross(count, { middle, width }) {
  const places = Math.min(PLACES, Math.max(1, count));
  const offset = (index) => (places === 1 ? 0 : ((index * 3) % places) / (places - 1) - 0.5);
  return Array.from({ length: count }, (_, index) => middle + offset(index) * width * SPREAD);
}

export class StripController extends ScatterController {
  static id = STRIP;

  updateElements(points, start, count, mode) {
    super.updateElements(points, start, count, mode);
    const radius = RADIUS * fontOf(this.chart).size;
    for (const point of points) point.options = { ...point.options, radius, pointStyle: "circle" };
    const lane = this.#lane();
    const xs = dotsAcross(points.length, lane);
    const order = points.map((_, index) => index).sort((a, b) => points[a].y - points[b].y);
    order.forEach((index, rank) => {
      points[index].x = xs[rank];
    });
  }

  /** The lanes share the plot among the series on show. */
  #lane() {
    return laneOf(this.chart, this.index);
  }
}

/** The series on show, from left to right. */
function shownIn(chart) {
  return chart
    .getSortedVisibleDatasetMetas()
    .map((meta) => meta.index)
    .sort((one, other) => one - other);
}

/** @returns {{middle: number, width: number}} px */
function laneOf(chart, index) {
  const shown = shownIn(chart);
  const { left, right } = chart.chartArea;
  const width = (right - left) / Math.max(1, shown.length);
  return { middle: left + (Math.max(0, shown.indexOf(index)) + 0.5) * width, width };
}

/**
 * Names and findings of the lanes: below each its name, in it a line at the median and the figure of the worst trial above its
 * dot. A plugin, because what a controller draws is cut off at the edges of the plot.
 */
export const StripNames = {
  id: "stripNames",
  afterDatasetsDraw(chart) {
    if (chart.config.type !== StripController.id) return;
    const { ctx } = chart;
    ctx.save();
    const names = namesIn(chart);
    shownIn(chart).forEach((index, lane) => drawLane(chart, index, names[lane]));
    ctx.restore();
  },
};

/** The room below the plot that the names take, px. */
export function roomForNames(chart) {
  const names = namesIn(chart);
  const rows = Math.max(LEAST_ROWS, ...names.map(({ lines, row }) => row + lines.length));
  return ABOVE_NAMES + rows * LINE_HEIGHT * fontOf(chart).size;
}

/** Names in the lanes of a chart: their width is known before the plot has its own, as its room depends on them. */
function namesIn(chart) {
  const { ctx } = chart;
  const { size } = fontOf(chart);
  const labels = shownIn(chart).map((index) => unbroken(chart.data.datasets[index].label));
  const lane = (chart.width - AXIS * size) / Math.max(1, labels.length);
  ctx.save();
  ctx.font = fontOf(chart).css;
  const names = namesInLanes(labels, lane, (text) => ctx.measureText(text).width);
  ctx.restore();
  return names;
}

/**
 * Breaks names at blanks, so that each is as narrow as its lane. If a word is wider than that, every other name goes below its
 * neighbours, where it may take the width of two lanes; the first and the last, which have a neighbour on one side only, of one
 * and a half. Pure.
 * @param {string[]} labels   from left to right
 * @param {number} lane   width, px
 * @param {(text: string) => number} widthOf   px
 * @returns {{lines: string[], row: number}[]} row: the number of lines above the name
 */
export function namesInLanes(labels, lane, widthOf) {
  const narrow = lane - BETWEEN_NAMES;
  const fits = labels.every((label) => label.split(" ").every((word) => widthOf(word) <= narrow));
  const isOuter = (at) => at === 0 || at === labels.length - 1;
  const more = (at) => (fits ? 0 : isOuter(at) ? lane / 2 : lane);
  const lines = labels.map((label, at) => wrapped(label, narrow + more(at), widthOf));
  if (fits) return lines.map((one) => ({ lines: one, row: 0 }));
  const upper = Math.max(...lines.filter((_, at) => at % 2 === 0).map(({ length }) => length));
  return lines.map((one, at) => ({ lines: one, row: at % 2 === 0 ? 0 : upper }));
}

/** The font of names and figures: that of the chart, which is smaller on a phone. */
function fontOf(chart) {
  const { family = "sans-serif", size = Chart.defaults.font.size } = csvOf(chart).theme.font;
  return { size, css: `700 ${size}px ${family}` };
}

function drawLane(chart, index, name) {
  const { ctx, chartArea } = chart;
  const dataset = chart.data.datasets[index];
  const lane = laneOf(chart, index);
  const { size, css } = fontOf(chart);
  ctx.font = css;
  ctx.fillStyle = dataset.csvColor;
  ctx.strokeStyle = dataset.csvColor;
  Object.assign(ctx, { textAlign: "center", textBaseline: "top" });
  // A name that is wider than its lane stays within the chart.
  const half = Math.max(...name.lines.map((line) => ctx.measureText(line).width)) / 2;
  const middle = Math.min(Math.max(lane.middle, half), chart.width - half);
  name.lines.forEach((line, at) =>
    ctx.fillText(line, middle, chartArea.bottom + ABOVE_NAMES + (name.row + at) * LINE_HEIGHT * size),
  );
  const points = chart.getDatasetMeta(index).data.filter(({ skip }) => !skip);
  const values = dataset.data.flatMap(({ y }) => (y === null ? [] : [y]));
  if (points.length === 0 || values.length === 0) return;
  const { y } = chart.scales;
  const median = y.getPixelForValue(medianOf(values));
  const reach = (lane.width * MEDIAN) / 2;
  ctx.lineWidth = 4;
  ctx.beginPath();
  ctx.moveTo(lane.middle - reach, median);
  ctx.lineTo(lane.middle + reach, median);
  ctx.stroke();
  const unit = csvOf(chart)?.settings?.yUnit ?? null;
  const worst = points.reduce((highest, point) => (point.y < highest.y ? point : highest));
  const text = formatValue(Number(Math.max(...values).toPrecision(2)), unit);
  Object.assign(ctx, { textAlign: "center", textBaseline: "bottom" });
  ctx.fillText(text, worst.x, worst.y - GAP * size);
}

/** A name in lines of at most this width, broken at blanks. */
function wrapped(text, width, widthOf) {
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
