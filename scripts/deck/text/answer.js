/** The talk's answer in one sentence, from the elements with `data-answer` on its front page. Pure. */

import { proseOf } from "./prose.js";
import { elementsWith } from "./segments.js";

/**
 * @param {import("./segments.js").ReadSlide[]} slides   of all chapters; the first with such elements counts
 * @param {ReturnType<import("./data-set-words.js").wordsOf>} words   of the data set that is published
 * @returns {string|null} null if no chapter marks an answer, or if it has no text with these data
 */
export function answerOf(slides, words) {
  for (const slide of slides) {
    const marked = [...elementsWith(slide, "data-answer")];
    if (marked.length === 0) continue;
    const segments = slide.segments.filter(({ at }) =>
      marked.some(({ start, end }) => at >= start && at < end),
    );
    const texts = proseOf({ ...slide, segments }, words).map(({ text }) => text);
    return texts.join(" ") || null;
  }
  return null;
}
