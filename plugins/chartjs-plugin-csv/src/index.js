/**
 * chartjs-plugin-csv: `Chart.register(ChartCsv)`, then `options.plugins.csv.url`. See the README.
 *
 * @typedef {import("./table.js").Point} Point
 * @typedef {import("./table.js").Series} Series
 * @typedef {import("./table.js").Model} Model
 * @typedef {import("./spread.js").Spread} Spread
 * @typedef {import("./entries.js").Entry} Entry
 * @typedef {import("./style.js").SeriesStyle} SeriesStyle
 * @typedef {import("./plugin.js").Unit} Unit
 * @typedef {import("./plugin.js").CsvOptions} CsvOptions
 * @typedef {import("./labels.js").LabelOptions} LabelOptions
 * @typedef {import("./marks.js").Mark} Mark
 * @typedef {import("./marks.js").MarkOptions} MarkOptions
 * @typedef {import("./tables.js").Shown} ShownChart
 * @typedef {import("./tables.js").Table} DataTable
 * @typedef {import("./kinds.js").Kind} Kind
 * @typedef {import("./controller.js").CsvController} CsvController
 *
 * @typedef {{src: string|null, model: Model|null, chart: import("chart.js").Chart<any, any, any>|null, error?: Error}} CsvEventDetail
 *   of the events `chart-csv:ready`, `chart-csv:updated` and `chart-csv:error` on the canvas
 */
export { ChartCsv as default, ChartCsv, csvOf } from "./plugin.js";
export { CsvError } from "./error.js";
export { EndLabels } from "./labels.js";
export { Log2Scale } from "./log2-scale.js";
export { Marks } from "./marks.js";
export { parseCsv } from "./parse.js";
export { joinCompanions, joinSpread, readSpread } from "./spread.js";
export { readModel } from "./table.js";
export { kindOf, loadKind, nearest, registerKind, whyNoKind } from "./kinds.js";
export { companionUrl, runsUrl } from "./companions.js";
export { loadModel } from "./source.js";
export { readRuns } from "./runs.js";
export { loadText } from "./load.js";
export { formatSize, formatTick, formatValue } from "./units.js";
export { PALETTE, resolveColor, styleOf } from "./style.js";
export { seriesNames, withSeries } from "./entries.js";
export { wrapLabel } from "./labels-layout.js";
export { medianOf } from "./figures.js";
export { summarize } from "./summary.js";
export { describePoint } from "./tooltip.js";
export { drawTable, toHtmlTable } from "./html-table.js";
export { rowTable, tablesOf, textCell, valueCell } from "./tables.js";
