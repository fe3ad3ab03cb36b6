/** The talk's structure, for the table of contents and the search: chapters, slides, minutes. */

import { canvasesOf, headingOf } from "../text/canvases.js";
import { slidesIn } from "../text/slide-data.js";
import { chosenText, slideTitle } from "../text/verdict-text.js";

/** The title of the part before the first named chapter. */
const OPENING = "Opening";

/**
 * @typedef {{id: string, title: string, chapter: string, seconds: number, appendix: boolean, text: string, notes: string,
 *            charts: string[]}} SlideFacts
 */

/**
 * @param {Element} root   `.reveal`, texts chosen, slides of other cuts gone
 * @returns {SlideFacts[]} in order
 */
export function outlineOf(root) {
  let chapter = OPENING;
  return slidesIn(root)
    .filter(({ id }) => id)
    .map((slide) => {
      chapter = slide.dataset.chapter ?? chapter;
      return factsOf(slide, chapter);
    });
}

/**
 * Slides by chapter. Pure.
 * @param {SlideFacts[]} slides
 * @returns {{title: string, appendix: boolean, seconds: number, slides: SlideFacts[]}[]} seconds: 0 in the appendix, which no
 *   cut counts
 */
export function chaptersOf(slides) {
  const chapters = [];
  for (const slide of slides) {
    const last = chapters.at(-1);
    if (last?.title === slide.chapter) last.slides.push(slide);
    else chapters.push({ title: slide.chapter, appendix: slide.appendix, seconds: 0, slides: [slide] });
  }
  for (const chapter of chapters) {
    chapter.appendix = chapter.slides.every(({ appendix }) => appendix);
    chapter.seconds = chapter.slides.reduce(
      (sum, { appendix, seconds }) => sum + (appendix ? 0 : seconds),
      0,
    );
  }
  return chapters;
}

/** "6 min", "45 s"; "" for none. Pure. */
export function minutes(seconds) {
  if (!(seconds > 0)) return "";
  return seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

function factsOf(slide, chapter) {
  const notes = [...slide.querySelectorAll("aside.notes")];
  return {
    id: slide.id,
    title: slideTitle(slide) || slide.id,
    chapter,
    seconds: Number.parseInt(slide.dataset.timing, 10) || 0,
    appendix: slide.closest('[data-visibility="uncounted"]') !== null,
    text: textWithout(slide, notes),
    notes: notes.map(chosenText).join(" "),
    charts: canvasesOf(slide).map(chartWords).filter(Boolean),
  };
}

/** A chart's heading, and its summary if it has been drawn. */
function chartWords(canvas) {
  return [headingOf(canvas), canvas.getAttribute("aria-label")].filter(Boolean).join(" ");
}

function textWithout(slide, left) {
  return [...slide.childNodes]
    .filter((node) => node.nodeType === 1 && !left.includes(node) && !node.hasAttribute("hidden"))
    .map(chosenText)
    .filter(Boolean)
    .join(" ");
}
