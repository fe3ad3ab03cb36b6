/**
 * How far the claims of one release of Ceph moved from those of older ones, from `benchmarks/<data set>/releases.json`.
 * Pure functions: the figures were computed when the data were derived.
 */

/** The address of what a data set says about older releases. */
export function releasesAddress(dataSet) {
  return `benchmarks/${dataSet}/releases.json`;
}

/**
 * How far a condition moved, from each older release that it was compared with, oldest first.
 * @param {object|null} document   releases.json
 * @param {string} id   of a claim
 * @param {string|null} condition   its name
 * @returns {{from: string, ratio: number|null, low: number|null, high: number|null, moved: boolean|null,
 *            missing: string|null}[]}
 *   from: the older data set; ratio: the newer estimate ÷ the older; moved: whether by more than noise, null where that was
 *   not tested; missing: why there is no interval, or what counts say
 */
export function movesOf(document, id, condition) {
  return Object.entries(document?.against ?? {})
    .map(([from, { claims }]) => [from, claims?.[id]?.conditions?.[condition]])
    .filter(([, estimates]) => estimates)
    .map(([from, { ratio, low, high, more_than_noise: moved, missing }]) => {
      return { from, ratio, low, high, moved, missing };
    });
}
