import { isLogarithmic } from "./range.js";

/**
 * Draws within the chart area, extended by `across` px to both sides, so that whiskers at the first and last x are whole,
 * and by `down` px upwards and downwards.
 */
export function clipped(chart, { across, down = 0 }, draw) {
  const { ctx, chartArea } = chart;
  ctx.save();
  ctx.beginPath();
  const { left, top, width, height } = chartArea;
  ctx.rect(left - across, top - down, width + 2 * across, height + 2 * down);
  ctx.clip();
  draw(ctx);
  ctx.restore();
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
