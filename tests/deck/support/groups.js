/**
 * Files of tests/deck/browser that run in one process, by name: tests/deck/together/browser-N.test.js runs the Nth group.
 * A file that no group names runs in a process of its own.
 */
export const GROUPS = [
  ["axe", "keyboard", "stage", "counts"],
  ["pdf", "print", "errors", "navigation", "imported"],
  ["layout", "reader", "views", "speaker"],
  ["altered", "contact-sheet", "reused-page", "comparison", "chart-tools", "front-page"],
  ["site", "origin", "phone", "recorded-run"],
  ["claims", "canvas", "deck"],
];
