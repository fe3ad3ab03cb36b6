/** The range of a ratio that counts as no difference, according to the claims about it. Pure. */

import { formatExactRatio } from "./format.js";

/**
 * What counts as no difference on a chart, according to the claims about a series that it shows.
 * @param {object|null} entry   what the manifest says of the chart
 * @param {string[]|null} shown   its series; null for all
 * @returns {{low: number, high: number}|null}
 */
export function marginOf(entry, shown) {
  const { low, high, series } = entry?.margin ?? {};
  if (!Number.isFinite(low) || !Number.isFinite(high)) return null;
  return shown === null || !series || series.some((name) => shown.includes(name)) ? { low, high } : null;
}

/** "0.900× to 1.10× counts as no difference". It goes into the label, because inside the chart it would cover the data. */
export function marginWords({ low, high }) {
  return `${formatExactRatio(low)} to ${formatExactRatio(high)} counts as no difference`;
}
