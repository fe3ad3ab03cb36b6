import { clipped, pixelX } from "./draw.js";
import { isLogarithmic } from "./range.js";

/** Where marks are in a plot, and how they are drawn; marks-names.js writes their names. */

const BAND_ALPHA = 0.12;
const LINE_WIDTH = 2;
const DASH = [14, 8];
/** Of a point mark, px. */
export const POINT_RADIUS = 7;

export function isPoint({ x, y }) {
  return x !== undefined && y !== undefined;
}

export function isBand({ axis, value, x }) {
  return axis !== undefined && value === undefined && x === undefined;
}

/** Where a value is on its axis, px; NaN if it has no place. */
export function pixelOf(chart, axis, value) {
  const scale = chart.scales[axis];
  if (!scale) return NaN;
  if (isLogarithmic(scale.type) && !(value > 0)) return NaN;
  return axis === "x" ? pixelX(scale, value) : scale.getPixelForValue(value);
}

export function isInSight(chart, item) {
  const { left, right, top, bottom } = chart.chartArea;
  const inX = (x) => x >= left - 1 && x <= right + 1;
  const inY = (y) => y >= top - 1 && y <= bottom + 1;
  if (isPoint(item)) return inX(pixelOf(chart, "x", item.x)) && inY(pixelOf(chart, "y", item.y));
  const at = pixelOf(chart, item.axis, item.value);
  return item.axis === "x" ? inX(at) : inY(at);
}

/** The band's rectangle within the plot. */
export function bandOf(chart, { axis, low, high }) {
  const { left, right, top, bottom } = chart.chartArea;
  const pixel = (value, edge) => {
    const at = (value ?? null) === null ? edge : pixelOf(chart, axis, value);
    return Number.isFinite(at) ? at : edge;
  };
  const clamp = (value, from, to) => Math.max(from, Math.min(to, value));
  if (axis === "x") {
    const [from, to] = [pixel(low, left), pixel(high, right)].map((value) => clamp(value, left, right));
    return { left: from, right: to, top, bottom };
  }
  const [from, to] = [pixel(high, top), pixel(low, bottom)].map((value) => clamp(value, top, bottom));
  return { left, right, top: from, bottom: to };
}

/** Draws a mark, without its name. */
export function drawMark(chart, item) {
  if (isPoint(item)) drawPoint(chart, item);
  else if (isBand(item)) drawBand(chart, item);
  else drawLine(chart, item);
}

function drawBand(chart, item) {
  const { left, right, top, bottom } = bandOf(chart, item);
  const { ctx } = chart;
  ctx.save();
  ctx.globalAlpha = BAND_ALPHA;
  ctx.fillStyle = item.color;
  ctx.fillRect(left, top, right - left, bottom - top);
  ctx.restore();
}

function drawLine(chart, item) {
  const { left, right, top, bottom } = chart.chartArea;
  const at = pixelOf(chart, item.axis, item.value);
  const { ctx } = chart;
  ctx.save();
  ctx.strokeStyle = item.color;
  ctx.lineWidth = LINE_WIDTH;
  ctx.setLineDash(item.dash ?? DASH);
  ctx.beginPath();
  if (item.axis === "x") {
    ctx.moveTo(at, top);
    ctx.lineTo(at, bottom);
  } else {
    ctx.moveTo(left, at);
    ctx.lineTo(right, at);
  }
  ctx.stroke();
  ctx.restore();
}

/** A hollow diamond: no series uses it, and measured points remain visible through it. A dot is a point of the data. */
function drawPoint(chart, item) {
  if (item.shape === "none") return;
  const [x, y] = [pixelOf(chart, "x", item.x), pixelOf(chart, "y", item.y)];
  clipped(chart, { across: POINT_RADIUS + 3, down: POINT_RADIUS + 3 }, (ctx) => {
    if (item.shape === "dot") {
      ctx.fillStyle = item.color;
      ctx.beginPath();
      ctx.arc(x, y, POINT_RADIUS - 1, 0, 2 * Math.PI);
      ctx.fill();
      return;
    }
    ctx.strokeStyle = item.color;
    ctx.lineWidth = LINE_WIDTH + 1;
    ctx.beginPath();
    ctx.moveTo(x, y - POINT_RADIUS);
    ctx.lineTo(x + POINT_RADIUS, y);
    ctx.lineTo(x, y + POINT_RADIUS);
    ctx.lineTo(x - POINT_RADIUS, y);
    ctx.closePath();
    ctx.stroke();
  });
}
