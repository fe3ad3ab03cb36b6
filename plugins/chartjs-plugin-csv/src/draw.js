import { indexAxisOf } from "./axes.js";
import { isLogarithmic } from "./range.js";
import { clipArea, drawPoint, unclipArea } from "chart.js/helpers";

/**
 * Draws within the chart area, extended by `across` px to both sides, so that whiskers at the first and last x are whole,
 * and by `down` px upwards and downwards.
 */
export function clipped(chart, { across, down = 0 }, draw) {
  const { ctx, chartArea } = chart;
  const { left, right, top, bottom } = chartArea;
  clipArea(ctx, { left: left - across, right: right + across, top: top - down, bottom: bottom + down });
  draw(ctx);
  unclipArea(ctx);
}

/**
 * The same for what is drawn between the x of a file and its values. `draw` has their scales, and draws upright also
 * where the chart lies on its side.
 */
export function clippedUpright(chart, { across, down = 0 }, draw) {
  const { x, y } = chart.scales;
  if (indexAxisOf(chart) === "x") {
    clipped(chart, { across, down }, (ctx) => draw(ctx, { x, y }));
    return;
  }
  clipped(chart, { across: down, down: across }, (ctx) => {
    ctx.transform(0, 1, 1, 0, 0, 0);
    draw(ctx, { x: y, y: x });
  });
}

/** Where an x value is drawn, on a measured axis or among categories. */
export function pixelX(scale, value) {
  if (scale.type === "category") return scale.getPixelForValue(scale.getLabels().indexOf(value));
  // A time axis has moments as numbers, a file as text.
  return scale.getPixelForValue(typeof value === "string" ? scale.parse(value) : value);
}

/** Where a y value is drawn. A value with no place on a logarithmic axis is drawn at its lower end. */
export function pixelY(scale, value) {
  return scale.getPixelForValue(isLogarithmic(scale.type) && value <= 0 ? scale.min : value);
}

/** The mark of a bar or of scattered points, before its name. */
export function drawSwatch({ ctx, config }, dataset, { left, y, radius }) {
  const isBar = config.type === "bar";
  ctx.save();
  ctx.lineWidth = 2;
  if (dataset.backgroundColor !== dataset.borderColor && isBar) ctx.fillStyle = dataset.backgroundColor;
  else if (dataset.pointBackgroundColor) ctx.fillStyle = dataset.pointBackgroundColor;
  const pointStyle = isBar ? "rect" : (dataset.pointStyle ?? "rect");
  drawPoint(ctx, { pointStyle, radius, borderWidth: 2 }, left + radius, y);
  ctx.restore();
}

/**
 * A hairline from the line's end to a label that had to move away from it. There is none if the line ends further away
 * than `near`: across the plot, a hairline would look like data.
 */
export function drawLeader(ctx, label, { left, y, near }) {
  if (Math.abs(label.y - y) < 3 || left - label.x > near) return;
  ctx.lineWidth = 1;
  ctx.globalAlpha = 0.5;
  ctx.beginPath();
  ctx.moveTo(label.x + 5, label.y);
  ctx.lineTo(left - 3, y);
  ctx.stroke();
  ctx.globalAlpha = 1;
}

/** The last point that is drawn: if the page shortened the axis, the line continues outside the plot. */
export function lastPoint(meta, { left, right }) {
  for (let i = meta.data.length - 1; i >= 0; i -= 1) {
    const { x, y, skip } = meta.data[i];
    if (!skip && x >= left - 1 && x <= right + 1 && Number.isFinite(y)) return { x, y };
  }
  return { x: NaN, y: NaN };
}
