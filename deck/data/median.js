/** The middle value, or the mean of the two in the middle; NaN of none. Pure. */
export function medianOf(values) {
  const ordered = [...values].sort((a, b) => a - b);
  const half = ordered.length >> 1;
  return ordered.length % 2 ? ordered[half] : (ordered[half - 1] + ordered[half]) / 2;
}
