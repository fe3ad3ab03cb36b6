/**
 * How charts look in this deck. A series has the same colour and marker in every chart, by its name. The colours are
 * tokens from css/tokens.css, so that they follow the page's theme.
 */

import { seriesNames } from "chartjs-plugin-csv";

import { partsOf } from "../data/data-set.js";

/**
 * The looks that a talk gives to series by name (`series` in slides/<talk>/talk.yaml). Names at the lines' ends and markers tell them
 * apart without colour. Lines are solid: dashes are for what was published or is a ceiling, and not measured here.
 */
const LOOKS = {
  reference: { color: "var(--series-reference)", dash: [], pointStyle: "circle" },
  accent: { color: "var(--series-journal)", dash: [], pointStyle: "triangle" },
  blue: { color: "var(--series-mirrored)", dash: [], pointStyle: "rect" },
  sky: { color: "var(--series-mirrored-often)", dash: [], pointStyle: "cross" },
  green: { color: "var(--series-snapshot)", dash: [], pointStyle: "rectRounded" },
  mint: { color: "var(--series-snapshot-often)", dash: [], pointStyle: "dash" },
  indigo: { color: "var(--series-read)", dash: [], pointStyle: "circle" },
  petrol: { color: "var(--series-write)", dash: [], pointStyle: "rect" },
  grey: { color: "var(--series-control)", dash: [], pointStyle: "crossRot" },
  violet: { color: "var(--series-cached)", dash: [], pointStyle: "rectRot" },
  magenta: { color: "var(--series-cached-journal)", dash: [], pointStyle: "star" },
};

/**
 * The styles of the series that a talk names. Pure.
 * @param {Record<string, string[]>} series   names, by look
 * @returns {Record<string, {color: string, dash: number[], pointStyle: string}>} by name
 */
export function seriesStyles(series) {
  return Object.fromEntries(
    Object.entries(series).flatMap(([look, names]) => names.map((name) => [name, LOOKS[look]])),
  );
}

/** Derived files have a single form (docs/data-formats.md); anything else in them is an error. */
const DERIVED_FILES = { orientation: "rows", delimiter: ",", decimal: ".", comment: false, missing: [] };

/** How a chart's file is read: derived ones strictly, others as people write CSV. Pure. */
export function readingOf(src) {
  return src !== null && partsOf(src) ? DERIVED_FILES : {};
}

/** Chart.js options of every chart; sizes in px of the unscaled slide, 20 at least. */
export const CHART_OPTIONS = {
  // A marker at the edge of the plot is drawn whole.
  clip: 14,
  plugins: {
    csv: {
      bands: "auto",
      theme: { text: "var(--chart-text)", grid: "var(--chart-grid)", font: { size: 20 } },
    },
    csvLabels: { font: { size: 21, weight: 700 } },
    tooltip: { titleFont: { size: 20 }, bodyFont: { size: 20 } },
  },
};

/**
 * The options of one chart beyond these: axes in the manifest's units, and for a ratio a log2 axis, where twice as slow and
 * twice as fast are equally far from 1, with an emphasised line at 1.
 * @param {string} kind   line, bar, scatter, or another kind of the plugin
 * @param {string|null} src
 * @param {(token: string) => string} colorOf   returns the current colour of a token
 * @param {object|null} entry   what the manifest says of the chart
 */
export function optionsFor(kind, src, colorOf, entry = null) {
  const name = src?.split("/").at(-1) ?? "";
  const isRatio = name.startsWith("ratio-");
  const known = knownOf(entry);
  if (CLASSIC.includes(kind) && isRatio) return ratioOptions(colorOf, known);
  // An estimate is drawn with its interval and, where there is one, the prediction for another campaign.
  const bands = kind === "forest" && isRatio ? { bands: "both" } : {};
  return { plugins: { csv: { ...known, ...bands } } };
}

/**
 * A chart of one slide that shows another state moves there, unless the viewer wants no motion. What is drawn for the first
 * time, and what a file changes, is there at once.
 */
export function movingOptions(kind, { matchMedia } = globalThis) {
  const wantsNone = matchMedia?.("(prefers-reduced-motion: reduce), print").matches ?? true;
  const moves = !CLASSIC.includes(kind) && !wantsNone;
  return moves ? { animation: { duration: 700, easing: "easeInOutCubic" } } : {};
}

/** Kinds of Chart.js; the others have axes of their own. */
const CLASSIC = ["line", "bar", "scatter"];

/** Facts that only the manifest has: axis and unit of a long file, and which lines have gaps by design. */
function knownOf(entry) {
  const axes = { xTitle: entry?.x?.label, xUnit: entry?.x?.unit, yUnit: entry?.y?.unit };
  const known = Object.fromEntries(Object.entries(axes).filter(([, value]) => value));
  // Measured at fewer points by design: gaps are not failures, and the points belong to one line.
  const whole = (entry?.sparse ?? []).map((name) => [name, { spanGaps: true }]);
  return whole.length ? { ...known, datasets: Object.fromEntries(whole) } : known;
}

/**
 * What a slide wants of its chart: `data-chart-lines="worst run"` draws every run of a chart over time, and names the worst so;
 * `data-chart-emphasis="A | B"` lets all other series recede. Pure.
 * @param {{dataset: DOMStringMap}} canvas
 * @param {object|null} entry   what the manifest says of the chart
 */
export function optionsOfSlide({ dataset: { chartLines, chartEmphasis } }, entry) {
  const isWorst = entry?.y?.better === "higher" ? "low" : "high";
  return {
    ...(entry?.runs === "lines" && { runsAre: "lines" }),
    ...(entry?.runs === "lines" && chartLines && { lines: { end: isWorst, name: chartLines } }),
    ...(chartEmphasis && { emphasis: seriesNames(chartEmphasis) }),
  };
}

function ratioOptions(colorOf, known) {
  return {
    plugins: { csv: { ...known, yScale: "log2" } },
    scales: {
      y: {
        bounds: "data",
        suggestedMin: 0.75,
        suggestedMax: 1.6,
        afterBuildTicks(scale) {
          const ticksOf = scale.type === "linear" ? linearRatioTicks : ratioTicks;
          scale.ticks = ticksOf(scale.min, scale.max, scale.height).map((value) => ({ value }));
        },
        ticks: { autoSkip: false },
        grid: {
          color: ({ tick }) => colorOf(tick?.value === 1 ? "--ink" : "--chart-grid"),
          lineWidth: ({ tick }) => (tick?.value === 1 ? 2 : 1),
        },
      },
    },
  };
}

/** The smallest distance between two ticks, px: closer labels would overlap. */
const TICK_DISTANCE = 21;

/**
 * About five ticks of a ratio's axis from nothing upwards, as bars have it: 1, and round steps that keep away from it.
 * @param {number} height   of the axis, px
 */
export function linearRatioTicks(min, max, height = Infinity) {
  const span = max - min;
  const least = Math.max(span / 5, (2 * TICK_DISTANCE * span) / height);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= least * 0.999) ?? 10);
  const steps = Array.from({ length: Math.floor(max / step) + 1 }, (_, index) => index * step);
  const apart = (value) => (Math.abs(value - 1) / span) * height >= TICK_DISTANCE;
  return [...steps.filter((value) => value >= min && value !== 1 && apart(value)), 1].sort((a, b) => a - b);
}

/**
 * About five ticks of a ratio's log2 axis from `min` to `max`, always including 1: powers of two if the range is wide
 * or the axis short, else also steps between them.
 * @param {number} height   of the axis, px
 */
export function ratioTicks(min, max, height = Infinity) {
  const within = (values) => values.filter((value) => value >= min * 0.999 && value <= max * 1.001);
  const powers = Math.log2(max / min);
  const octave = height / powers;
  const fits = (ticks) =>
    ticks.every((value, at) => at === 0 || Math.log2(value / ticks[at - 1]) * octave >= TICK_DISTANCE);
  const fine = within([0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8]);
  if (powers < 3 && fits(fine)) return fine;
  const stride = Math.max(1, Math.ceil(powers / 6), Math.ceil(TICK_DISTANCE / octave));
  const ticks = [];
  for (let power = Math.ceil(Math.log2(min) / stride) * stride; 2 ** power <= max * 1.001; power += stride) {
    ticks.push(2 ** power);
  }
  return ticks;
}
