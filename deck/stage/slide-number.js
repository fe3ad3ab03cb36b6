/** The number of the slide on show, which is a link to that slide. */

/**
 * Gives the number a name, outside the text to be read, and classes for the slide that it lies on. CSS alone could ask what
 * `.reveal:has(…)`, but then a browser restyles the slides at every change in one of them, and the talk starts far later.
 */
export function dressSlideNumber(deck) {
  const number = deck.getRevealElement().querySelector(".slide-number");
  if (!number) return;
  number.setAttribute("role", "navigation");
  number.setAttribute("aria-label", "Slide number");
  const fit = () => {
    const slide = deck.getCurrentSlide();
    number.classList.toggle("on-opener", Boolean(slide?.matches(".opener")));
    number.classList.toggle("on-uncounted", Boolean(slide?.matches('[data-visibility="uncounted"]')));
  };
  deck.on("slidechanged", fit);
  fit();
}
