import { isLogarithmic } from "./range.js";

/**
 * Draws within the chart area, `across` px wider at both sides (whiskers at the first and last x stay whole), and `down` px
 * higher and deeper.
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
  // A time axis knows moments by number, a file by word.
  return scale.getPixelForValue(typeof value === "string" ? scale.parse(value) : value);
}

/** Where a y value is drawn: at the lower end of a logarithmic axis that has no place for it. */
export function pixelY(scale, value) {
  return scale.getPixelForValue(isLogarithmic(scale.type) && value <= 0 ? scale.min : value);
}
