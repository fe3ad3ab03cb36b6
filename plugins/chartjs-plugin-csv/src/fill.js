import { merge } from "chart.js/helpers";
import { hasAxes, scalesFor, scalesNow, xScaleType, yScaleType } from "./axes.js";
import { dataFor } from "./datasets.js";
import { entriesOf } from "./entries.js";
import { isLogarithmic } from "./range.js";
import { looksAt } from "./style.js";

/**
 * Gives a chart the data and the scales of a model; the caller updates the chart.
 * @param {import("chart.js").Chart} chart
 * @param {{model: import("./table.js").Model, settings: object, theme: object, room: import("./room.js").Room,
 *          own: {drawn: object[], overrides: Function}, second: {model: import("./table.js").Model, label: string}|null, existing: object[]}} given
 *   own: the page's datasets; theme: computed colours and font; second: the second data set; existing: the datasets that it had before;
 *   unseen: something else is drawn in place of the values
 * @returns {import("./entries.js").Entry[]} what is drawn, one entry for each dataset
 */
export function fillChart(chart, { model, settings, theme, room, second, own, existing, unseen = false }) {
  const { type } = chart.config;
  const entries = entriesOf(model, second, thinningOf(model, settings, type));
  const names = entries.map(({ name }) => name);
  const lookOf = looksAt(chart.canvas, names, settings, { faded: second !== null });
  chart.data = dataFor(model, type, lookOf, {
    existing,
    overrides: settings.datasets,
    own: own.overrides,
    lookOfPart: looksAt(chart.canvas, hasAxes(type) ? [] : model.xs.map(String), settings),
    entries,
    otherXs: second?.model.xs,
    positive: isLogarithmic(yScaleType(settings)),
    unseen,
    quiet: quietIn(settings),
    lineFrom: settings.lineFrom,
  });
  chart.options.parsing = own.drawn.length > 0 || chart.data.datasets.some((dataset) => dataset.parsing);
  chart.data.datasets.push(...own.drawn);
  if (settings.axes !== false && hasAxes(type))
    chart.options.scales = scalesOf(model, type, settings, theme, room);
  return entries;
}

/** Whether a series recedes behind those that are emphasised. */
function quietIn({ emphasis }) {
  return (name) => Boolean(emphasis?.length) && !emphasis.includes(name);
}

function scalesOf(model, type, settings, theme, room) {
  const scales = scalesFor(model, type, settings, theme);
  scales.y.afterFit = (scale) => {
    scale.width = room.fit("left", scale.width);
  };
  return merge(scales, scalesNow(settings.scales, settings));
}

function thinningOf(model, settings, type) {
  if (settings.decimate === false || type !== "line") return null;
  const { min, max } = settings.scales?.x ?? {};
  return { logarithmic: isLogarithmic(xScaleType(model, type, settings)), min, max };
}
