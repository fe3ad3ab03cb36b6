/**
 * Lets the deck's chart plugin draw on a plain page: what it asks of a deck, answered for a page that is scrolled and not
 * scaled, whose sections stand for slides.
 */

/**
 * @param {Element} page
 * @returns {object} a host for the plugin's `init`; `tell(type)` sends it one of a deck's events
 */
export function chartHost(page) {
  const events = new EventTarget();
  const sections = () => [...page.querySelectorAll("section")];
  return {
    getRevealElement: () => page,
    getViewportElement: () => page,
    getSlidesElement: () => page,
    getSlides: sections,
    /** The first section with charts: they are drawn at once, the others when they come into sight. */
    getCurrentSlide: () => sections().find((section) => section.querySelector("canvas[data-chart]")) ?? null,
    getScale: () => 1,
    getConfig: () => ({}),
    isReady: () => true,
    isOverview: () => false,
    // Sections show at once, so that charts are made as they come into sight.
    isScrollView: () => true,
    isPrintView: () => false,
    isSpeakerNotes: () => false,
    getIndices: (section) => ({ h: Math.max(0, sections().indexOf(section)), v: 0 }),
    getTotalSlides: () => sections().length,
    on: (type, listener) => events.addEventListener(type, listener),
    off: (type, listener) => events.removeEventListener(type, listener),
    tell: (type) => events.dispatchEvent(new Event(type)),
  };
}
