/** What a chart's own options (the JSON in its canvas) say: no figure without an origin. */

import { isNumeric } from "./numerals.js";
import { problemIn } from "./chapters.js";
import { chartsOf } from "./charts-of.js";

/** Keys whose texts a reader sees. */
const SAID = new Set(["text", "label", "title", "content"]);

/** Texts in a chart's options hold no numeral: nothing says where it comes from. */
export function chartTexts({ slides }) {
  return slides.flatMap((slide) =>
    chartsOf(slide).flatMap(({ element }) =>
      messagesOf(slide, element).map((message) => problemIn(slide, message, element.start)),
    ),
  );
}

/** What is wrong with the JSON in a canvas, as the chart plugin reads it. */
function messagesOf(slide, { innerStart, innerEnd }) {
  const comment = /<!--([\s\S]*?)-->/.exec(slide.text.slice(innerStart, innerEnd))?.[1].trim();
  if (!comment?.startsWith("{")) return [];
  try {
    return textsIn(JSON.parse(comment))
      .filter(isNumeric)
      .map((text) => `the chart's options say "${text}", a numeral that comes from no data; leave it out`);
  } catch (error) {
    return [`the chart's options are no JSON: ${error.message}`];
  }
}

function textsIn(value, key = "") {
  if (typeof value === "string") return SAID.has(key) ? [value] : [];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([inner, part]) => textsIn(part, Array.isArray(value) ? key : inner));
}
