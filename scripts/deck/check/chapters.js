/** Reads the talk as text: the chapters that index.html names, and the slides of each, with their lines. */

import { readFile } from "node:fs/promises";
import path from "node:path";

import { CUTS, USUAL_CUT } from "../../../deck/page/mode.js";

/**
 * @typedef {{file: string, line: number, start: number, text: string, id: string|null, timing: string|null,
 *            timings: Record<number, string|null>, cut: string|null, chapter: string|null,
 *            minutes: Record<number, string|null>, uncounted: boolean, front: boolean}} Slide
 *   file as index.html names it; line of the slide's first line, from 1; start: where text begins in its chapter, as
 *   `normalText` gives it; timings and minutes: by cut, where the slide names one; chapter: the name of the chapter that
 *   begins with it; front: a section of the reader's page, and no slide
 * @typedef {{file: string, line: number, message: string, fix?: {from: number, to: number, text: string}}} Problem
 *   fix: what to write instead of a part of the file
 */

/** The chapters of index.html: `{file, line, separators}` in order. Pure. */
export function chaptersOf(html) {
  const chapters = [];
  for (const match of html.matchAll(
    /<section\b(?:[^>"]|"[^"]*")*?\bdata-markdown="([^"]+)"(?:[^>"]|"[^"]*")*>/g,
  )) {
    const attribute = (name) => new RegExp(`\\b${name}="([^"]*)"`).exec(match[0])?.[1] ?? null;
    chapters.push({
      file: match[1],
      line: lineAt(html, match.index),
      // The page that a reader meets first: read like a chapter, and no part of the talk.
      front: /\sdata-front-page\b/.test(match[0]),
      horizontal: attribute("data-separator"),
      vertical: attribute("data-separator-vertical"),
      notes: attribute("data-separator-notes"),
    });
  }
  return chapters;
}

/** A chapter's slides, parted as reveal's Markdown plugin parts them. Pure. @returns {Slide[]} */
export function slidesOf(text, { file, horizontal, vertical, front = false }) {
  const parts = [horizontal, vertical].filter(Boolean).join("|");
  const slides = [];
  let start = 0;
  const add = (from, to) => {
    const raw = text.slice(from, to);
    const blank = /^\s*/.exec(raw)[0].length;
    const [, attributes = ""] = /<!--\s*\.slide:([\s\S]*?)-->/.exec(raw) ?? [];
    const attribute = (name) => new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(attributes)?.[1] ?? null;
    slides.push({
      file,
      line: lineAt(text, from + (blank < raw.length ? blank : 0)),
      start: from + blank,
      text: raw.slice(blank),
      id: attribute("id"),
      timing: attribute("data-timing"),
      timings: byCut((cut) => attribute(`data-timing-${cut}`)),
      cut: attribute("data-cut"),
      chapter: attribute("data-chapter"),
      minutes: byCut((cut) => attribute(`data-chapter-minutes${cut === USUAL_CUT ? "" : `-${cut}`}`)),
      uncounted: attribute("data-visibility") === "uncounted",
      front,
    });
  };
  for (const match of parts ? text.matchAll(new RegExp(parts, "gm")) : []) {
    add(start, match.index);
    start = match.index + match[0].length;
  }
  add(start, text.length);
  return slides;
}

function byCut(valueOf) {
  return Object.fromEntries(CUTS.map((cut) => [cut, valueOf(cut)]));
}

/** The line, from 1, of a position in a text. */
export function lineAt(text, position) {
  return text.slice(0, position).split("\n").length;
}

/** The line in its file of a position in a slide's text. */
export function lineIn(slide, position) {
  return slide.line + lineAt(slide.text, position) - 1;
}

/**
 * Reads the whole talk.
 * @param {string} root   folder of index.html
 * @returns {Promise<{chapters: {file: string, text: string, slides: Slide[]}[], problems: Problem[]}>}
 *   problems: chapters that cannot be read
 */
export async function readTalk(root) {
  const html = await readFile(path.join(root, "index.html"), "utf8");
  const chapters = [];
  const problems = [];
  for (const chapter of chaptersOf(html)) {
    try {
      const text = await readFile(path.join(root, chapter.file), "utf8");
      // With CRLF nothing parts the slides; that is reported once, and the rest is checked as if mended.
      const normal = normalText(text);
      chapters.push({ ...chapter, text, slides: slidesOf(normal, chapter) });
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
      problems.push({
        file: "index.html",
        line: chapter.line,
        message: `there is no chapter ${chapter.file}`,
      });
    }
  }
  if (chapters.length === 0 && problems.length === 0)
    problems.push({ file: "index.html", line: 1, message: "names no chapter" });
  return { chapters, problems };
}

/** A chapter's text with LF line ends, which is what places in slides refer to. */
export function normalText(text) {
  return text.replace(/\r\n?/g, "\n");
}

/** The data set whose texts are written on the slides, as the page names it. Pure. */
export function shippedDataSet(html) {
  return /<meta\b[^>]*\bname="replay:data-set"[^>]*\bcontent="([^"]+)"/.exec(html)?.[1] ?? "reference";
}
