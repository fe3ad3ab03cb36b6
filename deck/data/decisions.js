/** What the decision table says of each way of mirroring: its figures, and what it is the one to pick for. Pure. */

import { EVERYTHING, answerNumber, endsOf, figureText, waysOf } from "./answer.js";

const UNMEASURED = "not measured";

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
  const modes = waysOf(answer).modes.map(({ row }) => row);
  const cellsOf = ({ column, unit }) =>
    modes.map((row) => {
      if (row.mode === "none" && column === "recovery_point_worst_seconds")
        return "all since the last backup";
      if (row.mode === "none" && column === "recovery_time_worst_seconds") return "a restore";
      if (row.mode === "none" && column.startsWith("latency_added")) return "nothing";
      const value = answerNumber(row, column);
      return value === null ? UNMEASURED : figureText(value, unit, 3);
    });
  const has = (column) => modes.some((row) => answerNumber(row, column) !== null);
  const measured = ({ column, unless }) => has(column) && !(unless && has(unless));
  return {
    ways: modes.map(({ label }) => label),
    rows: TABLE.filter(measured).map((row) => ({ title: row.title, cells: cellsOf(row) })),
  };
}

/**
 * What people need, each with the figure in which less is better. `low` and `high` bound it where the table has bounds; a worst
 * trial has none, and counts as it is. `best` is said of one way, `among` of several that the figures do not tell apart.
 */
const NEEDS = [
  {
    best: "the fewest seconds lost",
    among: "as few seconds lost as any",
    column: "recovery_point_worst_seconds",
  },
  {
    best: "the soonest first write after a loss, typically",
    among: "a first write as soon as any, typically",
    column: "recovery_time_median_seconds",
  },
];

const CHEAPEST = ["the cheapest small writes", "the cheapest large writes"];
const BOTH = CHEAPEST.join("; ");

/** The same for what a write pays: the column that is the height of the answer chart, and its counterpart for large writes. */
function priceNeeds({ column }) {
  const large = column.replace("4k", "4m");
  return [
    { best: CHEAPEST[0], among: "small writes as cheap as any", column },
    { best: CHEAPEST[1], among: "large writes as cheap as any", column: large },
  ];
}

/**
 * What each way is the one to pick for, by the figures alone: no mode is praised in advance, and a mode without figures is not
 * judged.
 * @param {{modes: Record<string, string>[]}|null} answer   from `parseAnswer`
 * @returns {string[]} for each of the ways of `waysOf`, in their order
 */
export function adviceOf(answer) {
  const { price, modes } = waysOf(answer);
  const needs = [...NEEDS, ...(price ? priceNeeds(price) : [])];
  const protecting = modes.filter(({ worst }) => worst !== EVERYTHING).map(({ row }) => row);
  const winners = needs.map((need) => ({ need, first: firstOf(need, protecting) }));
  return modes.map(({ row, worst }) => {
    if (worst === EVERYTHING) return "what a backup can restore";
    const strengths = winners
      .filter(({ first }) => first.includes(row))
      .map(({ need, first }) => (first.length === 1 ? need.best : need.among));
    if (strengths.length > 0) return strengths.join("; ").replace(BOTH, "the cheapest writes");
    const measured = needs.filter(({ column }) => answerNumber(row, column) !== null);
    if (measured.length === 0) return UNMEASURED;
    return measured.length < needs.length
      ? "too little measured to say"
      : "a middle way: best at nothing here";
  });
}

/** Those that no other is clearly better than; none unless at least two have the figure. */
function firstOf({ column }, rows) {
  const known = rows.map((row) => ({ row, ...boundsOf(row, column) })).filter(({ value }) => value !== null);
  if (known.length < 2) return [];
  const best = known.reduce((least, way) => (way.value < least.value ? way : least));
  const first = known.filter(({ low }) => low <= best.high);
  // If no two can be told apart, there is nothing to advise.
  return first.length === known.length ? [] : first.map(({ row }) => row);
}

/** A figure with its interval. Without one, or with both ends that of a single block, it is better than nothing else. */
function boundsOf(row, column) {
  const value = answerNumber(row, column);
  if (column.includes("_worst")) return { value, low: value, high: value };
  const { low, high } = endsOf(row, column);
  return low !== null && low < high ? { value, low, high } : { value, low: value, high: Infinity };
}
