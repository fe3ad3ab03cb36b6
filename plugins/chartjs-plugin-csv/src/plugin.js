import { boundsOf, drawBands, drawWhiskers } from "./bands.js";
import { CsvController } from "./controller.js";
import { MAX_BYTES } from "./load.js";
import { PALETTE } from "./style.js";
import { tooltipCallbacks } from "./tooltip.js";

const controllers = new WeakMap();

/** The controller of a chart: `{model, error, url, ready, refresh(), restyle()}`; undefined where the plugin is off. */
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
    bands: "auto",
    axes: true,
    scales: null,
    xScale: "auto",
    yScale: "linear",
    xUnit: null,
    yUnit: null,
    xTitle: null,
    yTitle: null,
    prefix: "si",
    styles: {},
    palette: PALETTE,
    datasets: [],
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

  beforeUpdate(chart) {
    controllers.get(chart)?.follow();
  },

  /** Nothing is drawn before there is something true to draw. */
  beforeDraw(chart) {
    const controller = controllers.get(chart);
    return controller?.active && !controller.model ? false : undefined;
  },

  /** The y axis has room for the bands. */
  afterDataLimits(chart, { scale }) {
    const model = controllers.get(chart)?.model;
    if (!model || scale.axis !== "y") return;
    const visible = model.series.filter((_, index) => chart.isDatasetVisible(index));
    const bounds = boundsOf(visible);
    if (!bounds) return;
    const { minDefined, maxDefined } = scale.getUserBounds();
    if (!maxDefined) scale.max = Math.max(scale.max, bounds.high);
    if (!minDefined && (scale.type === "linear" || bounds.low > 0))
      scale.min = Math.min(scale.min, bounds.low);
  },

  beforeDatasetsDraw(chart) {
    const model = controllers.get(chart)?.model;
    if (model && chart.config.type === "line") drawBands(chart, model);
  },

  afterDatasetsDraw(chart) {
    const controller = controllers.get(chart);
    if (controller?.model && chart.config.type !== "line")
      drawWhiskers(chart, controller.model, controller.theme.text);
  },
};
