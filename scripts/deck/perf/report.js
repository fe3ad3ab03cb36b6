/** The figures of the performance program: medians and ratios of what was measured, as a table. Pure. */

/** The name of each measure, and its unit. */
const MEASURES = {
  firstSlide: { name: "first slide to be seen", unit: "ms" },
  chartsReady: { name: "its charts drawn", unit: "ms" },
  scriptKilobytes: { name: "JavaScript by then, gzip", unit: "KB" },
  changeMedian: { name: "longest frame of a slide change, median", unit: "ms" },
  changeP95: { name: "longest frame of a slide change, 95 %", unit: "ms" },
  canvasMegabytes: { name: "pixels held by canvases", unit: "MB" },
  pointsReady: { name: "a chart of 100,000 points drawn", unit: "ms" },
};

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
  return Object.fromEntries(
    Object.keys(deck[0]).map((measure) => {
      const [ours, theirs] = [deck, plain].map((rounds) => rounds.map((round) => round[measure]));
      const ratios = ours.map((value, round) => theirs[round] / value);
      return [measure, { deck: spread(ours), plain: spread(theirs), ratio: spread(ratios) }];
    }),
  );
}

/** A figure with three significant digits: `1.87`, `18.7`, `187`. */
export function digits(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0);
}

const withSpread = ({ median, low, high }, unit) =>
  `${digits(median)}${unit} (${digits(low)}–${digits(high)})`;

/** A line for each measure, with both sides and their ratio. @param {ReturnType<compare>} measures */
export function tableOf(measures) {
  const rows = [["", "Replay", "plain", "plain ÷ Replay"]];
  for (const [key, { deck, plain, ratio }] of Object.entries(measures)) {
    const { name, unit } = MEASURES[key];
    rows.push([name, withSpread(deck, ` ${unit}`), withSpread(plain, ` ${unit}`), withSpread(ratio, "×")]);
  }
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map(([name, ...cells]) =>
      [name.padEnd(widths[0]), ...cells.map((cell, at) => cell.padStart(widths[at + 1]))].join("  "),
    )
    .join("\n");
}

/** One line about the machine that measured. */
export function machineLine({ cpu, cores, memoryBytes, chromium, node, date }) {
  const memory = `${Math.round(memoryBytes / 2 ** 30)} GiB`;
  return `${cpu}, ${cores} cores, ${memory}; Chromium ${chromium} without graphics card; Node ${node}; ${date}`;
}
