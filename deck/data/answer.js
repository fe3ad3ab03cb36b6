/**
 * What a data set answers to the talk's question, from `benchmarks/<data set>/answer.csv`: for each way of mirroring, what is
 * lost at worst and what a write pays. docs/answer.md describes the file. Pure functions; the figures were computed when
 * the data were derived.
 */

import { parseCsv } from "chartjs-plugin-csv";

import { formatSeconds, formatShort } from "./format.js";

/** The address of a data set's answer. */
export function answerAddress(dataSet) {
  return `benchmarks/${dataSet}/answer.csv`;
}

/**
 * What each write pays, in the order of preference: the first figure that a data set has for more than one mode is the height
 * of the chart. Heights of different kinds cannot be compared, so a chart shows one kind.
 */
const PRICES = [
  {
    figure: "latency_added_4k",
    column: "latency_added_4k_seconds",
    title: "Time that each 4K write takes longer",
    unit: "seconds",
    // Nothing is added to what everything else is compared with.
    ofReference: 0,
  },
  {
    figure: "media_bytes_per_byte_4k",
    column: "media_bytes_per_byte_4k",
    title: "Bytes to disks, for each byte of a 4K write",
    unit: null,
  },
  {
    figure: "cpu_time_4k",
    column: "cpu_time_4k_seconds",
    title: "CPU time of each 4K write",
    unit: "seconds",
  },
  {
    figure: "peak_ratio_4k",
    column: "peak_ratio_4k",
    title: "Peak of 4K writes, without ÷ with",
    unit: "ratio",
    ofReference: 1,
  },
];

/** The figures of the decision table, in its order; `unless`: one that says the same better, where it was measured. */
const TABLE = [
  { title: "Lost at worst", column: "recovery_point_worst_seconds", unit: "seconds" },
  { title: "First write after (median)", column: "recovery_time_median_seconds", unit: "seconds" },
  { title: "Added to a 4K write", column: "latency_added_4k_seconds", unit: "seconds" },
  { title: "Added to a 4M write", column: "latency_added_4m_seconds", unit: "seconds" },
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

const LOSS = "recovery_point";
/** All that was written since the last backup is lost. */
export const EVERYTHING = "everything";

/**
 * Reads answer.csv.
 * @param {string} text
 * @returns {{modes: Record<string, string>[]}} the fields of each mode, by column
 * @throws {CsvError} if the text is no CSV
 * @throws {TypeError} if it is no answer
 */
export function parseAnswer(text) {
  const [header = [], ...rows] = parseCsv(text);
  if (!header.includes("name") || !header.includes("mode")) throw new TypeError("no answer.csv");
  return {
    modes: rows.map((fields) => Object.fromEntries(header.map((column, at) => [column, fields[at]]))),
  };
}

/**
 * A figure of a mode.
 * @returns {number|null} null if the data set does not have it
 */
export function answerNumber(mode, column) {
  const text = mode?.[column];
  return text === undefined || text === "" || !Number.isFinite(Number(text)) ? null : Number(text);
}

/**
 * The ways to answer: the modes that protect something, and no mirroring, which loses everything. A journal that nobody
 * replays protects nothing, so it is none of them.
 * @param {{modes: Record<string, string>[]}|null} answer
 * @returns {{price: object|null, loss: {source: string, n: number|null}|null, modes: {name: string, label: string,
 *            kind: string, worst: number|null|typeof EVERYTHING, median: number|null, price: number|null, low: number|null,
 *            high: number|null}[]}}
 *   price: which figure is the height, with its `title`, `unit`, `source` and `n`; null if there is none. Losses in seconds
 */
export function waysOf(answer) {
  const rows = (answer?.modes ?? []).filter(({ mode }) => mode === "none" || mode.endsWith("-mirrored"));
  const chosen = PRICES.find(
    ({ column }) => rows.filter((row) => answerNumber(row, column) !== null).length > 1,
  );
  const modes = rows.map((row) => ({
    name: row.name,
    label: row.label,
    kind: row.mode,
    worst: row.mode === "none" ? EVERYTHING : answerNumber(row, `${LOSS}_worst_seconds`),
    median: answerNumber(row, `${LOSS}_median_seconds`),
    ...priceOf(row, chosen),
  }));
  return {
    price: chosen ? { ...chosen, ...behind(rows, chosen.figure) } : null,
    loss: behind(rows, LOSS),
    modes,
  };
}

function priceOf(row, chosen) {
  if (!chosen) return { price: null, low: null, high: null };
  const { column, ofReference } = chosen;
  const price = answerNumber(row, column);
  if (price === null && row.mode === "none" && ofReference !== undefined)
    return { price: ofReference, low: null, high: null };
  const end = (word) => answerNumber(row, column.replace(/(_seconds)?$/, `_${word}$1`));
  return { price, low: end("low"), high: end("high") };
}

/** The experiment behind a figure, and its smallest number of trials or blocks; null if no mode has the figure. */
function behind(rows, figure) {
  const having = rows.filter((row) => answerNumber(row, `${figure}_n`) !== null);
  if (having.length === 0) return null;
  const [experiment] = having[0][`${figure}_source`].split(":");
  return { source: experiment, n: Math.min(...having.map((row) => answerNumber(row, `${figure}_n`))) };
}

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
      if (row.mode === "none" && column === "recovery_time_median_seconds") return "a restore";
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

/** A figure with its unit; on stage two significant digits. */
export function figureText(value, unit, digits = 2) {
  if (unit === "seconds") return formatSeconds(value, { digits });
  return `${formatShort(value, digits)}${unit === "ratio" ? "×" : ""}`;
}

/**
 * The source `answer` of bound values: `answer.journal-poll-5.recovery_point_worst_seconds`.
 * @param {() => {modes: Record<string, string>[]}|null} current   gives the answer to read
 */
export function answerSource(current) {
  return ([name = "", column = "", ...more]) => {
    const row = current()?.modes.find((mode) => mode.name === name);
    if (!row || more.length > 0) return null;
    const value = answerNumber(row, column);
    if (value === null) return null;
    const unit = column.endsWith("_seconds") ? "seconds" : column.startsWith("peak_ratio") ? "ratio" : null;
    return figureText(value, unit);
  };
}
