/**
 * Chart type `strip`: a lane for each series, with a dot for each trial, a line at the median, and the worst trial by name. For
 * measurements where the order of trials means nothing and the worst one counts.
 */

import { ScatterController } from "chart.js";
import { csvOf, formatValue } from "chartjs-plugin-csv";

import { unbroken } from "../data/format.js";

/** The part of a lane over which dots are spread, and the part that the median's line takes. */
const SPREAD = 0.36;
const MEDIAN = 0.6;
/** Dots are dealt out over so many places, so that equal values do not hide each other. */
const PLACES = 7;
const FONT_SIZE = 20;
const LINE_HEIGHT = 24;
/** Between the worst dot and its figure, px. */
const GAP = 12;
/** px */
const RADIUS = 7;
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

/** The middle value, or the mean of the two in the middle. Pure. */
export function medianOf(values) {
  const ordered = [...values].sort((a, b) => a - b);
  const half = ordered.length >> 1;
  return ordered.length % 2 ? ordered[half] : (ordered[half - 1] + ordered[half]) / 2;
}

export class StripController extends ScatterController {
  static id = "strip";

  updateElements(points, start, count, mode) {
    super.updateElements(points, start, count, mode);
    for (const point of points) point.options = { ...point.options, radius: RADIUS, pointStyle: "circle" };
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

/** @returns {{middle: number, width: number}} px */
function laneOf(chart, index) {
  const shown = chart
    .getSortedVisibleDatasetMetas()
    .map((meta) => meta.index)
    .sort((one, other) => one - other);
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
    for (const { index } of chart.getSortedVisibleDatasetMetas()) drawLane(chart, index);
    ctx.restore();
  },
};

function drawLane(chart, index) {
  const { ctx, chartArea } = chart;
  const dataset = chart.data.datasets[index];
  const lane = laneOf(chart, index);
  const family = chart.options.scales.y.ticks.font?.family ?? "sans-serif";
  ctx.font = `700 ${FONT_SIZE}px ${family}`;
  ctx.fillStyle = dataset.csvColor;
  ctx.strokeStyle = dataset.csvColor;
  Object.assign(ctx, { textAlign: "center", textBaseline: "top" });
  wrapped(ctx, unbroken(dataset.label), lane.width - 12).forEach((line, row) =>
    ctx.fillText(line, lane.middle, chartArea.bottom + 10 + row * LINE_HEIGHT),
  );
  const points = chart.getDatasetMeta(index).data.filter(({ skip }) => !skip);
  const values = dataset.data.flatMap(({ y }) => (y === null ? [] : [y]));
  if (points.length === 0 || values.length === 0) return;
  const { y } = chart.scales;
  const median = y.getPixelForValue(medianOf(values));
  const half = (lane.width * MEDIAN) / 2;
  ctx.lineWidth = 4;
  ctx.beginPath();
  ctx.moveTo(lane.middle - half, median);
  ctx.lineTo(lane.middle + half, median);
  ctx.stroke();
  const unit = csvOf(chart)?.settings?.yUnit ?? null;
  const worst = points.reduce((highest, point) => (point.y < highest.y ? point : highest));
  const text = formatValue(Number(Math.max(...values).toPrecision(2)), unit);
  Object.assign(ctx, { textAlign: "center", textBaseline: "bottom" });
  ctx.fillText(text, worst.x, worst.y - GAP);
}

/** A name in lines of at most this width, broken at blanks. */
function wrapped(ctx, text, width) {
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && ctx.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
