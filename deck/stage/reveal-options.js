/** The options for starting reveal, by the mode of the deck, and those of charts on a phone. */

/** A slide's own size; everything in css/ is based on it. */
export const STAGE = { width: 1280, height: 720 };
/** Below this width slides are shown one below the other; a projector or a window next to the talk is wider. */
const PHONE_WIDTH = 700;

const PHONE_FONT = { size: 13 };

/** Chart.js options of charts on a phone, over those of the stage. */
export const PHONE_CHARTS = {
  layout: { padding: { top: 8, right: 4, bottom: 0, left: 0 } },
  plugins: {
    csv: { theme: { font: PHONE_FONT } },
    csvLabels: { font: PHONE_FONT },
    csvMarks: { font: PHONE_FONT },
    tooltip: { titleFont: PHONE_FONT, bodyFont: PHONE_FONT },
  },
};

/** A media query that tells whether the window is the size of a phone. */
export function phoneQuery() {
  return matchMedia(`(max-width: ${PHONE_WIDTH}px)`);
}

/**
 * @param {{explore: boolean, receiver: boolean}} mode
 * @param {{narrow: boolean, keyboardCondition: Function, plugins: object[]}} parts   narrow: the window is a phone's
 */
export function revealOptions(mode, { narrow, keyboardCondition, plugins }) {
  const flowing = narrow && !mode.receiver;
  return {
    // On a phone a slide is as wide as the screen and as high as its text: see phone.js.
    ...(flowing ? { width: "100%", height: "100%" } : STAGE),
    margin: 0,
    minScale: 0.1,
    maxScale: 4,
    center: false,
    display: "flex",
    // The reader's bar replaces these, and on stage the minutes do: slide-number.js.
    controls: false,
    progress: false,
    slideNumber: mode.explore ? false : "c",
    hash: true,
    transition: "none",
    backgroundTransition: "none",
    // Every key and every clicker goes through the slides in the order of the talk.
    navigationMode: "linear",
    keyboardCondition,
    jumpToSlide: false,
    fragments: !flowing,
    scrollActivationWidth: mode.receiver ? null : PHONE_WIDTH,
    scrollLayout: "compact",
    scrollSnap: false,
    scrollProgress: flowing ? false : "auto",
    // Each slide has its own timing; this value only makes the speaker view show the pace.
    defaultTiming: 60,
    pdfMaxPagesPerSlide: 1,
    pdfSeparateFragments: false,
    plugins,
  };
}
