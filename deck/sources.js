/**
 * Where bound values come from, put together in one place: the deck, `npm run check`, `wording` and `freeze` all resolve
 * a value here, so that none of them can say another figure. Needs no page.
 *
 * | value | read from |
 * |---|---|
 * | `manifest.<path>` | manifest.json |
 * | `design.<experiment>.<path>` | manifest.json: `experiments.<experiment>.parameters`, what the design fixed |
 * | `method.<key>` | claims.json: `method`, the rules that verdicts are given by |
 * | `<claim>.<name>[.<part>]` | claims.json: see `claimSource` |
 */

import { BoundNumbers, follow } from "./bound-numbers.js";
import { claimSource } from "./claims.js";
import { formatPercent, formatValue } from "./format.js";
import { manifestSource } from "./manifests.js";

const NOT_RECORDED = "not recorded";
const NOT_MEASURED = "not measured";

/**
 * @param {{manifest: () => object|null, claims: () => object|null}} documents   give the documents to read now
 * @returns {BoundNumbers}
 */
export function numbersFrom({ manifest, claims }) {
  return new BoundNumbers()
    .addSource("manifest", manifestSource(manifest), NOT_RECORDED)
    .addSource("design", designSource(manifest), NOT_RECORDED)
    .addSource("method", methodSource(claims), NOT_RECORDED)
    .setDefaultSource(claimSource(claims), NOT_MEASURED);
}

/** The source `design`: `design.rbd-journaling.io_threads`. Keys end with their unit, as in the manifest. */
export function designSource(current) {
  return ([experiment = "", ...path]) =>
    path.length === 0
      ? null
      : formatValue(follow(current(), ["experiments", experiment, "parameters", ...path]), path.at(-1));
}

/** The source `method`: `method.confidence` is a share and is written as "95 %"; the others are counts. */
export function methodSource(current) {
  return (path) => {
    const value = follow(current(), ["method", ...path]);
    return path.at(-1) === "confidence" ? formatPercent(value) : formatValue(value, path.at(-1));
  };
}
