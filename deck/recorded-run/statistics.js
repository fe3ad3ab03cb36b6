/**
 * What a chart draws for the runs received so far, computed as derive does for all runs. Pure functions.
 *
 * A finished chart is read from its file; these figures are used only while a recorded run plays.
 */

/** Median, smallest, largest and number of runs. */
export function medianOf(values) {
  const ordered = [...values].sort((a, b) => a - b);
  const half = ordered.length >> 1;
  const y = ordered.length % 2 ? ordered[half] : (ordered[half - 1] + ordered[half]) / 2;
  return { y, low: ordered[0], high: ordered.at(-1), n: ordered.length };
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
