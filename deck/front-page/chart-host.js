/**
 * Lets the deck's chart plugin draw on a plain page: it answers what the plugin asks a deck, for a page that scrolls, is
 * not scaled, and has sections instead of slides.
 */

/** People read such a page close up, and on phones; sizes in px. */
const FONT = { size: 15 };
export const PAGE_CHARTS = {
  plugins: {
    csv: { theme: { font: FONT } },
    csvLabels: { font: FONT },
    tooltip: { titleFont: FONT, bodyFont: FONT },
  },
};

/**
 * @param {Element} page
 * @returns {object} a host for the plugin's `init`; `tell(type)` sends it one of a deck's events
 */
export function chartHost(page) {
  const events = new EventTarget();
  return {
    getSlidesElement: () => page,
    /** The first section with charts: its charts are drawn at once, the others when they scroll into view. */
    getCurrentSlide: () => page.querySelector("section:has(canvas[data-chart])"),
    getScale: () => 1,
    getConfig: () => ({}),
    isReady: () => true,
    isOverview: () => false,
    // All sections are shown at once; charts are created as they scroll into view.
    isScrollView: () => true,
    on: (type, listener) => events.addEventListener(type, listener),
    off: (type, listener) => events.removeEventListener(type, listener),
    tell: (type) => events.dispatchEvent(new Event(type)),
  };
}
