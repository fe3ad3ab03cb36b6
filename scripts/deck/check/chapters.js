/** Reads the talk as text: the chapters that slides/<talk>/talk.yaml names, and the slides of each, with their lines. */

import { readFile } from "node:fs/promises";
import path from "node:path";

import { placeWithin } from "../data-sets.js";
import { readTalkFile } from "../talk-file.js";
import { READER_SEPARATORS, SEPARATORS } from "../talk-page.js";

/**
 * @typedef {{file: string, line: number, start: number, text: string, id: string|null, timing: string|null,
 *            timings: Record<string, string>, cut: string|null, chapter: string|null, minutes: string|null,
 *            cutMinutes: Record<string, string>, uncounted: boolean, dataSet: string|null, compares: string[],
 *            front: boolean}} Slide
 *   file as slides/<talk>/talk.yaml names it; line of the slide's first line, from 1; start: where text begins in its chapter,
 *   as `normalText` gives it; timings and cutMinutes: by cut, what the slide states for one; chapter: the name of the
 *   chapter that begins with it; dataSet: the one that it names instead of the talk's own; compares: the data sets that its
 *   charts set beside each other; front: a section of the reader's page, and no slide
 * @typedef {{file: string, line: number, message: string,
 *            fix?: {from: number, to: number, was: string, text: string}}} Problem
 *   fix: what to write instead of a part of the file, and what stood there
 */

/** A chapter's slides, parted as reveal's Markdown plugin parts them. Pure. @returns {Slide[]} */
export function slidesOf(text, { file, front = false }) {
  const { horizontal, vertical } = front ? READER_SEPARATORS : SEPARATORS;
  const parts = [horizontal, vertical].filter(Boolean).join("|");
  const slides = [];
  let start = 0;
  const add = (from, to) => {
    const raw = text.slice(from, to);
    const blank = /^\s*/.exec(raw)[0].length;
    // reveal reads one line of such a comment.
    const [, attributes = ""] = /<!--\s*\.slide:\s*(\S.*?)(?:-->|$)/m.exec(raw) ?? [];
    const attribute = (name) => new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(attributes)?.[1] ?? null;
    slides.push({
      file,
      line: lineAt(text, from + (blank < raw.length ? blank : 0)),
      start: from + blank,
      text: raw.slice(blank),
      id: attribute("id"),
      timing: attribute("data-timing"),
      timings: byCut(attributes, "data-timing"),
      cut: attribute("data-cut"),
      chapter: attribute("data-chapter"),
      minutes: attribute("data-chapter-minutes"),
      cutMinutes: byCut(attributes, "data-chapter-minutes"),
      uncounted: attribute("data-visibility") === "uncounted",
      dataSet: attribute("data-set"),
      compares: (attribute("data-compare") ?? "").split(/\s+/).filter(Boolean),
      front,
    });
  };
  for (const match of text.matchAll(new RegExp(parts, "gm"))) {
    add(start, match.index);
    start = match.index + match[0].length;
  }
  add(start, text.length);
  return slides;
}

/** What `NAME-20="…"` states, by the number. */
function byCut(attributes, name) {
  const stated = attributes.matchAll(new RegExp(`(?:^|\\s)${name}-(\\d+)="([^"]*)"`, "g"));
  return Object.fromEntries([...stated].map(([, cut, value]) => [cut, value]));
}

/** The line, from 1, of a position in a text. */
export function lineAt(text, position) {
  return text.slice(0, position).split("\n").length;
}

/** The line in its file of a position in a slide's text. */
export function lineIn(slide, position) {
  return slide.line + lineAt(slide.text, position) - 1;
}

/** A problem of a slide, at a position in its text. @returns {Problem} */
export function problemIn(slide, message, position = 0) {
  return { file: slide.file, line: lineIn(slide, position), message };
}

/**
 * Reads the whole talk.
 * @param {string} root   the talk's folder
 * @param {string} [name]   the talk's, if it is not the one that is meant
 * @returns {Promise<{talk: import("../talk-file.js").TalkFile,
 *                    chapters: {file: string, text: string, slides: Slide[]}[], problems: Problem[]}>}
 *   chapters: the reader's page is the last of them; problems: chapters that are not there, or lie elsewhere
 * @throws {import("../checked-yaml.js").InvalidFile} if slides/<talk>/talk.yaml is not as it must be
 */
export async function readTalk(root, name) {
  const talk = readTalkFile(root, name);
  const named = [
    ...talk.chapters.map((file, at) => ({ file, front: false, line: talk.lineOf("chapters", at) })),
    // The page that a reader meets first is read like a chapter, and is no part of the talk.
    ...(talk.readerPage ? [{ file: talk.readerPage, front: true, line: talk.lineOf("reader_page") }] : []),
  ];
  const chapters = [];
  const problems = [];
  for (const { line, ...chapter } of named) {
    try {
      const text = await readFile(path.join(root, chapter.file), "utf8");
      if ((await placeWithin(path.join(root, "slides"), path.relative("slides", chapter.file))) === null) {
        const message = `${chapter.file} is a link that leads out of slides/: put the file itself there`;
        problems.push({ file: talk.file, line, message });
        continue;
      }
      // With CRLF nothing parts the slides; that is reported once, and the rest is checked as if mended.
      chapters.push({ ...chapter, text, slides: slidesOf(normalText(text), chapter) });
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
      problems.push({ file: talk.file, line, message: `there is no chapter ${chapter.file}` });
    }
  }
  return { talk, chapters, problems };
}

/** A chapter's text with LF line ends, which is what places in slides refer to. */
export function normalText(text) {
  return text.replace(/\r\n?/g, "\n");
}
