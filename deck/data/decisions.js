/** What the decision table says of each way. Pure. */

import { answerNumber, figureText, waysOf } from "./answer.js";

/** The figures of the decision table, in its order; `unless`: one that says the same better, where it was measured. */
const TABLE = [
  { title: "Lost at worst", column: "recovery_point_worst_seconds", unit: "seconds" },
  { title: "First write after, at worst", column: "recovery_time_worst_seconds", unit: "seconds" },
  { title: "Added to a 4K write, on average", column: "latency_added_4k_seconds", unit: "seconds" },
  { title: "Added to a 4M write, on average", column: "latency_added_4m_seconds", unit: "seconds" },
  {
    title: "Bytes to disks per byte, 4K",
    column: "media_bytes_per_byte_4k",
    unit: null,
    unless: "latency_added_4k_seconds",
  },
  {
    title: "Bytes to disks per byte, 4M",
    column: "media_bytes_per_byte_4m",
    unit: null,
    unless: "latency_added_4m_seconds",
  },
];

/**
 * The decision table: each way with the figures that some way has. Three significant digits.
 * @returns {{ways: string[], rows: {title: string, cells: string[]}[]}}
 */
export function decisionTable(answer) {
  const modes = waysOf(answer).modes.map(({ name }) => answer.modes.find((row) => row.name === name));
  const cellsOf = ({ column, unit }) =>
    modes.map((row) => {
      if (row.mode === "none" && column === "recovery_point_worst_seconds")
        return "all since the last backup";
      if (row.mode === "none" && column === "recovery_time_worst_seconds") return "a restore";
      if (row.mode === "none" && column.startsWith("latency_added")) return "nothing";
      const value = answerNumber(row, column);
      return value === null ? "not measured" : figureText(value, unit, 3);
    });
  const has = (column) => modes.some((row) => answerNumber(row, column) !== null);
  const measured = ({ column, unless }) => has(column) && !(unless && has(unless));
  return {
    ways: modes.map(({ label }) => label),
    rows: TABLE.filter(measured).map((row) => ({ title: row.title, cells: cellsOf(row) })),
  };
}
