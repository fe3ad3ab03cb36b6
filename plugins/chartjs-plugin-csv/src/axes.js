import { merge } from "chart.js/helpers";
import { DATE, momentsIn } from "./dates.js";
import { isLogarithmic } from "./range.js";
import { formatTick, formatValue, niceStep, unitOfAxis } from "./units.js";

/** Up to how many x values each gets a tick of its own. */
const OWN_TICKS = 16;
/** About how many steps a measured x axis has. */
const X_STEPS = 8;
/** How many grid lines a y axis has at most. */
const Y_TICKS = 7;
/** Sizes and counts are on a logarithmic axis if the largest is at least this many times the smallest. */
const LOG_SPAN = 8;
/** Counts that grow by factors, such as queue depths, are at least this many times the one before; trials are not. */
const FACTOR = 1.25;

/**
 * The type of the x axis for a model: `category` for labels and bars; `date` for dates and times; `log2` for sizes, and counts
 * that grow by factors, which span a factor of 8; else `linear`. A `settings.xScale` other than "auto" is used as it is; for
 * dates it may be "category". Pure.
 * @param {import("./table.js").Model} model
 */
export function xScaleType(model, chartType, settings) {
  // The page's own scale is used as it is: a time axis, or a linear one under bars.
  if (settings.scales?.x?.type) return settings.scales.x.type;
  const xScale = settings.xScale || "auto";
  if (chartType === "bar") return "category";
  if (model.xs.some((x) => typeof x !== "number"))
    return xScale !== "category" && momentsIn(model) ? DATE : "category";
  if (xScale !== "auto") return xScale;
  const unit = xUnitOf(model, settings);
  const sorted = ["bytes", "count"].includes(unit) ? [...model.xs].sort((a, b) => a - b) : [];
  if (!(sorted[0] > 0 && sorted.at(-1) / sorted[0] >= LOG_SPAN)) return "linear";
  const grows = (x, index) => index === 0 || x >= sorted[index - 1] * FACTOR;
  return unit === "bytes" || sorted.every(grows) ? "log2" : "linear";
}

/**
 * The type of the y axis: as `yScale` says, unless `scale` asks for another. Ratios are drawn on log2, where twice as
 * slow and twice as fast are equally far from 1, everything else on decades. Pure.
 * @param {{yScale?: string, yUnit?: string|null, scale?: "log"|"linear"|null}} settings
 */
export function yScaleType({ yScale, yUnit, scale = null }) {
  const configured = yScale ?? "linear";
  if (scale === null) return configured;
  if (scale === "linear") return "linear";
  if (isLogarithmic(configured)) return configured;
  return yUnit === "ratio" ? "log2" : "logarithmic";
}

/** Which axis of a chart its series and categories are along: "y" in a chart that lies on its side. */
export function indexAxisOf(chart) {
  return chart.options.indexAxis === "y" ? "y" : "x";
}

const OTHER_AXIS = { x: "y", y: "x" };

/** What belongs to x and y, for a chart that lies on its side: a point, or the options of its scales. Pure. */
export function turned(pair) {
  return Object.fromEntries(Object.entries(pair).map(([axis, of]) => [OTHER_AXIS[axis] ?? axis, of]));
}

/** Charts without axes. */
const AXISLESS = ["pie", "doughnut", "polarArea", "radar"];

/** Whether a chart of this type has an x and a y axis. Pure. */
export function hasAxes(chartType) {
  return !AXISLESS.includes(chartType);
}

/**
 * The options with the scales that the page set itself: those of the plugin's option `scales` win. Pure.
 * @param {object} settings options of the plugin
 * @param {Record<string, object>} own
 * @param {"x"|"y"} [valueAxis]   the axis of the values
 */
export function withOwnScales(settings, own, valueAxis = "y") {
  const given = settings.scales ?? {};
  const scales = Object.keys(own).length ? merge({}, [own, given]) : given;
  const { type } = scales[valueAxis] ?? {};
  const yScale = type && settings.yScale === "linear" ? type : settings.yScale;
  return { ...settings, yScale, scales };
}

/** The x unit: the setting, else what the file says, else what the axis title suggests. */
export function xUnitOf(model, settings) {
  return settings.xUnit ?? model.xUnit ?? unitOfAxis(model.xLabel);
}

/**
 * Chart.js `scales` for a model: x as `xScaleType` says with ticks at the model's own x values where these are
 * few powers of two, y from zero (`settings.yScale`: "linear", "logarithmic" or "log2"), few grid lines, ticks in
 * units. Pure but for the callbacks that Chart.js calls.
 *
 * @param {import("./table.js").Model} model
 * @param {string} chartType
 * @param {object} settings options of the plugin
 * @param {{text: string, grid: string, font: object}} theme computed colours and font
 * @param {{isLying?: boolean}} [chart]   whether the values are along the horizontal axis
 */
export function scalesFor(model, chartType, settings, theme, { isLying = false } = {}) {
  const { prefix } = settings;
  const xUnit = xUnitOf(model, settings);
  const xType = xScaleType(model, chartType, settings);
  const x = { type: xType, ...looksOf(theme) };
  x.grid.display = false;
  x.title.text = settings.xTitle ?? (model.kind === "wide" ? model.xLabel : "");
  x.title.display = x.title.text !== "";
  if (xType === "category") {
    if (typeof model.xs[0] === "number") {
      x.ticks.callback = function label(index) {
        return formatTick(Number(this.getLabelForValue(index)), xUnit, { prefix });
      };
    }
  } else if (xType === DATE) {
    const { parse, ...told } = momentsIn(model);
    Object.assign(x, { bounds: "data", parser: parse, ...told });
  } else if (["linear", "logarithmic", "log2"].includes(xType)) {
    x.bounds = "data";
    x.ticks.callback = (value) => formatTick(value, xUnit, { prefix });
    if (xType === "log2" && model.xs.length <= OWN_TICKS)
      x.ticks.values = [...model.xs].sort((a, b) => a - b);
    if (xType === "linear") {
      x.ticks.callback = labelsApart(xUnit, prefix);
      x.ticks.stepSize = stepOf(xUnit, prefix, X_STEPS);
      x.afterBuildTicks =
        xUnit === "count" && model.xs.length <= OWN_TICKS
          ? ticksAt(model.xs)
          : roundTicks(stepOf(xUnit, prefix, X_STEPS));
    }
  }

  return { x, y: valueScale(settings, theme, { horizontal: isLying }) };
}

/** The looks of every axis. */
export function looksOf(theme) {
  return {
    ticks: { color: theme.text, font: theme.font, maxRotation: 0, autoSkipPadding: 12 },
    grid: { color: theme.grid, tickColor: theme.grid },
    border: { color: theme.grid },
    title: { color: theme.text, font: theme.font },
  };
}

/**
 * The scale of an axis with measured values: from zero, or logarithmic as `settings` say, with few grid lines and ticks in
 * units.
 * @param {object} settings   options of the plugin
 * @param {object} theme   computed colours and font
 * @param {{unit?: string|null, type?: string, title?: string|null, horizontal?: boolean}} [axis]   by default the y axis
 */
export function valueScale(settings, theme, axis = {}) {
  const { prefix } = settings;
  const { unit = settings.yUnit, type = yScaleType(settings), title = settings.yTitle } = axis;
  const scale = { type, ...looksOf(theme) };
  scale.title.text = title ?? "";
  scale.title.display = scale.title.text !== "";
  // Sizes along x are read as 4K … 4M; an amount of bytes is not known as one without its unit.
  scale.ticks.callback = function label(value) {
    if (unit === "bytes" && value !== 0) return formatValue(value, "bytes");
    return formatTick(value, unit, { prefix, ...(type === "linear" && this ? { of: this.max } : {}) });
  };
  scale.ticks.maxTicksLimit = Y_TICKS;
  // Marks at the edge of the plot keep off the figures.
  if (!axis.horizontal) scale.ticks.padding = 8;
  if (type === "log2") scale.ticks.between = true;
  if (type === "linear") {
    scale.beginAtZero = true;
    scale.ticks.stepSize = stepOf(unit, prefix, 5);
    // If values lie on both sides of 0, people compare them with it.
    const isMiddle = ({ tick, scale: drawn }) => tick?.value === 0 && drawn.min < 0 && drawn.max > 0;
    scale.grid.color = (context) => (isMiddle(context) ? theme.text : theme.grid);
    scale.grid.lineWidth = (context) => (isMiddle(context) ? 2 : 1);
  }
  if (type === "logarithmic") {
    scale.afterBuildTicks = (drawn) => {
      drawn.ticks = decadeTicks(drawn.ticks.map(({ value }) => value)).map((value) => ({ value }));
    };
  }
  scale.border.display = false;
  // Chart.js gives an axis a fixed share of the width, and cuts off labels that need more.
  if (!axis.horizontal)
    scale.beforeFit = (drawn) => {
      drawn.maxWidth = Math.max(drawn.maxWidth, drawn.chart.width / 2);
    };
  return scale;
}

/** The options of a y axis that are valid only for the type of scale they were written for. */
const OF_ONE_TYPE = ["type", "bounds", "beginAtZero", "suggestedMin", "suggestedMax", "afterBuildTicks"];

/**
 * The page's scale options, without what would break a y axis that the reader turned from linear to logarithmic or
 * back. Pure.
 * @param {Record<string, object>|null} scales
 * @param {object} settings options of the plugin
 */
export function scalesNow(scales, settings) {
  const type = yScaleType(settings);
  if (!scales?.y || type === yScaleType({ ...settings, scale: null })) return scales ?? {};
  const { ticks, ...y } = scales.y;
  for (const key of OF_ONE_TYPE) delete y[key];
  if (isLogarithmic(type)) for (const key of ["min", "max"]) if (y[key] <= 0) delete y[key];
  if (ticks) {
    y.ticks = { ...ticks };
    for (const key of ["stepSize", "values", "callback"]) delete y.ticks[key];
  }
  return { ...scales, y };
}

/** Labels of ticks, in full if neighbours look alike in few digits, as seconds since 1970 do. */
function labelsApart(unit, prefix) {
  const short = (value) => formatTick(value, unit, { prefix });
  const ends = { null: "", count: "", seconds: " s" }[unit];
  return (value, at, ticks = []) => {
    const label = short(value);
    const isAlike = (tick) => tick !== undefined && short(tick.value) === label;
    if (ends === undefined || ![ticks[at - 1], ticks[at + 1]].some(isAlike)) return label;
    return `${value}${ends}`.replace(/^-/, "\u2212");
  };
}

/** Ticks at what was counted: 1, 2, 4, 8 clients, and not at 6. */
function ticksAt(xs) {
  return (scale) => {
    scale.ticks = xs.filter((x) => x >= scale.min && x <= scale.max).map((value) => ({ value }));
  };
}

/**
 * Ticks at multiples of the step. Chart.js counts from the first value: 0.5 s, 4.5 s, 8.5 s. Where the page set the step, or
 * the axis ends at ticks, Chart.js' own are round already.
 */
function roundTicks(stepOfScale) {
  return (scale) => {
    const { bounds, ticks } = scale.options;
    if (bounds === "ticks") return;
    const given = ticks.stepSize;
    const step = typeof given === "number" && given > 0 ? given : stepOfScale({ scale });
    scale.ticks = multiplesOf(step, scale.min, scale.max).map((value) => ({ value }));
  };
}

/** 0.5, 9, step 2 → 2, 4, 6, 8. Pure. */
export function multiplesOf(step, min, max) {
  const first = Math.ceil(min / step - 1e-9);
  const last = Math.floor(max / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
}

/** A scriptable stepSize: round in the unit that ticks are written in. */
function stepOf(unit, prefix, ticks) {
  return ({ scale }) => niceStep(scale.max - scale.min, unit, { prefix, ticks });
}

/** Which multiples of a power of ten get a tick, the best choice first. */
const MANTISSAS = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 5], [1, 2, 5], [1, 3], [1]];

/** A few of the ticks of a decimal log axis, spread evenly over its decades. Pure. */
export function decadeTicks(values, limit = Y_TICKS) {
  const mantissaOf = (value) => value / 10 ** Math.floor(Math.log10(value) + 1e-9);
  let ticks = values;
  for (const mantissas of MANTISSAS) {
    ticks = values.filter((value) =>
      mantissas.some((mantissa) => Math.abs(mantissaOf(value) - mantissa) < 1e-6),
    );
    if (ticks.length <= limit) return ticks;
  }
  const stride = Math.ceil(ticks.length / limit);
  return ticks.filter((_, i) => i % stride === 0);
}
