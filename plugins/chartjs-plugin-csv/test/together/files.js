/** The browser tests that run in one process, one after another, by name: they share its browser. */
export const TOGETHER = [
  "browser",
  "browser-chart",
  "browser-errors",
  "browser-layout",
  "browser-reader",
  "browser-reveal-versions",
  "browser-views",
];
