/**
 * What each way of mirroring is the one to pick for, by the figures of answer.csv alone: no mode is praised in advance, and a
 * mode without figures is not judged. Pure.
 */

import { EVERYTHING, answerNumber, waysOf } from "./answer.js";

const UNJUDGED = "not measured";

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
 * @param {{modes: Record<string, string>[]}|null} answer   from `parseAnswer`
 * @returns {string[]} for each of the ways of `waysOf`, in their order
 */
export function adviceOf(answer) {
  const { price, modes } = waysOf(answer);
  const needs = [...NEEDS, ...(price ? priceNeeds(price) : [])];
  const rows = new Map(modes.map(({ name }) => [name, answer.modes.find((row) => row.name === name)]));
  const protecting = modes.filter(({ worst }) => worst !== EVERYTHING).map(({ name }) => name);
  const winners = needs.map((need) => ({ need, first: firstOf(need, protecting, rows) }));
  return modes.map(({ name, worst }) => {
    if (worst === EVERYTHING) return "what a backup can restore";
    const strengths = winners
      .filter(({ first }) => first.includes(name))
      .map(({ need, first }) => (first.length === 1 ? need.best : need.among));
    if (strengths.length > 0) return strengths.join("; ").replace(BOTH, "the cheapest writes");
    const measured = needs.filter(({ column }) => answerNumber(rows.get(name), column) !== null);
    if (measured.length === 0) return UNJUDGED;
    return measured.length < needs.length
      ? "too little measured to say"
      : "a middle way: best at nothing here";
  });
}

/** Those that no other is clearly better than; none unless at least two have the figure. */
function firstOf({ column }, names, rows) {
  const known = names
    .map((name) => ({ name, ...boundsOf(rows.get(name), column) }))
    .filter(({ value }) => value !== null);
  if (known.length < 2) return [];
  const best = known.reduce((least, way) => (way.value < least.value ? way : least));
  const first = known.filter(({ low }) => low <= best.high);
  // If no two can be told apart, there is nothing to advise.
  return first.length === known.length ? [] : first.map(({ name }) => name);
}

/** A figure with its interval. Without one, or with both ends that of a single block, it is better than nothing else. */
function boundsOf(row, column) {
  const value = answerNumber(row, column);
  if (column.includes("_worst")) return { value, low: value, high: value };
  const end = (word) => answerNumber(row, column.replace(/(_seconds)?$/, `_${word}$1`));
  const [low, high] = [end("low"), end("high")];
  return low !== null && low < high ? { value, low, high } : { value, low: value, high: Infinity };
}
