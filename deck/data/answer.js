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
    figure: "latency_p50_4k",
    column: "latency_p50_4k_seconds",
    tail: "latency_p99_4k_seconds",
    title: "Until a 4K write is confirmed",
    unit: "seconds",
  },
  {
    figure: "latency_added_4k",
    column: "latency_added_4k_seconds",
    title: "Time that a 4K write takes longer, on average",
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

/** How many seconds before the loss are drawn, in those that the worst way loses. */
const SECONDS_SHOWN = 1.25;

const LOSS = "recovery_point";
const BEYOND = "lag_beyond_replay_worst_seconds";
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

/** Whether a row is a way to answer. A stretch cluster is another cluster: it is told only where it was measured. */
function isWay(row) {
  if (row.mode !== "stretch") return row.mode === "none" || row.mode.endsWith("-mirrored");
  return Object.keys(row).some((column) => column.endsWith("_source") && row[column] !== "");
}

/**
 * The ways to answer: the modes that protect something, and no mirroring, which loses everything. A journal that nobody
 * replays protects nothing, so it is none of them.
 * @param {{modes: Record<string, string>[]}|null} answer
 * @param {object|null} [asked]   the price of another answer, beside which this one is drawn
 * @returns {{price: object|null, loss: {sources: string[], n: number|null}|null, modes: {name: string, label: string,
 *            row: Record<string, string>, worst: number|null|typeof EVERYTHING, beyond: number|null,
 *            price: number|null, low: number|null, high: number|null, tail: number|null}[]}}
 *   row: its fields; beyond: lost at worst while writes outrun the replay; tail: what the slowest write of a hundred pays; price: which figure is the height, with its `title`, `unit`, `sources` and `n`; null if there is none. Losses in seconds
 */
export function waysOf(answer, asked = null) {
  const rows = (answer?.modes ?? []).filter(isWay);
  const chosen =
    asked ?? PRICES.find(({ column }) => rows.filter((row) => answerNumber(row, column) !== null).length > 1);
  const modes = rows.map((row) => ({
    name: row.name,
    label: row.label,
    row,
    worst: row.mode === "none" ? EVERYTHING : answerNumber(row, `${LOSS}_worst_seconds`),
    beyond: answerNumber(row, BEYOND),
    ...priceOf(row, chosen),
  }));
  return {
    price: chosen ? { ...chosen, ...behind(rows, chosen.figure) } : null,
    loss: behind(rows, LOSS),
    modes,
  };
}

function priceOf(row, chosen) {
  const none = { price: null, low: null, high: null, tail: null };
  if (!chosen) return none;
  const { column, tail, ofReference } = chosen;
  const price = answerNumber(row, column);
  if (price === null && row.mode === "none" && ofReference !== undefined)
    return { ...none, price: ofReference };
  return { price, ...endsOf(row, column), tail: tail ? answerNumber(row, tail) : null };
}

/** The interval of a figure. */
export function endsOf(row, column) {
  const end = (word) => answerNumber(row, column.replace(/(_seconds)?$/, `_${word}$1`));
  return { low: end("low"), high: end("high") };
}

/** The experiments behind a figure, and its smallest number of trials or blocks; null if no mode has the figure. */
function behind(rows, figure) {
  const having = rows.filter((row) => answerNumber(row, `${figure}_n`) !== null);
  if (having.length === 0) return null;
  const experiments = new Set(having.map((row) => row[`${figure}_source`].split(":")[0]));
  return {
    sources: [...experiments],
    n: Math.min(...having.map((row) => answerNumber(row, `${figure}_n`))),
  };
}

/**
 * The answer as a chart of this kind draws it: `quadrant` what is lost against what is paid, `squares` the last seconds before
 * the loss with those crossed out that never arrived, `forest` the prices alone.
 * @param {string} kind
 * @param {{modes: Record<string, string>[]}} answer
 * @param {{seconds?: number, loss?: "worst"|"beyond", price?: object|null}} [drawn]   of squares: how many seconds before the
 *   loss, and which loss, `beyond`: while writes outrun the replay; price: as of `waysOf`, where another answer says it
 * @returns {import("chartjs-plugin-csv").Model}
 */
export function answerModel(kind, answer, drawn = {}) {
  const { modes, price, loss } = waysOf(answer, drawn.price);
  const point = (x, y, more = {}) => ({ x, y, low: null, high: null, n: null, ...more });
  const wide = (xs, chosen, pointsOf) => ({
    kind: "wide",
    xLabel: "Way",
    xs,
    series: chosen.map((mode) => ({ name: mode.label, points: pointsOf(mode) })),
  });
  if (kind === "squares") {
    const lossOf = (mode) => mode[drawn.loss ?? "worst"];
    const lost = modes.filter((mode) => typeof lossOf(mode) === "number");
    const shown = drawn.seconds ?? Math.ceil(Math.max(0, ...lost.map(lossOf)) * SECONDS_SHOWN);
    const xs = ["confirmed", "never arrived"];
    return wide(xs, lost, (mode) => [
      point(xs[0], Math.max(0, shown - Math.round(lossOf(mode)))),
      point(xs[1], lossOf(mode), { n: loss?.n ?? null }),
    ]);
  }
  const title = price?.title ?? "Price";
  const n = price?.n ?? null;
  if (kind === "forest")
    return wide([title], modes, (mode) => [point(title, mode.price, { low: mode.low, high: mode.high, n })]);
  const xs = [
    "Lost at worst",
    price?.tail ? "An ordinary write" : title,
    "The slowest of a hundred",
    "Lost at worst when writes outrun the replay",
  ];
  return wide(xs, modes, ({ worst, price: paid, low, high, tail, beyond }) => [
    point(xs[0], worst === EVERYTHING ? Infinity : worst),
    point(xs[1], paid, { low, high, n }),
    point(xs[2], tail),
    point(xs[3], beyond),
  ]);
}

/** Where the figures come from: experiments and n. */
export function answerOrigin(answer) {
  if (answer === null) return "this data set has no answer.csv; derive it again";
  const { price, loss } = waysOf(answer);
  const part = (what, of) => (of?.sources ? `${what}: n = ${of.n}` : `${what} not measured`);
  return [part("lost", loss), part("price", price)].join(", ");
}

/** A figure with its unit; on stage two significant digits. */
export function figureText(value, unit, digits = 2) {
  if (unit === "seconds") return formatSeconds(value, { digits });
  return `${formatShort(value, digits)}${unit === "ratio" ? "×" : ""}`;
}

/**
 * The source `answer` of bound values: `answer.journal-poll-5.recovery_point_worst_seconds`.
 * @param {{modes: Record<string, string>[]}|null} answer
 */
export function answerSource(answer) {
  return ([name = "", column = "", ...more]) => {
    const row = answer?.modes.find((mode) => mode.name === name);
    if (!row || more.length > 0) return null;
    const value = answerNumber(row, column);
    if (value === null) return null;
    const unit = column.endsWith("_seconds") ? "seconds" : column.startsWith("peak_ratio") ? "ratio" : null;
    return figureText(value, unit);
  };
}
