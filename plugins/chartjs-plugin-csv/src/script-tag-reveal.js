/** The same for decks of reveal.js: also `ChartCsv.RevealChartCsv`. */
export * from "./script-tag.js";
export { RevealChartCsv } from "./reveal.js";
