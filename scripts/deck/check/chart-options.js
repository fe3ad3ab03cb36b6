/** What a chart's own options (the JSON in its canvas) say: no figure without an origin. */

import { isNumeric } from "./numerals.js";
import { problemIn } from "./chapters.js";
import { chartsOf } from "./charts-of.js";

/** Keys whose texts a reader sees. */
const SAID = new Set(["text", "label", "title", "content"]);

/** Texts in a chart's options hold no numeral: nothing says where it comes from. */
export function chartTexts({ slides }) {
  return eachOptions(slides, ({ options }) =>
    textsIn(options)
      .filter(isNumeric)
      .map((text) => `the chart's options say "${text}", a numeral that comes from no data; leave it out`),
  );
}

function eachOptions(slides, messagesOf) {
  return slides.flatMap((slide) =>
    chartsOf(slide).flatMap(({ element }) => {
      const { options, problem } = optionsOf(slide, element);
      const messages = problem ? [problem] : options === null ? [] : messagesOf({ options, element });
      return messages.map((message) => problemIn(slide, message, element.start));
    }),
  );
}

/** The JSON in a canvas, as the chart plugin reads it. */
function optionsOf(slide, { innerStart, innerEnd }) {
  const comment = /<!--([\s\S]*?)-->/.exec(slide.text.slice(innerStart, innerEnd))?.[1].trim();
  if (!comment?.startsWith("{")) return { options: null };
  try {
    return { options: JSON.parse(comment) };
  } catch (error) {
    return { options: null, problem: `the chart's options are no JSON: ${error.message}` };
  }
}

function textsIn(value, key = "") {
  if (typeof value === "string") return SAID.has(key) ? [value] : [];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([inner, part]) => textsIn(part, Array.isArray(value) ? key : inner));
}
