/** The charts of a slide, which several rules ask for. */

import { partsOf } from "../../../deck/data/data-set.js";
import { elementsWith } from "../text/segments.js";

/** A slide's charts: their elements, their addresses, and what these name. */
export function chartsOf(slide) {
  return [...elementsWith(slide, "data-chart-src")]
    .filter(({ name }) => name === "canvas")
    .map((element) => {
      const src = element.attributes["data-chart-src"];
      return { element, src, parts: partsOf(src) };
    });
}
