/** A slide's text with one data set: values filled in, texts that were not chosen left out. Pure. */

/**
 * @typedef {{block: string, kind: string, text: string, sentences: {text: string, line: number}[]}} Block
 *   line: where the sentence begins in the file
 */

const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" });

/**
 * @param {import("./segments.js").ReadSlide} slide
 * @param {ReturnType<import("./data-set-words.js").wordsOf>} words
 * @returns {Block[]} in the order of the slide; blocks without text are left out
 */
export function proseOf(slide, words) {
  const blocks = new Map();
  for (const segment of slide.segments) {
    if (!words.chooses(segment.when)) continue;
    const block = blocks.get(segment.block) ?? { block: segment.block, kind: segment.kind, pieces: [] };
    blocks.set(segment.block, block);
    block.pieces.push(...piecesOf(segment, words));
  }
  return [...blocks.values()].map(joined).filter(({ text }) => text !== "");
}

/** A segment's text, split at line ends; each piece has its line. */
function piecesOf({ text, line, bound }, words) {
  if (bound !== null) return [{ text: words.text(bound, text), line }];
  return text.split("\n").map((part, row) => ({ text: row === 0 ? part : ` ${part}`, line: line + row }));
}

function joined({ block, kind, pieces }) {
  let text = "";
  const starts = [];
  for (const piece of pieces) {
    // Only blanks in the source are folded; a thin space within a number is part of it.
    const folded = piece.text.replace(/[ \t\r\n]+/g, " ");
    const added = text === "" || text.endsWith(" ") ? folded.replace(/^ /, "") : folded;
    if (added === "") continue;
    starts.push({ at: text.length, line: piece.line });
    text += added;
  }
  return { block, kind, text: text.trimEnd(), sentences: sentencesOf(text, starts) };
}

function sentencesOf(text, starts) {
  return [...SENTENCES.segment(text)]
    .map(({ segment, index }) => ({
      text: segment.trim(),
      line: starts.findLast(({ at }) => at <= index)?.line ?? starts[0].line,
    }))
    .filter((sentence) => sentence.text !== "");
}
