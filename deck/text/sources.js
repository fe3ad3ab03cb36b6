/**
 * The sources of bound values, in one place: the deck, `npm run check`, `wording` and `freeze` all resolve values here, so
 * that they always agree. Needs no page.
 *
 * | value | read from |
 * |---|---|
 * | `manifest.<path>` | manifest.json |
 * | `design.<experiment>.<path>` | manifest.json: `experiments.<experiment>.parameters`, what the design fixed |
 * | `method.<key>` | claims.json: `method`, the rules for verdicts |
 * | `answer.<mode>.<column>` | answer.csv |
 * | `<claim>.<name>[.<part>]` | claims.json: see `claimSource` |
 */

import { BoundNumbers } from "./bound-numbers.js";
import { answerSource } from "../data/answer.js";
import { claimSource } from "../data/claims.js";
import { follow } from "../data/follow.js";
import { formatPercent, formatPeriod, formatValue } from "../data/format.js";

const NOT_RECORDED = "not recorded";
const NOT_MEASURED = "not measured";

/**
 * @param {{manifest: () => object|null, claims: () => object|null, answer?: () => object|null}} documents   give the documents to read now
 * @returns {BoundNumbers}
 */
export function numbersFrom({ manifest, claims, answer = () => null }) {
  return new BoundNumbers(
    {
      manifest: { lookUp: manifestSource(manifest), absent: NOT_RECORDED },
      design: { lookUp: designSource(manifest), absent: NOT_RECORDED },
      method: { lookUp: methodSource(claims), absent: NOT_RECORDED },
      answer: { lookUp: answerSource(answer), absent: NOT_MEASURED },
    },
    { lookUp: claimSource(claims), absent: NOT_MEASURED },
  );
}

/**
 * The source `manifest` of bound numbers: `manifest.setup.osds`, `manifest.measured_to`, …
 * `manifest.measured` is the period from `measured_from` to `measured_to`.
 * @param {() => object|null} current   gives the manifest to read
 */
function manifestSource(current) {
  return (path) => {
    const manifest = current();
    if (!manifest) return null;
    if (path.length === 1 && path[0] === "measured") {
      const { measured_from: from, measured_to: to } = manifest;
      return from || to ? formatPeriod(from ?? to, to ?? from) : null;
    }
    return formatValue(follow(manifest, path), path.at(-1) ?? "");
  };
}

/** The source `design`: `design.rbd-journaling.io_threads`. Keys end with their unit, as in the manifest. */
function designSource(current) {
  return ([experiment = "", ...path]) =>
    path.length === 0
      ? null
      : formatValue(follow(current(), ["experiments", experiment, "parameters", ...path]), path.at(-1));
}

/** The source `method`: `method.confidence` is a share and is written as "95 %"; the others are counts. */
function methodSource(current) {
  return (path) => {
    const value = follow(current(), ["method", ...path]);
    return path.at(-1) === "confidence" ? formatPercent(value) : formatValue(value, path.at(-1));
  };
}
