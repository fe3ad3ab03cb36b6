/** The same for decks of reveal.js, with `ChartCsv.RevealChartCsv`. */
export * from "./script-tag.js";
export { RevealChartCsv } from "./reveal.js";
