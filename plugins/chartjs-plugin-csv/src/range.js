/** The ranges of the axes: they cover every series of a chart, whether it is drawn already or not. */

import { leastOf } from "./figures.js";

/** ms around a single date. */
const HALF_DAY = 12 * 3600 * 1000;

/** Whether values of 0 and below cannot be drawn on a scale of this type. */
export function isLogarithmic(type) {
  return ["log2", "logarithmic", "broken"].includes(type);
}

/**
 * Smallest and largest y of points with their bounds, within a part of the x axis; null if there are none. Pure.
 * @param {import("./table.js").Point[][]} lists
 * @param {{positive?: boolean, from?: number, to?: number}} [limits]   positive: values above 0 only
 * @returns {{low: number, high: number}|null}
 */
export function yRange(lists, { positive = false, from = -Infinity, to = Infinity } = {}) {
  let low = Infinity;
  let high = -Infinity;
  const note = (value) => {
    if (value === null || value === undefined || (positive && value <= 0)) return;
    if (value < low) low = value;
    if (value > high) high = value;
  };
  for (const points of lists) {
    for (const point of points) {
      if (typeof point.x === "number" && (point.x < from || point.x > to)) continue;
      note(point.y ?? leastOf(point));
      for (const [low, high] of [
        [point.low, point.high],
        [point.min, point.max],
      ]) {
        if (!Number.isFinite(low) || !Number.isFinite(high)) continue;
        note(low);
        note(high);
      }
    }
  }
  return high < low ? null : { low, high };
}

/** Smallest and largest x of points whose x is a number; null if there are none. Pure. */
export function xRange(lists, { positive = false } = {}) {
  let low = Infinity;
  let high = -Infinity;
  for (const points of lists) {
    for (const { x } of points) {
      if (!Number.isFinite(x) || (positive && x <= 0)) continue;
      if (x < low) low = x;
      if (x > high) high = x;
    }
  }
  return high < low ? null : { low, high };
}

/** The smallest range that covers all given ones; null for none. Pure. */
export function unite(...ranges) {
  const given = ranges.filter(Boolean);
  if (given.length === 0) return null;
  return {
    low: Math.min(...given.map(({ low }) => low)),
    high: Math.max(...given.map(({ high }) => high)),
  };
}

/**
 * Sets the ends of a scale to a range, unless the page set them. For stacked values the range that Chart.js found
 * counts, too: a stack reaches beyond each of its values.
 * @param {import("chart.js").Scale} scale
 * @param {{low: number, high: number}|null} range
 */
export function setLimits(scale, range) {
  if (!range) return;
  const { min, max, minDefined, maxDefined } = scale.getUserBounds();
  const logarithmic = isLogarithmic(scale.type);
  let low = Number.isFinite(min) && !(logarithmic && min <= 0) ? Math.min(range.low, min) : range.low;
  let high = Number.isFinite(max) ? Math.max(range.high, max) : range.high;
  if (scale.options.stacked) {
    low = Math.min(low, scale.min);
    high = Math.max(high, scale.max);
  }
  if (!logarithmic && scale.options.beginAtZero) {
    low = Math.min(low, 0);
    high = Math.max(high, 0);
  }
  if (low === high) [low, high] = widened(low, scale);
  if (!minDefined) scale.min = low;
  if (!maxDefined) scale.max = high;
}

/** A range around a single value, which needs an axis, too. */
function widened(value, { type, options: { beginAtZero } }) {
  if (isLogarithmic(type)) return [value / 2, value * 2];
  if (type === "date") return [value - HALF_DAY, value + HALF_DAY];
  const margin = value === 0 ? 1 : Math.abs(value) * 0.05;
  return [beginAtZero ? value : value - margin, value + margin];
}
