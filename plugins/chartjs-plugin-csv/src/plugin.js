import { hasAxes } from "./axes.js";
import { drawBands, drawLowerBounds, drawWhiskers } from "./bands.js";
import { CsvController } from "./controller.js";
import { MISSING } from "./dialect.js";
import { kindOf } from "./kinds.js";
import { MAX_BYTES } from "./load.js";
import { drawLines, drawRuns } from "./runs.js";
import { PALETTE } from "./style.js";
import { separateTicks } from "./ticks.js";

/**
 * @typedef {"bytes"|"bytes_per_second"|"operations_per_second"|"seconds"|"ratio"|"fraction"|"count"} Unit
 * @typedef {"auto"|"min-max"|"interval"|"both"|false} Bands
 *
 * @typedef {object} CsvOptions   `options.plugins.csv`; REFERENCE.md says what each is for
 * @property {string|null} [url]
 * @property {string|null} [text]
 * @property {string[]|null} [more]
 * @property {string[]|null} [names]
 * @property {string|string[]|null} [at]
 * @property {string|null} [of]
 * @property {((text: string, url: string) => import("./table.js").Model)|null} [read]
 * @property {string|null} [src]
 * @property {"auto"|"rows"|"columns"} [orientation]
 * @property {string} [delimiter]
 * @property {"auto"|"."|","} [decimal]
 * @property {string|false} [comment]
 * @property {string[]} [missing]
 * @property {Bands} [bands]
 * @property {string[]|null} [series]
 * @property {string[]|null} [shown]
 * @property {boolean} [runs]
 * @property {"points"|"lines"} [runsAre]
 * @property {{end?: "high"|"low", name?: string}|null} [lines]
 * @property {string[]|null} [emphasis]
 * @property {number} [lineFrom]
 * @property {{url: string, more?: string[], label?: string}|null} [overlay]
 * @property {boolean} [axes]
 * @property {Record<string, import("chart.js").ScaleOptions|Record<string, unknown>>|null} [scales]
 * @property {"auto"|"log2"|"linear"|"logarithmic"|"category"} [xScale]
 * @property {"linear"|"logarithmic"|"log2"} [yScale]
 * @property {"log"|"linear"|null} [scale]
 * @property {{low: number, high: number}|null} [range]
 * @property {Unit|null} [xUnit]
 * @property {Unit|null} [yUnit]
 * @property {(Unit|null)[]} [units]
 * @property {string|null} [xTitle]
 * @property {string|null} [yTitle]
 * @property {"si"|"iec"} [prefix]
 * @property {Record<string, Partial<import("./style.js").SeriesStyle>>} [styles]
 * @property {import("./style.js").SeriesStyle[]} [palette]
 * @property {Partial<import("chart.js").ChartDataset>[]|Record<string, Partial<import("chart.js").ChartDataset>>} [datasets]
 * @property {boolean} [decimate]
 * @property {number} [maxBytes]
 * @property {typeof fetch|null} [fetch]
 * @property {{text?: string, grid?: string, ink?: string, page?: string, lost?: string, font?: Partial<import("chart.js").FontSpec>}} [theme]
 * @property {string} [reference]   options of single kinds from here on
 * @property {number|false|null} [line]
 * @property {string} [lineName]
 * @property {"high"|"low"} [worst]
 * @property {number} [unit]
 * @property {string} [square]
 * @property {("full"|"cross"|"hollow"|"dashed")[]} [states]
 * @property {{name?: string, of: Record<string, number>}} [levels]
 * @property {number|false} [knee]
 * @property {number} [full]
 * @property {string} [missingName]
 * @property {{zero?: string, infinite?: string}} [ends]
 * @property {string} [arrow]
 * @property {string[]} [bets]
 * @property {boolean} [bet]
 */

/** @type {WeakMap<import("chart.js").Chart, CsvController>} */
const controllers = new WeakMap();

/**
 * The controller of a chart: `{model, error, url, ready, entries, refresh(), restyle(), change()}`; undefined if the
 * plugin is off.
 * @param {import("chart.js").Chart<any, any, any>} chart
 * @returns {CsvController|undefined}
 */
export function csvOf(chart) {
  return controllers.get(chart);
}

/**
 * Chart.js plugin `csv`: fills a chart from a CSV file. Inert in charts without `options.plugins.csv.url` or
 * `.text`. REFERENCE.md documents every option.
 * @type {import("chart.js").Plugin<import("chart.js").ChartType, CsvOptions> & {id: "csv", defaults: CsvOptions}}
 */
export const ChartCsv = {
  id: "csv",

  defaults: {
    url: null,
    text: null,
    more: null,
    names: null,
    at: null,
    of: null,
    read: null,
    src: null,
    orientation: "auto",
    delimiter: "auto",
    decimal: "auto",
    comment: "auto",
    missing: MISSING,
    bands: false,
    series: null,
    shown: null,
    runs: false,
    runsAre: "points",
    lines: null,
    emphasis: null,
    lineFrom: 2,
    overlay: null,
    axes: true,
    scales: null,
    xScale: "auto",
    yScale: "linear",
    scale: null,
    range: null,
    xUnit: null,
    yUnit: null,
    xTitle: null,
    yTitle: null,
    prefix: "si",
    styles: {},
    palette: PALETTE,
    datasets: [],
    decimate: true,
    maxBytes: MAX_BYTES,
    fetch: null,
    theme: {
      text: "var(--chart-text, currentcolor)",
      grid: "var(--chart-grid, color-mix(in srgb, currentcolor 16%, transparent))",
      ink: "var(--ink, currentcolor)",
      page: "var(--page, canvas)",
      lost: "var(--lost, light-dark(#c4500a, #f0a35e))",
      font: { size: 16 },
    },
  },

  descriptors: { _scriptable: false, _indexable: false },

  start(chart) {
    const controller = new CsvController(chart);
    controllers.set(chart, controller);
    if (controller.active) controller.start();
  },

  stop(chart) {
    controllers.get(chart)?.destroy();
    controllers.delete(chart);
  },

  /** Lays nothing out before there is anything to draw. */
  beforeUpdate(chart) {
    const controller = controllers.get(chart);
    controller?.follow();
    return controller?.isWaiting ? false : undefined;
  },

  /** Draws nothing before the data have arrived. */
  beforeDraw(chart) {
    const controller = controllers.get(chart);
    return controller?.active && !controller.model ? false : undefined;
  },

  /** Makes room on the axes for every series of the chart, shown or not. */
  afterDataLimits(chart, { scale }) {
    controllers.get(chart)?.limit(scale);
  },

  afterLayout(chart) {
    const { axes } = controllers.get(chart)?.model ? controllers.get(chart).settings : {};
    if (!axes || !hasAxes(chart.config.type)) return;
    for (const scale of Object.values(chart.scales)) separateTicks(scale);
  },

  beforeDatasetsDraw(chart) {
    const controller = controllers.get(chart);
    if (!controller?.model || chart.config.type !== "line") return;
    const { entries, lines, settings } = controller;
    if (lines) drawLines(chart, entries, lines, settings.lines.end ?? "high");
    else drawBands(chart, entries);
  },

  afterDatasetsDraw(chart) {
    const controller = controllers.get(chart);
    if (!controller?.model) return;
    if (!hasAxes(chart.config.type) || kindOf(chart.config.type)) return;
    if (chart.config.type !== "line") drawWhiskers(chart, controller.entries, controller.theme.text);
    drawLowerBounds(chart, controller.entries);
    const { entries, lines, runs, settings } = controller;
    if (!runs || lines) return;
    if (settings.runsAre === "lines" && chart.config.type === "line") drawLines(chart, entries, runs);
    else drawRuns(chart, entries, runs);
  },
};
