/** Fixes for readers who cannot see the slides. */

import { element } from "../page/elements.js";
import { slidesIn } from "../text/slide-data.js";
import { slideTitle } from "../text/verdict-text.js";

/**
 * reveal marks the whole deck as an application, which switches off the reading commands of screen readers: they could then
 * only read a slide aloud, not line by line. The page's title follows the slide, and the talk's title becomes the first
 * heading of every slide without one.
 * @returns {() => void} call it when a slide's title may have changed
 */
export function makeReadable(deck) {
  const root = deck.getRevealElement();
  root.removeAttribute("role");
  const slides = root.querySelector(".slides");
  slides.setAttribute("role", "main");
  const talk = document.title;
  const heading = element(document, "h1", { class: "visually-hidden" }, talk);
  slides.prepend(heading);
  const titleOf = (slide) => {
    const title = slideTitle(slide);
    return title && title !== talk ? `${title} – ${talk}` : talk;
  };
  const name = () => {
    const slide = deck.getCurrentSlide();
    if (slide && document.title !== titleOf(slide)) document.title = titleOf(slide);
    heading.hidden = slide?.querySelector("h1") !== null;
  };
  deck.on("slidechanged", name);
  name();
  openAllInSight(deck);
  return name;
}

/**
 * reveal hides all slides but one from screen readers. If more slides are in sight, they must be readable; but in the
 * overview, where people choose a slide, Tab must not reach their content.
 */
function openAllInSight(deck) {
  let isShut = false;
  const settle = () => {
    const overview = deck.isOverview();
    // Most changes of a slide happen on a stage that shows one, where all is as it was.
    if (!overview && !isShut && !deck.isScrollView()) return;
    isShut = overview;
    for (const slide of slidesIn(deck.getSlidesElement())) {
      if (deck.isScrollView()) {
        slide.removeAttribute("aria-hidden");
        slide.removeAttribute("hidden");
      }
      // The slide itself can still be clicked to choose it.
      for (const part of slide.children) part.inert = overview;
    }
  };
  for (const type of ["overviewshown", "overviewhidden", "slidechanged", "resize"]) deck.on(type, settle);
  settle();
}
