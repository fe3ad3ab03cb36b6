/** The charts of a slide, which several rules ask for, and which of them wait for data that are not shipped. */

import { partsOf } from "../../../deck/data/data-set.js";
import { elementsWith } from "../text/segments.js";
import { isChosen, parseWhen } from "../../../deck/text/verdict-text.js";

/** A slide's charts: their elements, their addresses, and what these name. */
export function chartsOf(slide) {
  return [...elementsWith(slide, "data-chart-src")]
    .filter(({ name }) => name === "canvas")
    .map((element) => {
      const src = element.attributes["data-chart-src"];
      return { element, src, parts: partsOf(src) };
    });
}

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
