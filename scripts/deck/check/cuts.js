/**
 * The cuts of the talk: each adds up to the minutes that its chapters are given, tells a whole story, and leaves the time to
 * say its notes. A talk that gives no chapter its minutes has no sums to keep, but is no longer than each of its cuts.
 */

import { isInCut } from "../../../deck/stage/cut.js";
import { proseOf } from "../text/prose.js";
import { problemIn } from "./chapters.js";

/** Nobody can follow more words a second than this; people speak two to two and a half. */
const MOST_WORDS_PER_SECOND = 3.2;
const SECONDS = /^[1-9]\d*$/;
const MINUTES = /^\d+(?:\.\d+)?$/;

/** Whether a slide is in a cut; the appendix and what is no slide of the talk are in none of the sums. */
export function isCounted(slide, cut) {
  return !slide.uncounted && !slide.front && isInCut(slide.cut, cut);
}

/** The seconds that a slide has in a cut, 0 where it has none. */
export function secondsIn(slide, cut) {
  return isCounted(slide, cut) ? Number(slide.timings[cut] ?? slide.timing) || 0 : 0;
}

/** 75 → "1:15". */
export function clockOf(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A slide's cut exists, and its timings are for cuts that it is in. */
export function cutAttributes({ slides, cuts }) {
  const known = cuts.map(({ minutes }) => String(minutes));
  return slides.flatMap((slide) => {
    const problem = (message) => [problemIn(slide, message)];
    const noCut = (attribute, word) =>
      problem(
        `${attribute}: no cut of "${word}" minutes; there ${known.length > 1 ? "are" : "is"} ${known.join(", ")}`,
      );
    const odd = (slide.cut ?? "").split(/\s+/).find((word) => word && !known.includes(word));
    if (odd !== undefined) return noCut("data-cut", odd);
    if (slide.uncounted && slide.cut !== null)
      return problem("data-cut on a slide of the appendix, which is in every cut");
    const oddMinutes = Object.keys(slide.cutMinutes).find((cut) => !known.includes(cut));
    if (oddMinutes !== undefined) return noCut(`data-chapter-minutes-${oddMinutes}`, oddMinutes);
    return Object.entries(slide.timings).flatMap(([cut, seconds]) => {
      if (!known.includes(cut)) return noCut(`data-timing-${cut}`, cut);
      if (!SECONDS.test(seconds))
        return problem(`data-timing-${cut}="${seconds}" is not a number of seconds`);
      return isInCut(slide.cut, cut)
        ? []
        : problem(`data-timing-${cut}, but the slide is not in the ${cut}-minute cut`);
    });
  });
}

/**
 * The chapters of the talk: each begins with a slide that names it (`data-chapter`) and lasts to the next one that does.
 * @returns {{name: string, first: object, slides: object[]}[]} those with counted slides
 */
export function storyChapters(slides) {
  const chapters = [];
  for (const slide of slides) {
    if (slide.front) continue;
    if (slide.chapter !== null) chapters.push({ name: slide.chapter, first: slide, slides: [] });
    chapters.at(-1)?.slides.push(slide);
  }
  return chapters.filter((chapter) => chapter.slides.some(({ uncounted }) => !uncounted));
}

/** Each chapter takes the minutes that it is given in each cut, and the chapters together take what the cut is timed for. */
export function chapterMinutes({ slides, cuts }) {
  const chapters = storyChapters(slides);
  if (!chapters.some(({ first }) => first.minutes !== null))
    return cuts.flatMap((cut) => whyTooLong(slides, cut));
  return [
    ...chapters.flatMap((chapter) => cuts.flatMap(({ minutes: cut }) => whyNotInTime(chapter, cut))),
    ...cuts.flatMap((cut) => whyNotWhole(chapters, cut)),
    ...strays(slides, chapters),
  ];
}

function minutesOf({ first }, cut) {
  return first.cutMinutes[cut] ?? first.minutes;
}

function whyTooLong(slides, { minutes: cut, seconds: most }) {
  const seconds = sum(slides.map((slide) => secondsIn(slide, cut)));
  if (seconds <= most) return [];
  const message = `the slides take ${seconds} s in the ${cut}-minute cut, which has ${most} s: ${difference(seconds - most)}`;
  const last = slides.findLast((slide) => isCounted(slide, cut));
  return [problemIn(last, message)];
}

function whyNotInTime(chapter, cut) {
  const { name, first, slides } = chapter;
  const problem = (message) => [problemIn(first, `chapter "${name}"${message}`)];
  const minutes = minutesOf(chapter, cut);
  if (minutes === null || !MINUTES.test(minutes))
    return problem(
      `: data-chapter-minutes is ${minutes === null ? "missing" : `"${minutes}"`}; write how many it takes in the ${cut}-minute cut`,
    );
  const seconds = sum(slides.map((slide) => secondsIn(slide, cut)));
  const given = Number(minutes) * 60;
  if (seconds === given) return [];
  return problem(
    ` takes ${seconds} s in the ${cut}-minute cut, and is given ${given} s: ${difference(seconds - given)}`,
  );
}

function whyNotWhole(chapters, { minutes: cut, seconds }) {
  const minutes = sum(chapters.map((chapter) => Number(minutesOf(chapter, cut)) || 0));
  if (minutes * 60 === seconds) return [];
  const message = `the chapters are given ${minutes} minutes in the ${cut}-minute cut: ${difference(minutes * 60 - seconds)}`;
  return [problemIn(chapters[0].first, message)];
}

/** Counted slides before the first chapter are in no sum. */
function strays(slides, chapters) {
  const placed = new Set(chapters.flatMap((chapter) => chapter.slides));
  return slides
    .filter((slide) => !slide.front && !slide.uncounted && !placed.has(slide))
    .map((slide) => problemIn(slide, "belongs to no chapter; begin one with data-chapter"));
}

/** A link in a cut leads to a slide of that cut. Where it leads nowhere at all is another rule's. */
export function wholeStory({ slides, cuts }) {
  const ofTalk = slides.filter(({ front }) => !front);
  const byAddress = new Map(ofTalk.map((slide) => [`#/${slide.id}`, slide]));
  return ofTalk.flatMap((slide) =>
    linksIn(slide).flatMap(({ target, at }) =>
      cuts
        .map(({ minutes }) => minutes)
        .filter((cut) => isInCut(slide.cut, cut) && !isInCut(byAddress.get(target)?.cut ?? null, cut))
        .map((cut) =>
          problemIn(
            slide,
            `leads to "${target.slice(2)}", which is not in the ${cut}-minute cut; this slide is`,
            at,
          ),
        ),
    ),
  );
}

/** The links of a slide, with their places. */
export function linksIn({ text }) {
  return [...text.matchAll(/\bhref="([^"]*)"|\]\(([^)\s]+)\)/g)].map((match) => ({
    target: match[1] ?? match[2],
    at: match.index,
  }));
}

/** A note can be said in the seconds that its slide has. */
export function pace({ slides, words, cuts }) {
  return slides.flatMap((slide) => {
    const count = wordsOfNote(slide, words);
    return cuts.flatMap(({ minutes: cut }) => {
      const seconds = secondsIn(slide, cut);
      if (seconds === 0 || count <= seconds * MOST_WORDS_PER_SECOND) return [];
      const needed = Math.ceil(count / MOST_WORDS_PER_SECOND);
      const message = `the note has ${count} words for ${seconds} s in the ${cut}-minute cut; it takes ${needed} s at least`;
      return [problemIn(slide, message, slide.note.start)];
    });
  });
}

/** How many words of a slide's note are said with these texts. */
function wordsOfNote(slide, words) {
  const paragraphs = proseOf(slide, words).filter(({ kind }) => kind === "note");
  return sum(paragraphs.map(({ text }) => text.split(/\s+/).filter(Boolean).length));
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

function difference(seconds) {
  return `${Math.abs(seconds)} s too ${seconds > 0 ? "many" : "few"}`;
}
