/**
 * What a data set says about each claim of the talk, from `benchmarks/<data set>/claims.json`. Pure functions: the figures
 * were computed when the data were derived.
 */

import { formatExactRatio, formatPercent, formatRatio, formatValue } from "./format.js";

/** Facts about a claim as a whole, by the second word of a bound value. */
export const CLAIM_FIELDS = ["verdict", "reason", "sentence", "source"];

/** Facts about one condition of a claim, by the third word of a bound value; without one it is the estimate. */
const PARTS = {
  estimate: (condition) => figure(condition, condition.estimate),
  low: (condition) => figure(condition, condition.low),
  high: (condition) => figure(condition, condition.high),
  interval,
  n: ({ n }) => (Number.isInteger(n) ? String(n) : null),
  inverse: (condition) => ofRatio(condition, formatRatio(inverse(condition.estimate))),
  percent: (condition) => ofRatio(condition, formatPercent(condition.estimate)),
  "inverse-percent": (condition) => ofRatio(condition, formatPercent(inverse(condition.estimate))),
  region: (condition) => (condition.region ? regionText(condition) : null),
  total,
};
export const CONDITION_PARTS = Object.keys(PARTS);
/** The facts that apply to a count as well. */
export const COUNT_PARTS = ["estimate", "low", "high", "interval", "n", "region", "total"];

/** Whether a condition is a count, which is compared exactly. Older data contain only ratios. */
export function isCount({ kind }) {
  return kind === "count";
}

/**
 * The estimate of a condition as text, with three digits for a table: a ratio, or the plain number of a count; null without
 * one.
 */
export function estimateText(condition) {
  return isCount(condition) ? formatValue(condition.estimate) : formatExactRatio(condition.estimate);
}

/** What a condition needs, in words: "1.60× to 2.50×", "above 1.25×", for a count "exactly 0". */
export function regionText(condition) {
  const { low, high } = condition.region;
  if (isCount(condition)) return `exactly ${low}`;
  const [from, to] = [low, high].map((value) => (Number.isFinite(value) ? formatExactRatio(value) : null));
  if (from === null) return to === null ? "any" : `below ${to}`;
  return to === null ? `above ${from}` : `${from} to ${to}`;
}

/** The address of a data set's claims. */
export function claimsAddress(dataSet) {
  return `benchmarks/${dataSet}/claims.json`;
}

/**
 * The source of bound values that begin with a claim's id: `CLAIM.verdict` and the other fields, `CLAIM.<condition>` (its
 * estimate) and `CLAIM.<condition>.<part>`.
 * @param {object|null} document   claims.json
 */
export function claimSource(document) {
  return ([id, name, ...parts]) => {
    const claim = own(document?.claims, id);
    if (!claim) return null;
    if (CLAIM_FIELDS.includes(name)) return parts.length === 0 ? (claim[name] ?? null) : null;
    const condition = own(claim.conditions, name);
    const say = parts.length > 1 ? null : own(PARTS, parts[0] ?? "estimate");
    return condition && say ? say(condition) : null;
  };
}

/**
 * The condition that is shown for a claim: the one that decided its verdict, else the first.
 * @returns {object|null} null if the data set has none
 */
export function decidingCondition(claim) {
  const name = decidingName(claim);
  return name === null ? null : claim.conditions[name];
}

/** The name of that condition, or null. */
export function decidingName(claim) {
  const names = Object.keys(claim.conditions ?? {});
  return names.find((name) => claim.conditions[name].verdict === claim.verdict) ?? names[0] ?? null;
}

/** Word and sign show a verdict; colour only helps. */
export const VERDICT_SIGNS = {
  held: "✓",
  refuted: "✗",
  inconclusive: "?",
  "not testable here": "–",
  "not measured": "·",
};

/** The mark beside the verdict on a claim whose current form was not registered before all of its data. */
export const EXPLORATORY = "exploratory";

/** Whether one of these claims is exploratory in this data set. */
export function anyExploratory(document, ids) {
  return ids.some((id) => own(document?.claims, id)?.exploratory === true);
}

/** "1.90× to 2.26×"; one block gives an estimate but no interval. For a count: what was counted, "0" or "0 to 2". */
function interval(condition) {
  const ends = [figure(condition, condition.low), figure(condition, condition.high)];
  if (ends.includes(null)) return Number.isFinite(condition.estimate) ? "no interval" : null;
  return (isCount(condition) ? [...new Set(ends)] : ends).join(" to ");
}

/** What all blocks of one cell counted together: how many of `n` trials hung. Of several cells, a block has but one count. */
function total(condition) {
  const { blocks = {}, cells = [] } = condition;
  const counts = Object.values(blocks);
  if (!isCount(condition) || cells.length !== 1 || counts.length === 0) return null;
  return formatValue(counts.reduce((sum, count) => sum + count, 0));
}

function figure(condition, value) {
  return isCount(condition) ? formatValue(value) : formatRatio(value);
}

/** The facts that apply to ratios only. */
function ofRatio(condition, text) {
  return isCount(condition) ? null : text;
}

function inverse(value) {
  return value > 0 ? 1 / value : null;
}

/** What an object itself has under a name, or null. */
export function own(object, key) {
  return object && Object.hasOwn(object, key) ? object[key] : null;
}
