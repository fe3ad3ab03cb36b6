/**
 * Words that tell a text for "held" from one for "refuted", so that texts that changed places are noticed. The author
 * declares them: `refuted` for all claims, and words of their own for claims whose texts go another way.
 */

import { parseWhen } from "../../../deck/text/verdict-text.js";
import { verdictGroups } from "../text/segments.js";
import { isElement } from "../text/tree.js";
import { lineIn } from "./chapters.js";
import { VERDICT_WORDS_FILE } from "./declared.js";

/** In a group with a text for either, that for "refuted" has such a word, and that for "held" has none. */
export function verdictWording({ slides, verdictWords }) {
  if (verdictWords === null) return [];
  return slides.flatMap((slide) =>
    verdictGroups(slide).flatMap((members) => ofGroup(slide, members, verdictWords)),
  );
}

function ofGroup(slide, members, { refuted: usual, claims = {} }) {
  const texts = Object.fromEntries(
    members.flatMap((element) => {
      const when = parseWhen(element.attributes["data-when"]);
      const text = ownWords(element).replace(/\s+/g, " ").trim();
      return when?.verdicts.length === 1 && text !== ""
        ? [[when.verdicts[0], { ...when, element, text }]]
        : [];
    }),
  );
  if (!texts.held || !texts.refuted) return [];
  const own = claims[texts.held.claim];
  const words = { held: own?.held ?? [], refuted: own?.refuted ?? (own ? [] : usual) };
  return ["held", "refuted"].flatMap((verdict) => {
    const other = verdict === "held" ? "refuted" : "held";
    const { text, element, claim } = texts[verdict];
    const misplaced = words[other].find((word) => has(text, word));
    const lacks = words[verdict].length > 0 && !words[verdict].some((word) => has(text, word));
    if (misplaced === undefined && !lacks) return [];
    const why =
      misplaced === undefined
        ? `has none of its words (${words[verdict].join(", ")})`
        : `has “${misplaced}”, a word of "${other}"`;
    return [
      {
        file: slide.file,
        line: lineIn(slide, element.start),
        message: `the text of claim "${claim}" for "${verdict}" ${why}: put it where it belongs, or declare the claim's own words in ${VERDICT_WORDS_FILE}`,
      },
    ];
  });
}

/** The text of an element but for bound values, whose words are the data's. */
function ownWords(element) {
  if (!isElement(element)) return element.text;
  if (element.name === "data" && "value" in element.attributes) return " … ";
  return element.children.map(ownWords).join("");
}

/** Whether a text has a word or phrase, whole. */
function has(text, word) {
  const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replace(/['’]/g, "['’]");
  return new RegExp(String.raw`(?<![\p{L}\p{N}])${escaped}(?![\p{L}\p{N}])`, "iu").test(text);
}
