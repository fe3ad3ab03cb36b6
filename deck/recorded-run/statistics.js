/**
 * What a chart draws for the runs received so far, computed as derive does for all runs. Pure functions.
 *
 * A finished chart is read from its file; these figures are used only while a recorded run plays.
 */

import { medianOf } from "chartjs-plugin-csv";

/** Median, smallest, largest and number of runs. */
export function spreadOf(values) {
  return { y: medianOf(values), low: Math.min(...values), high: Math.max(...values), n: values.length };
}

/**
 * The geometric mean of paired ratios with its t-interval on the logarithm; one pair has no interval.
 * @param {number[]} values   all above 0
 * @param {Record<string, number>} quantiles   how many standard errors the interval reaches, by the number of pairs
 */
export function ratioOf(values, quantiles) {
  const logs = values.map(Math.log);
  const n = logs.length;
  const mean = sum(logs) / n;
  const quantile = quantiles[n];
  if (n < 2 || quantile === undefined) return { y: Math.exp(mean), low: null, high: null, n };
  const variance = sum(logs.map((value) => (value - mean) ** 2)) / (n - 1);
  const half = quantile * Math.sqrt(variance / n);
  return { y: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half), n };
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
