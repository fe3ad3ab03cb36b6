/** Medians, quantiles and paired ratios of measured values. Pure. */

/** The value below which a share `p` of the values lies, by linear interpolation; NaN if there are none. */
export function quantile(values, p) {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return NaN;
  const at = p * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

/** `{median, low, high}` of the values: `low` is the smallest, `high` the largest. */
export function spread(values) {
  return { median: quantile(values, 0.5), low: Math.min(...values), high: Math.max(...values) };
}

/**
 * Compares the measures of both sides, round by round.
 * @param {Record<string, number>[]} deck    for each round, the value of each measure
 * @param {Record<string, number>[]} plain   the same for the other side
 * @returns {Record<string, {deck: object, plain: object, ratio: object}>} by measure, `spread` of both sides and of
 *   plain ÷ deck within each round
 */
export function compare(deck, plain) {
  if (deck.length !== plain.length || deck.length === 0) throw new Error("both sides need the same rounds");
  return Object.fromEntries(
    Object.keys(deck[0]).map((measure) => {
      const [ours, theirs] = [deck, plain].map((rounds) => rounds.map((round) => round[measure]));
      const ratios = ours.map((value, round) => theirs[round] / value);
      return [measure, { deck: spread(ours), plain: spread(theirs), ratio: spread(ratios) }];
    }),
  );
}
