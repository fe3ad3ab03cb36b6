/** Where the talk is: a square for each of its minutes, and in the appendix, which takes no time, the number of the slide. */

import { element } from "../page/elements.js";

/**
 * The numbers of the appendix, A1 and so on: somebody asks, and the speaker says where the answer is. Pure.
 * @param {Element[]} slides   in order
 * @returns {Map<string, string>} by the slide's id
 */
export function appendixNumbers(slides) {
  const appendix = slides.filter((slide) => slide.dataset.visibility === "uncounted" && slide.id);
  return new Map(appendix.map((slide, index) => [slide.id, `A${index + 1}`]));
}

/**
 * How many minutes a talk has, and how many are over when a slide ends. Pure.
 * @param {number[]} seconds   of its slides, in order
 * @param {number} at   the position of the slide
 * @returns {{all: number, spoken: number}}
 */
export function minutesOf(seconds, at) {
  const minutes = (slides) => Math.round(slides.reduce((sum, one) => sum + one, 0) / 60);
  return { all: minutes(seconds), spoken: minutes(seconds.slice(0, at + 1)) };
}

/** Openers are inverse pages. */
const isDark = (slide) => Boolean(slide?.matches(".opener, .night"));

/** Shows a square for each minute of the talk, full when it is spoken. A reader's bar says in words where that is. */
export function showMinutes(deck, { explore }) {
  const slides = deck.getSlides();
  const seconds = slides.map(({ dataset }) => Number(dataset.timing ?? deck.getConfig().defaultTiming));
  const squares = Array.from({ length: minutesOf(seconds, 0).all }, () => element(document, "span"));
  const row = element(
    document,
    "div",
    { class: "minutes", role: "img", "aria-hidden": explore && "true" },
    ...squares,
  );
  const fill = () => {
    const slide = deck.getCurrentSlide();
    const at = slides.indexOf(slide);
    const { spoken } = minutesOf(seconds, at);
    squares.forEach((square, minute) => square.classList.toggle("spoken", minute < spoken));
    row.hidden = at < 0;
    row.setAttribute("aria-label", `Slide ${at + 1} of ${slides.length}`);
    row.classList.toggle("on-dark", isDark(slide));
  };
  // With the slides, which are the part to be read, and at their scale. Reveal takes whatever follows a slide for another one.
  deck.getSlidesElement().prepend(row);
  deck.on("slidechanged", fill);
  fill();
}

/**
 * Gives the number a name, outside the text to be read, and classes for the slide that it lies on. CSS alone could ask what
 * `.reveal:has(…)`, but then a browser restyles the slides at every change in one of them, and the talk starts far later.
 */
export function dressSlideNumber(deck) {
  const number = deck.getRevealElement().querySelector(".slide-number");
  if (!number) return;
  number.setAttribute("role", "navigation");
  number.setAttribute("aria-label", "Slide number");
  const numbers = appendixNumbers([
    ...deck.getSlidesElement().querySelectorAll('section[data-visibility="uncounted"]'),
  ]);
  for (const link of deck.getSlidesElement().querySelectorAll("ul.index a[href^='#/']")) {
    const named = numbers.get(link.getAttribute("href").slice(2));
    if (named !== undefined) link.dataset.appendix = named;
  }
  const fit = () => {
    const slide = deck.getCurrentSlide();
    number.dataset.appendix = numbers.get(slide?.id) ?? "";
    number.classList.toggle("on-dark", isDark(slide));
    number.classList.toggle("on-uncounted", Boolean(slide?.matches('[data-visibility="uncounted"]')));
  };
  deck.on("slidechanged", fit);
  fit();
}
