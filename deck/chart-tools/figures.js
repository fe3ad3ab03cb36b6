/** How the tools write the values of a chart: as the slides do, so that a ratio reads 2.00× in text and table alike. Pure. */

import { formatValue } from "chartjs-plugin-csv";

import { formatRatio } from "../data/format.js";

/** A value of a chart's y axis; a missing one is an en dash. */
export function figure(value, unit) {
  if (value === null || value === undefined) return "–";
  return unit === "ratio" ? formatRatio(value) : formatValue(value, unit);
}

/** A value of its x axis: a size with its unit, or the category's name. */
export function place(x, unit) {
  return typeof x === "number" ? formatValue(x, unit) : x;
}

/** "1.89–2.13", in the unit of the value beside which it stands; null where a point has no bounds. */
export function shortRange(point, unit) {
  const words = range(point, unit);
  if (words === null || point.low < 0) return words;
  const [low, high, own] = [point.low, point.high, point.y].map((value) => parts(figure(value, unit)));
  const same = low.unit === own.unit && high.unit === own.unit;
  return same ? `${low.number}–${high.number}` : words;
}

/** "2.43 MB/s" → 2.43 and " MB/s" */
function parts(text) {
  const [number] = /^[\d.]+/.exec(text) ?? [""];
  return { number, unit: text.slice(number.length) };
}

/** "1.89× to 2.13×"; null where a point has no bounds. */
export function range({ low, high }, unit) {
  if (low === null || high === null || low === undefined || high === undefined) return null;
  return `${figure(low, unit)} to ${figure(high, unit)}`;
}

/** "n = 10" or "n = 6–10" over points; null where none has a count. */
export function counts(points) {
  const known = points.map(({ n }) => n).filter((n) => Number.isFinite(n));
  if (known.length === 0) return null;
  const least = known.reduce((a, b) => Math.min(a, b));
  const greatest = known.reduce((a, b) => Math.max(a, b));
  return least === greatest ? `n = ${least}` : `n = ${least}–${greatest}`;
}
