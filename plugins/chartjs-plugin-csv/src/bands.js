import { clippedUpright, pixelX, pixelY } from "./draw.js";
import { leastOf } from "./figures.js";

/**
 * Draws the model's `low` to `high`: as a translucent band behind a line, as whiskers on bars and scattered points.
 * The bounds stay out of `chart.data`, whose datasets hold the file's values and nothing else.
 */

const BAND_ALPHA = 0.16;
/** The second data set is only for comparison, so its bands let the first one's show through. */
const SECOND_BAND_ALPHA = 0.08;
/** Half the width of a whisker's ends, px. */
const WHISKER = 6;

/**
 * Runs of consecutive points that have both bounds. A gap in the data is a gap in the band, unless the line itself
 * is drawn across it (`spanGaps`). Pure.
 */
export function boundedRuns(points, spanGaps = false) {
  const runs = [];
  let run = null;
  points.forEach((point, index) => {
    if (point.low === null || point.high === null) {
      if (!spanGaps) run = null;
      return;
    }
    if (!run) runs.push((run = []));
    run.push({ ...point, index });
  });
  return runs;
}

/** More points of a band than this are drawn as one for each pixel. */
const MANY = 4000;

/** As much of a band as a screen can show: the least and the greatest bound of each pixel. Pure. */
function outermost(points) {
  if (points.length <= MANY) return points;
  const columns = new Map();
  for (const { at, low, high } of points) {
    const pixel = Math.round(at);
    const column = columns.get(pixel) ?? { at: pixel, low, high };
    columns.set(pixel, { at: pixel, low: Math.min(column.low, low), high: Math.max(column.high, high) });
  }
  return [...columns.values()].sort((a, b) => a.at - b.at);
}

/** Entries that are visible, with the index of their dataset. */
function visible(chart, entries) {
  return entries
    .map((entry, index) => ({ ...entry, index }))
    .filter(({ index }) => chart.isDatasetVisible(index));
}

/** A line with ends, from high to low, at a point where no band can be drawn. */
function strokeWhisker(ctx, centre, top, bottom) {
  ctx.beginPath();
  ctx.moveTo(centre, top);
  ctx.lineTo(centre, bottom);
  for (const end of [top, bottom]) {
    ctx.moveTo(centre - WHISKER, end);
    ctx.lineTo(centre + WHISKER, end);
  }
  ctx.stroke();
}

/**
 * Draws the bands of a line chart, and whiskers at isolated points; call before the datasets are drawn.
 * @param {import("chart.js").Chart} chart
 * @param {import("./entries.js").Entry[]} entries
 */
export function drawBands(chart, entries) {
  clippedUpright(chart, { across: WHISKER + 1, down: 2 }, (ctx, { x, y }) => {
    ctx.lineWidth = 2;
    for (const { points, index, second } of visible(chart, entries)) {
      const dataset = chart.data.datasets[index];
      ctx.fillStyle = ctx.strokeStyle = dataset.csvColor ?? dataset.borderColor;
      for (const run of boundedRuns(points, Boolean(dataset.spanGaps))) {
        if (run.length < 2) {
          ctx.globalAlpha = 1;
          const [{ x: at, low, high }] = run;
          strokeWhisker(ctx, pixelX(x, at), pixelY(y, high), pixelY(y, low));
          continue;
        }
        ctx.globalAlpha = second || dataset.csvQuiet ? SECOND_BAND_ALPHA : BAND_ALPHA;
        ctx.beginPath();
        const edge = outermost(run.map((point) => ({ ...point, at: pixelX(x, point.x) })));
        for (const { at, high } of edge) ctx.lineTo(at, pixelY(y, high));
        for (const { at, low } of edge.reverse()) ctx.lineTo(at, pixelY(y, low));
        ctx.closePath();
        ctx.fill();
      }
    }
  });
}

/** Draws the whiskers of bars and scattered points; call after the datasets are drawn. */
export function drawWhiskers(chart, entries, color) {
  clippedUpright(chart, { across: WHISKER + 1, down: 2 }, (ctx, { x, y }) => {
    ctx.lineWidth = 2;
    for (const { points, index } of visible(chart, entries)) {
      const elements = chart.getDatasetMeta(index).data;
      const dataset = chart.data.datasets[index];
      ctx.strokeStyle = chart.config.type === "bar" ? color : (dataset.csvColor ?? dataset.borderColor);
      for (const { index: at, x: value, low, high } of boundedRuns(points).flat()) {
        const centre = elements[at]?.[x.axis] ?? pixelX(x, value);
        strokeWhisker(ctx, centre, pixelY(y, high), pixelY(y, low));
      }
    }
  });
}

/** The height of the arrow on a lower bound, and half the width of its head, px. */
const ARROW = { height: 22, head: 6 };

/** Which of a series' points are lower bounds: found once, because a chart is drawn many times. */
const BOUNDS = new WeakMap();

function lowerBoundsOf(points) {
  if (!BOUNDS.has(points))
    BOUNDS.set(
      points,
      points.flatMap((point, at) =>
        leastOf(point) === null ? [] : [{ at, x: point.x, least: leastOf(point) }],
      ),
    );
  return BOUNDS.get(points);
}

/** Draws an arrow from each lower bound towards greater values: the value lies there or beyond. */
export function drawLowerBounds(chart, entries) {
  if (entries.every(({ points }) => lowerBoundsOf(points).length === 0)) return;
  clippedUpright(chart, { across: ARROW.head + 1, down: ARROW.height }, (ctx, { x, y }) => {
    ctx.lineWidth = 2;
    const up = y.axis === "y" ? -1 : 1;
    for (const { points, index } of visible(chart, entries)) {
      const dataset = chart.data.datasets[index];
      const elements = chart.getDatasetMeta(index).data;
      ctx.strokeStyle = dataset.csvColor ?? dataset.borderColor;
      for (const { at, x: value, least } of lowerBoundsOf(points)) {
        const centre = chart.config.type === "bar" ? elements[at][x.axis] : pixelX(x, value);
        const foot = pixelY(y, least);
        const top = foot + up * ARROW.height;
        ctx.beginPath();
        ctx.moveTo(centre - ARROW.head, foot);
        ctx.lineTo(centre + ARROW.head, foot);
        ctx.moveTo(centre, foot);
        ctx.lineTo(centre, top);
        ctx.moveTo(centre - ARROW.head, top - up * ARROW.head);
        ctx.lineTo(centre, top);
        ctx.lineTo(centre + ARROW.head, top - up * ARROW.head);
        ctx.stroke();
      }
    }
  });
}
