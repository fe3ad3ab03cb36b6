/** What a table of claims says of each. Pure. */

import { EXPLORATORY, decidingCondition, own } from "./claims.js";
import { hostWords } from "./provenance.js";

/** Whether an entry checks the set-up itself rather than storage. Older data contain only claims. */
export function isSetupCheck({ kind }) {
  return kind === "setup_check";
}

/**
 * The rows of a table of claims, in the requested order; without a request, checks of the set-up come last.
 * @param {object|null} document   claims.json
 * @param {string[]} ids   which; none for all
 * @param {object|null} manifest   of the same data set: it says how many blocks each experiment will have
 * @returns {{id: string, sentence: string, source: string, sourceTitle: string|null, chart: string|null,
 *            verdict: string, reason: string, exploratory: string|null, condition: object|null, soFar: string|null,
 *            hosts: string|null}[]}   hosts: how many measured the blocks, if several
 *   exploratory: why a claim is; null if it is not
 */
export function claimRows(document, ids = [], manifest = null) {
  const claims = document?.claims ?? {};
  const all = Object.keys(claims).sort((a, b) => isSetupCheck(claims[a]) - isSetupCheck(claims[b]));
  return (ids.length ? ids : all)
    .filter((id) => Object.hasOwn(claims, id))
    .map((id) => {
      const condition = decidingCondition(claims[id]);
      const experiment = own(manifest?.experiments, claims[id].experiment);
      return {
        ...claims[id],
        id,
        chart: claims[id].chart ?? null,
        exploratory: claims[id].exploratory ? (claims[id].exploratory_reason ?? EXPLORATORY) : null,
        sourceTitle: own(document.sources, claims[id].source)?.title ?? null,
        condition,
        soFar: soFar(condition, experiment),
        hosts: hostWords([experiment?.provenance ?? {}]),
      };
    });
}

/**
 * How far the measurement behind a condition has come: "2 of 6 blocks". Null if it is complete, if it has not begun,
 * or if the data do not say how many blocks were planned.
 * @param {object|null} condition   as claims.json has it
 * @param {object|null} experiment   its entry in the manifest
 */
export function soFar(condition, experiment) {
  const intended = experiment?.parameters?.blocks;
  const unfinished = Number.isInteger(intended) && condition?.n > 0 && condition.n < intended;
  return unfinished ? `${condition.n} of ${intended} blocks` : null;
}

/**
 * Whether two data sets were asked the same: a claim of one sentence, and conditions that say the same about the same region.
 * @param {object|undefined} one   an entry of claims.json
 * @param {object|undefined} other
 */
export function hasSameWording(one, other) {
  return one !== undefined && other !== undefined && asked(one) === asked(other);
}

function asked({ sentence, conditions = {} }) {
  const regions = Object.entries(conditions)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { says, region, equals }]) => [name, says, region?.low, region?.high, equals]);
  return JSON.stringify([sentence, regions]);
}
