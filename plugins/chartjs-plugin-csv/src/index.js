/** chartjs-plugin-csv: `Chart.register(ChartCsv)`, then `options.plugins.csv.url`. See the README. */
export { ChartCsv as default, ChartCsv, csvOf } from "./plugin.js";
export { CsvError } from "./error.js";
export { EndLabels } from "./labels.js";
export { Log2Scale } from "./log2-scale.js";
export { Marks } from "./marks.js";
export { parseCsv } from "./parse.js";
export { joinCompanions, readModel } from "./table.js";
export { companionUrl, ownerOf, runsUrl } from "./companions.js";
export { loadModel } from "./source.js";
export { readRuns } from "./runs.js";
export { loadText } from "./load.js";
export { formatSize, formatTick, formatValue } from "./units.js";
export { PALETTE, resolveColor, styleOf } from "./style.js";
export { seriesNames, withSeries } from "./entries.js";
export { summarize } from "./summary.js";
export { describePoint, describeX } from "./tooltip.js";
export { drawTable, toHtmlTable } from "./html-table.js";
export { tablesOf } from "./tables.js";
