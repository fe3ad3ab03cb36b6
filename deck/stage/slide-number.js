/** The number of the slide on show, which is a link to that slide. */

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
    number.classList.toggle("on-opener", Boolean(slide?.matches(".opener")));
    number.classList.toggle("on-night", Boolean(slide?.matches(".night")));
    number.classList.toggle("on-uncounted", Boolean(slide?.matches('[data-visibility="uncounted"]')));
  };
  deck.on("slidechanged", fit);
  fit();
}
