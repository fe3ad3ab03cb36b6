/** Values of a chart in words, for sentences and tables. Pure. */
import { formatValue } from "./units.js";

/** A value of the x axis: a size with its unit, or the category's name. */
export function place(x, unit, format) {
  return typeof x === "number" ? formatValue(x, unit, format) : x;
}

/**
 * The least that a point may be, where nobody knows more: a tool whose last bin has no upper end. Such a point has no
 * value, a lower bound and no upper one. Null of any other point.
 */
export function leastOf({ y, low = null, high = null }) {
  return y === null && high === null ? low : null;
}

/** A point's value in its unit: "30.7 MB/s", or "≥ 17 s" of a lower bound. */
export function value(point, unit, format) {
  const least = leastOf(point);
  return least === null ? formatValue(point.y, unit, format) : `≥ ${formatValue(least, unit, format)}`;
}

/** "1.89–2.13", in the unit of the value beside it; null if a point has no bounds. */
export function shortRange(point, unit, format) {
  const words = range(point, unit, format);
  if (words === null || point.low < 0) return words;
  const [low, high, own] = [point.low, point.high, point.y].map((value) =>
    parts(formatValue(value, unit, format)),
  );
  const same = low.unit === own.unit && high.unit === own.unit;
  return same ? `${low.number}–${high.number}` : words;
}

/** "2.43 MB/s" → 2.43 and " MB/s"; "2e-7×" → 2e-7 and "×" */
function parts(text) {
  const [number] = /^[\d.]+(?:e[+-]\d+)?/.exec(text) ?? [""];
  return { number, unit: text.slice(number.length) };
}

/** "1.89× to 2.13×"; null if a point has no bounds. */
export function range({ low, high }, unit, format) {
  if (low === null || high === null || low === undefined || high === undefined) return null;
  return `${formatValue(low, unit, format)} to ${formatValue(high, unit, format)}`;
}

/** The middle value, or the mean of the two in the middle; NaN of none. */
export function medianOf(values) {
  const ordered = [...values].sort((a, b) => a - b);
  const half = ordered.length >> 1;
  return ordered.length % 2 ? ordered[half] : (ordered[half - 1] + ordered[half]) / 2;
}

/** The worst point: the highest, or with "low" the lowest; null of none. */
export function worstOf(points, end = "high") {
  const sign = end === "low" ? -1 : 1;
  return points.reduce(
    (worst, point) =>
      point.y !== null && (worst === null || sign * point.y > sign * worst.y) ? point : worst,
    null,
  );
}

/** The measured values of a series. */
export function valuesOf({ points }) {
  return points.flatMap(({ y }) => (y === null ? [] : [y]));
}

/** "n = 10" or "n = 6–10" over lists of points; null if none has a count. */
export function counts(lists) {
  let [least, greatest] = [Infinity, -Infinity];
  for (const points of lists) {
    for (const { n } of points) {
      if (!Number.isFinite(n)) continue;
      least = Math.min(least, n);
      greatest = Math.max(greatest, n);
    }
  }
  if (greatest < least) return null;
  return least === greatest ? `n = ${least}` : `n = ${least}–${greatest}`;
}
