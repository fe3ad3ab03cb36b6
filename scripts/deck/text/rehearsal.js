/** The notes of one cut as they are spoken, read against the clock. Pure. */

import { clockOf, isCounted, secondsIn } from "../check/cuts.js";
import { proseOf } from "./prose.js";
import { elementsWith, isQuestion } from "./segments.js";

/** Words that a speaker says in a minute, unhurried, with the clicks and the looks at the audience. */
export const WORDS_PER_MINUTE = 130;

/** `**A cue** · **another**`, perhaps with attributes after a cue. */
const CUE = /\*\*([^*]+)\*\*(?:<!--.*?-->)?/g;

/**
 * The bold cues with which a note begins: what a speaker glances at, and does not say.
 * @param {string} note   Markdown
 * @returns {string[]} none if the note's first paragraph is anything but cues
 */
export function cuesOf(note) {
  const [first] = note.trim().split(/\n[ \t]*\n/, 1);
  const rest = first.replace(CUE, "").replace(/[\s·]/g, "");
  return rest === "" ? [...first.matchAll(CUE)].map(([, cue]) => cue) : [];
}

/**
 * What is said on each slide of a cut, and whether it can be said in the slide's time.
 * @param {import("./segments.js").ReadSlide[]} slides
 * @param {(slide: object) => {words: object}} telling   what slides are told with, as `tellingOf` gives it
 * @param {{cut: number, wordsPerMinute?: number}} how
 * @returns {{id: string|null, title: string, from: number, seconds: number, cues: string[], said: string[], words: number,
 *            needed: number}[]} seconds since the first slide; needed: the seconds that its words take
 */
export function rehearsalOf(slides, telling, { cut, wordsPerMinute = WORDS_PER_MINUTE }) {
  let clock = 0;
  return slides
    .filter((slide) => isCounted(slide, cut))
    .map((slide) => {
      const seconds = secondsIn(slide, cut);
      const from = clock;
      clock += seconds;
      const blocks = proseOf(slide, telling(slide).words);
      const cues = cuesOf(slide.text.slice(slide.note?.start ?? slide.text.length));
      const said = blocks.filter(({ kind }) => kind === "note").map(({ text }) => text);
      if (cues.length > 0) said.shift();
      const count = said.join(" ").split(/\s+/).filter(Boolean).length;
      const needed = Math.round((count / wordsPerMinute) * 60);
      return { id: slide.id, title: titleOf(slide, blocks), from, seconds, cues, said, words: count, needed };
    });
}

/** A title as it comes: of one that asks first, the question before its finding. */
function titleOf(slide, blocks) {
  const [finding = "", question] = blocks.filter(({ kind }) => kind === "heading").map(({ text }) => text);
  return [...elementsWith(slide, "class")].some(isQuestion) ? `${question} ${finding}` : finding;
}

/** The rehearsal as Markdown: a heading for each slide with its time, its cues, and what is said. */
export function rehearsalText(rows, { cut, wordsPerMinute = WORDS_PER_MINUTE, data }) {
  const total = rows.reduce((sum, { seconds }) => sum + seconds, 0);
  const needed = rows.reduce((sum, row) => sum + row.needed, 0);
  const tight = rows.filter((row) => row.needed > row.seconds);
  const head = [
    `# Rehearsal of the ${cut}-minute cut`,
    `Data: ${data}. Spoken at ${wordsPerMinute} words a minute, the text takes ${clockOf(needed)} of the ${clockOf(total)} that the slides have; the rest is for clicks, guesses and silence. Cues are in bold and not counted.`,
    tight.length === 0
      ? "No slide has more words than time."
      : `More words than time: ${tight.map(({ id, seconds, needed: took }) => `${id} (${took} s of words in ${seconds} s)`).join(", ")}.`,
  ];
  const parts = rows.map(({ title, from, seconds, cues, said, words, needed: took }, at) =>
    [
      `## ${clockOf(from)}–${clockOf(from + seconds)} · ${at + 1}. ${title}`,
      `${words} words, ${took} s of ${seconds} s`,
      cues.map((cue) => `**${cue}**`).join(" · "),
      ...said,
    ]
      .filter(Boolean)
      .join("\n\n"),
  );
  return `${[...head, ...parts].join("\n\n")}\n`;
}
