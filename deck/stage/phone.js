/**
 * The deck on a phone. reveal's scroll view puts the slides below each other, but shrinks each to the width of the screen,
 * which makes text unreadable. Here slides flow instead: as wide as the screen, as high as their text
 * (css/scroll-view.css), with charts in small type, all steps shown, and notes below each slide.
 *
 * reveal assumes that all pages have the same height, so this module finds out which slide is in sight.
 */

const CLASS = "phone";

/**
 * The position of the slide that a reader is looking at: the last one that starts above the middle of the screen.
 * @param {number[]} tops   of the slides, in order, from the top of the screen
 * @param {number} middle
 */
export function slideInSight(tops, middle) {
  const after = tops.findIndex((top) => top > middle);
  if (after === -1) return tops.length - 1;
  return Math.max(0, after - 1);
}

/**
 * Follows the reader's scrolling and the address.
 * @param {object} deck   reveal, ready
 * @param {MediaQueryList} narrow   from `phoneQuery` in reveal-options.js
 * @param {string} asked   the part of the address after `#` that the page was opened with
 */
export function followPhone(deck, narrow, asked) {
  const page = document.documentElement;
  const viewport = deck.getViewportElement();
  const wasNarrow = narrow.matches;
  let isNarrow = wasNarrow;
  const heights = new ResizeObserver(() => kept && align());
  let waiting = false;
  /** The slide in the address, until the reader scrolls on, and how far the page was scrolled to get there. */
  let kept = null;
  let keptAt = 0;
  page.classList.toggle(CLASS, wasNarrow);

  const slides = () => [...deck.getSlidesElement().querySelectorAll(".scroll-page section")];
  const isOn = () => narrow.matches && deck.isScrollView();

  function look() {
    waiting = false;
    if (!isOn()) return;
    const all = slides();
    if (all.length === 0) return;
    const tops = all.map((one) => one.getBoundingClientRect().top);
    const slide = all[slideInSight(tops, innerHeight / 2)];
    if (slide === deck.getCurrentSlide()) return;
    const { h, v } = deck.getIndices(slide);
    for (const other of all) other.classList.toggle("present", other === slide);
    deck.setCurrentScrollPage(slide, h, v);
    history.replaceState(null, "", `#/${slide.id}`);
  }

  /** Before reveal handles the event, because it would assume another slide is in sight. */
  function onScroll(event) {
    if (!isOn() || event.target !== viewport) return;
    event.stopImmediatePropagation();
    if (kept && Math.abs(viewport.scrollTop - keptAt) > 1) release();
    lookSoon();
  }

  function lookSoon() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(look);
  }

  /** After reveal, which scrolls to where the slide would be if all had the same height. */
  function goTo(hash) {
    if (!isOn()) return;
    const name = /^#\/([^/?]+)/.exec(hash)?.[1];
    const slide = slides().find((one) => encodeURIComponent(one.id) === name || one.id === name);
    if (slide) keep(slide);
    look();
  }

  /**
   * Keeps a slide at the top of the screen while tools, charts and fonts that load later make the slides above it higher.
   * Browsers with scroll anchoring of their own are told not to use it until the reader scrolls.
   */
  function keep(slide) {
    kept = slide;
    viewport.style.overflowAnchor = "none";
    for (const one of slides()) heights.observe(one);
    align();
  }

  function align() {
    kept.scrollIntoView({ behavior: "instant" });
    keptAt = viewport.scrollTop;
  }

  function release() {
    kept = null;
    heights.disconnect();
    viewport.style.overflowAnchor = "";
  }

  /**
   * Reloads the deck at its slide when a phone is turned or a window is resized, because charts and steps then have other
   * sizes. Before reveal handles the event, because it would go to another slide. A reader who stays on the page, which
   * alone has a bundle's numbers, is not asked again at the next resize.
   */
  function onResize(event) {
    const isTurned = narrow.matches !== isNarrow;
    isNarrow = narrow.matches;
    if (isNarrow === wasNarrow) return;
    event.stopImmediatePropagation();
    if (!isTurned) return;
    history.replaceState(history.state, "", `#${deck.getSlidePath()}`);
    location.reload();
  }

  addEventListener("scroll", onScroll, { capture: true, passive: true });
  addEventListener("hashchange", () => goTo(location.hash));
  addEventListener("resize", onResize, { capture: true });
  // Each time reveal lays the slides out, it goes to the one that would be in sight if all had the same height, and no
  // scrolling need follow. The page's load event, for one, makes it do so, whenever that comes.
  deck.on("slidechanged", lookSoon);
  goTo(asked);
}
