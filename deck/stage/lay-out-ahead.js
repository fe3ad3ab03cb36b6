/**
 * Lays out the slides near the current one while the browser is idle.
 *
 * At each change of a slide, reveal brings further slides near, and the browser would lay out all of them before it draws
 * the new slide: for a slide with a large table that takes longer than a frame. With this module their contents wait
 * (`content-visibility: hidden`, css/slides.css) until there is time, one slide a frame. A slide that is shown earlier than
 * that is laid out as it is shown.
 */

const WAITS = "lays-out-ahead";
const DONE = "laid-out";
/** Longest wait, ms: the next slide must not wait for a page that is never idle. */
const TIMEOUT = 250;

/** @param {object} deck   reveal, ready */
export function layOutAhead(deck) {
  const slides = deck.getSlidesElement();
  // Browsers keep this list; a selector would look at every element of every slide each time.
  const sections = slides.getElementsByTagName("section");
  let waiting = false;

  /** The slide to lay out next: of those that reveal has brought near, first those that come after the current one. */
  function next() {
    const near = [...sections].filter((one) => isNear(one) && !one.matches(`.stack, .${DONE}`));
    return near.find((slide) => isAfter(deck.getCurrentSlide(), slide)) ?? near.at(-1);
  }

  function layOutNext() {
    waiting = false;
    const slide = next();
    if (!slide) return;
    slide.classList.add(DONE);
    soon();
  }

  /** In a later frame, so that no frame has to bear two of them. */
  function soon() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      // Safari has no idle callbacks.
      if (globalThis.requestIdleCallback) requestIdleCallback(layOutNext, { timeout: TIMEOUT });
      else setTimeout(layOutNext, 0);
    });
  }

  function follow() {
    for (const one of sections) if (!isNear(one)) one.classList.remove(DONE);
    // It has been laid out to be seen, and stays so when the next one is shown.
    deck.getCurrentSlide().classList.add(DONE);
    soon();
  }

  deck.on("slidechanged", follow);
  follow();
  slides.classList.add(WAITS);
}

/** reveal takes slides that are far away out of the layout. */
const isNear = (slide) => slide.style.display !== "none";

function isAfter(one, other) {
  return Boolean(one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING);
}
