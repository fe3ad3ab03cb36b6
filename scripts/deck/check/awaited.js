/** Charts whose data are not shipped, and which the shipped talk therefore hides: their files are not missing. */

import { isChosen, parseWhen } from "../../../deck/text/verdict-text.js";

/**
 * Whether a chart waits for somebody else's data: its experiment has no chart in the shipped data, because they skip it or
 * lack it, and it stands in a text (`data-when`) that the shipped verdict denies. With any file of that experiment there, a
 * chart that is missing is a mistake.
 * @param {import("../text/tree.js").Element} element   the canvas
 * @param {string|null} experiment   whose chart it is
 * @param {{manifest: object|null, claims: object|null}} shipped
 */
export function isAwaited(element, experiment, { manifest, claims }) {
  if (experiment === null || manifest === null || claims === null) return false;
  if (Object.keys(manifest.experiments?.[experiment]?.charts ?? {}).length > 0) return false;
  return isDenied(element, claims);
}

/** Whether an element stands in a text that the verdicts of these claims hide. */
export function isDenied(element, claims) {
  for (let around = element; around; around = around.parent) {
    const when = around.attributes["data-when"];
    if (when !== undefined && !isChosen(parseWhen(when), claims)) return true;
  }
  return false;
}
