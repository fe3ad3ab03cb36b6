import { merge } from "chart.js/helpers";
import { seriesNames } from "../entries.js";
import { CsvError } from "../error.js";
import { kindOf } from "../kinds.js";
import { without } from "../own.js";
import { unitOfFile } from "../units.js";

/** Settings that belong to one file; a file shown in its place has its own. */
const OF_THE_FILE = ["yUnit", "yScale", "yTitle", "bands", "orientation", "delimiter", "decimal", "comment"];
/** Options that are words, numbers, and lists of words parted by a bar. REFERENCE.md says which kind has which. */
const WORDS = [
  ...["xUnit", "xScale", "xTitle", "prefix", ...OF_THE_FILE, "of", "square", "arrow", "reference", "worst"],
  ...["lineName", "missingName"],
];
const NUMBERS = ["unit", "line", "knee", "full"];
const LISTS = ["names", "at", "units", "states", "bets"];
const FLAGS = ["bet"];

/** The look of a chart without options on a slide. Sizes are px of the unscaled slide. */
function baseOptions(kind) {
  return {
    responsive: false,
    maintainAspectRatio: false,
    animation: false,
    layout: { padding: { top: 12, right: 8, bottom: 2, left: 2 } },
    interaction: kindOf(kind)
      ? {}
      : kind === "scatter"
        ? { mode: "nearest", intersect: true }
        : { mode: "nearest", axis: "x", intersect: false },
    plugins: {
      csv: { theme: { font: { size: 20 } } },
      csvLabels: { font: { size: 22, weight: 600 } },
      csvMarks: { font: { size: 20, weight: 600 } },
      title: { display: false },
      tooltip: {
        titleFont: { size: 18 },
        bodyFont: { size: 18 },
        padding: 10,
        boxPadding: 6,
        usePointStyle: true,
      },
    },
  };
}

/**
 * The JSON options of a canvas: the first comment child that begins with `{`, else `{}`.
 * An object with none of the keys `data`, `options`, `csv` is taken as Chart.js `options`.
 * @returns {{data?: object, options?: object, csv?: object}}
 * @throws {CsvError} kind `options`, when the comment is not JSON
 */
function optionsComment(canvas) {
  for (const node of canvas.childNodes) {
    const text = node.nodeType === 8 ? node.data.trim() : "";
    if (!text.startsWith("{")) continue;
    let json;
    try {
      json = JSON.parse(text);
    } catch (cause) {
      const url = canvas.dataset.chartSrc ?? null;
      throw new CsvError(`the options in the comment are not JSON (${cause.message})`, {
        url,
        kind: "options",
        cause,
      });
    }
    return ["data", "options", "csv"].some((key) => key in json) ? json : { options: json };
  }
  return {};
}

/** CSV written into the canvas element itself, or null. */
function inlineText(canvas) {
  const text = canvas.textContent.replace(/^\s*\n|\s+$/g, "");
  return text ? `${text}\n` : null;
}

/** Settings in attributes: `data-chart-y-unit="seconds"` and the like. */
function attributeSettings({ dataset }) {
  const settings = {};
  const read = (keys, meaningOf) => {
    for (const key of keys) {
      const value = dataset[`chart${key[0].toUpperCase()}${key.slice(1)}`];
      if (value !== undefined) settings[key] = value === "false" ? false : meaningOf(value);
    }
  };
  read(WORDS, (value) => value);
  read(NUMBERS, Number);
  read(LISTS, seriesNames);
  read(FLAGS, () => true);
  return settings;
}

/** Leaves out what the slide says about its own file: options of the y axis and of single series. */
function forAnyFile({ options = {}, csv = {} }) {
  const { scales, ...rest } = options;
  return {
    options: { ...rest, ...(scales ? { scales: without(scales, ["y"]) } : {}) },
    csv: without(csv, [...OF_THE_FILE, "datasets", "scales", "series", "levels"]),
  };
}

/**
 * The Chart.js configuration of a canvas. Later sources win: defaults of this plugin, the deck's `options.options`, its
 * `chartOptions(kind, src)`, the canvas' comment, its attributes, the reader's choices. The csv plugin merges their
 * `scales` and `data.datasets` over what it takes from the CSV.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {{kind: string, src: string|null, url: string|null, more?: string[], text?: string|null, foreign?: boolean,
 *          deckOptions: object[], styles: object, palette?: object[], marks?: () => object[]}} given
 *   more: further files of the same chart; foreign: `src` or `text` replaces the slide's own file; marks: further marks
 * @throws {CsvError} kind `options`
 */
export function chartConfig(canvas, given) {
  const { kind, src, url, more = [], foreign = false, deckOptions, styles, palette } = given;
  const text = given.text ?? (url ? null : inlineText(canvas));
  if (!url && !text) {
    throw new CsvError("the canvas has neither data-chart-src nor CSV text", { kind: "options" });
  }
  const comment = optionsComment(canvas);
  const { data = {}, options = {}, csv = {} } = foreign ? forAnyFile(comment) : comment;
  const attributes = attributeSettings(canvas);
  const guessed = { yUnit: unitOfFile(src) };
  const merged = merge({}, [baseOptions(kind), ...deckOptions.filter(Boolean), options]);
  const { scales = null, ...rest } = merged;
  const settings = merge({}, [
    guessed,
    merged.plugins.csv ?? {},
    csv,
    foreign ? without(attributes, OF_THE_FILE) : attributes,
  ]);
  Object.assign(settings, { url: text === null ? url : null, text, src, more });
  settings.styles = { ...styles, ...settings.styles };
  if (palette) settings.palette ??= palette;
  // With `axes: false` the page's scales are the chart's; else they are merged over those of the plugin.
  if (scales && settings.axes === false) rest.scales = scales;
  else if (scales) settings.scales = merge({}, [scales, settings.scales ?? {}]);
  const { chartIndexAxis } = canvas.dataset;
  if (chartIndexAxis) rest.indexAxis = chartIndexAxis;
  if (data.datasets) settings.datasets = data.datasets;
  rest.plugins = { ...rest.plugins, csv: settings, csvMarks: joinMarks(rest.plugins.csvMarks, given.marks) };
  return {
    type: kind,
    data: { datasets: [] },
    options: { ...rest, responsive: false, maintainAspectRatio: false },
  };
}

/** The marks of the options, and those that the page gives at each update. */
function joinMarks(options, further) {
  if (options === false || !further) return options;
  const { items = [] } = options ?? {};
  return {
    ...options,
    items: (chart) => [...(typeof items === "function" ? items(chart) : items), ...further()],
  };
}
