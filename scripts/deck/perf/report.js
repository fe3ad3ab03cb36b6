/** Formats the output of the performance program. Pure. */

/** The name of each measure, and its unit. */
export const MEASURES = {
  firstSlide: { name: "first slide to be seen", unit: "ms" },
  chartsReady: { name: "its charts drawn", unit: "ms" },
  scriptKilobytes: { name: "JavaScript by then, gzip", unit: "KB" },
  changeMedian: { name: "longest frame of a slide change, median", unit: "ms" },
  changeP95: { name: "longest frame of a slide change, 95 %", unit: "ms" },
  canvasMegabytes: { name: "pixels held by canvases", unit: "MB" },
  hoverMedian: { name: "frame under a moving pointer, median", unit: "ms" },
  hoverP95: { name: "frame under a moving pointer, 95 %", unit: "ms" },
};

/** A figure with three significant digits: `1.87`, `18.7`, `187`. */
export function digits(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0);
}

const withSpread = ({ median, low, high }, unit) =>
  `${digits(median)}${unit} (${digits(low)}–${digits(high)})`;

/**
 * The table of all scenarios: one line for each measure, with both sides and their ratio.
 * @param {{title: string, measures: ReturnType<import("./statistics.js").compare>}[]} scenarios
 */
export function tableOf(scenarios) {
  const rows = [["", "Replay", "plain", "plain ÷ Replay"]];
  for (const { title, measures } of scenarios) {
    rows.push([title, "", "", ""]);
    for (const [key, { deck, plain, ratio }] of Object.entries(measures)) {
      const { name, unit } = MEASURES[key];
      rows.push([
        `  ${name}`,
        withSpread(deck, ` ${unit}`),
        withSpread(plain, ` ${unit}`),
        withSpread(ratio, "×"),
      ]);
    }
  }
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])))
      .join("  ")
      .trimEnd();
  return rows.map(line).join("\n");
}

/** One line about the machine that measured. */
export function machineLine({ cpu, cores, memoryBytes, chromium, node, date }) {
  const memory = `${Math.round(memoryBytes / 2 ** 30)} GiB`;
  return `${cpu}, ${cores} cores, ${memory}; Chromium ${chromium} without graphics card; Node ${node}; ${date}`;
}
