import { hasAxes } from "./axes.js";
import { drawBands, drawWhiskers } from "./bands.js";
import { CsvController } from "./controller.js";
import { MISSING } from "./dialect.js";
import { MAX_BYTES } from "./load.js";
import { drawLines, drawRuns } from "./runs.js";
import { PALETTE } from "./style.js";
import { tooltipCallbacks } from "./tooltip.js";

const controllers = new WeakMap();

/**
 * The controller of a chart: `{model, error, url, ready, entries, refresh(), restyle(), change()}`; undefined if the
 * plugin is off.
 */
export function csvOf(chart) {
  return controllers.get(chart);
}

/**
 * Chart.js plugin `csv`: fills a chart from a CSV file. Inert in charts without `options.plugins.csv.url` or
 * `.text`. The README documents every option.
 */
export const ChartCsv = {
  id: "csv",

  defaults: {
    url: null,
    text: null,
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
      font: { size: 16 },
    },
  },

  descriptors: { _scriptable: false, _indexable: false },

  start(chart) {
    const controller = new CsvController(chart);
    controllers.set(chart, controller);
    if (!controller.active) return;
    const { plugins = {} } = chart.config.options;
    if (plugins.tooltip !== false) {
      const callbacks = tooltipCallbacks(() => controller);
      const tooltip = { ...plugins.tooltip, callbacks: { ...callbacks, ...plugins.tooltip?.callbacks } };
      chart.config.options.plugins = { ...plugins, tooltip };
    }
    controller.start();
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
    if (!hasAxes(chart.config.type)) return;
    if (chart.config.type !== "line") drawWhiskers(chart, controller.entries, controller.theme.text);
    const { entries, lines, runs, settings } = controller;
    if (!runs || lines) return;
    if (settings.runsAre === "lines" && chart.config.type === "line") drawLines(chart, entries, runs);
    else drawRuns(chart, entries, runs);
  },
};
