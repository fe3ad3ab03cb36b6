import { formatTick, niceStep, unitOfAxis } from "./units.js";

/**
 * The type of the x axis for a model: `category` for labels and bars; `log2` for positive numbers that span a
 * factor of 8 in bytes; else `linear`. `settings.xScale` other than "auto" decides by itself. Pure.
 * @param {import("./table.js").Model} model
 */
export function xScaleType(model, chartType, settings) {
  const numeric = model.xs.every((x) => typeof x === "number");
  if (!numeric || chartType === "bar") return "category";
  if (settings.xScale && settings.xScale !== "auto") return settings.xScale;
  const unit = xUnitOf(model, settings);
  const [min, max] = extent(model.xs);
  return unit === "bytes" && min > 0 && max / min >= 8 ? "log2" : "linear";
}

/** The x unit: the setting, else what the axis title suggests. */
export function xUnitOf(model, settings) {
  return settings.xUnit ?? unitOfAxis(model.xLabel);
}

/** Smallest and largest of an array of any length (Math.min(...xs) overflows the stack at 100,000). */
function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
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
 */
export function scalesFor(model, chartType, settings, theme) {
  const { prefix } = settings;
  const xUnit = xUnitOf(model, settings);
  const common = () => ({
    ticks: { color: theme.text, font: theme.font, maxRotation: 0, autoSkipPadding: 12 },
    grid: { color: theme.grid, tickColor: theme.grid },
    border: { color: theme.grid },
    title: { color: theme.text, font: theme.font },
  });

  const xType = xScaleType(model, chartType, settings);
  const x = { type: xType, ...common() };
  x.grid.display = false;
  x.title.text = settings.xTitle ?? (model.kind === "wide" ? model.xLabel : "");
  x.title.display = x.title.text !== "";
  if (xType === "category") {
    if (typeof model.xs[0] === "number") {
      x.ticks.callback = function label(index) {
        return formatTick(Number(this.getLabelForValue(index)), xUnit, { prefix });
      };
    }
  } else {
    x.bounds = "data";
    x.ticks.callback = (value) => formatTick(value, xUnit, { prefix });
    if (xType === "log2" && model.xs.length <= 16) x.ticks.values = [...model.xs];
    if (xType === "linear") x.ticks.stepSize = stepOf(xUnit, prefix, 8);
    if (xType === "linear" && xUnit === "count" && model.xs.length <= 16)
      x.afterBuildTicks = ticksAt(model.xs);
  }

  const y = { type: settings.yScale ?? "linear", ...common() };
  y.title.text = settings.yTitle ?? "";
  y.title.display = y.title.text !== "";
  y.ticks.callback = (value) => formatTick(value, settings.yUnit, { prefix });
  y.ticks.maxTicksLimit = 7;
  if (y.type === "linear") {
    y.beginAtZero = true;
    y.ticks.stepSize = stepOf(settings.yUnit, prefix, 5);
  }
  if (y.type === "logarithmic") y.ticks.callback = decadeTicks(settings.yUnit, prefix);
  y.border.display = false;
  return { x, y };
}

/** Ticks at what was counted: 1, 2, 4, 8 clients, and not at 6. */
function ticksAt(xs) {
  return (scale) => {
    scale.ticks = xs.filter((x) => x >= scale.min && x <= scale.max).map((value) => ({ value }));
  };
}

/** A scriptable stepSize: round in the unit that ticks are written in. */
function stepOf(unit, prefix, ticks) {
  return ({ scale }) => niceStep(scale.max - scale.min, unit, { prefix, ticks });
}

/** On a decimal log axis only 1, 2 and 5 of each decade carry text. */
function decadeTicks(unit, prefix) {
  return (value) => {
    const mantissa = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
    return [1, 2, 5].some((m) => Math.abs(mantissa - m) < 1e-6) ? formatTick(value, unit, { prefix }) : "";
  };
}
