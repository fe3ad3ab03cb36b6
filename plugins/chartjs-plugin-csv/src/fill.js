import { registry } from "chart.js";
import { merge, toFont } from "chart.js/helpers";
import { hasAxes, indexAxisOf, scalesFor, scalesNow, turned, yScaleType } from "./axes.js";
import { dataFor, dataOfKind } from "./datasets.js";
import { choiceOf, entriesOf, inOrder } from "./entries.js";
import { kindOf } from "./kinds.js";
import { wrapLabel } from "./labels-layout.js";
import { Log2Scale } from "./log2-scale.js";
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
  const kind = kindOf(type);
  const isLying = !kind && indexAxisOf(chart) === "y";
  const drawn = (data) =>
    kind ? { ...data, series: inOrder(kind.marks?.(data, settings) ?? data.series, settings) } : data;
  const entries = entriesOf(drawn(model), second && { ...second, model: drawn(second.model) });
  const names = entries.map(({ name }) => name);
  const lookOf = looksAt(chart.canvas, names, settings, { faded: second !== null });
  const given = { existing, overrides: settings.datasets, own: own.overrides, entries };
  chart.data = kind
    ? dataOfKind(lookOf, given)
    : dataFor(model, type, lookOf, {
        ...given,
        lookOfPart: looksAt(chart.canvas, hasAxes(type) ? [] : model.xs.map(String), settings),
        otherXs: second?.model.xs,
        positive: isLogarithmic(yScaleType(settings)),
        unseen,
        quiet: quietIn(settings),
        lineFrom: settings.lineFrom,
        isLying,
      });
  chart.options.parsing = own.drawn.length > 0 || chart.data.datasets.some((dataset) => dataset.parsing);
  chart.data.datasets.push(...own.drawn);
  if (settings.axes !== false && hasAxes(type)) {
    const turn = (byAxis) => (isLying ? turned(byAxis) : byAxis);
    // As if the chart stood upright; the result is turned.
    const scalesUpright = turn(settings.scales);
    const scales = kind
      ? scalesOfKind(kind, { chart, model, entries, settings, theme, colorOf: (name) => lookOf(name).color })
      : turn(scalesFor(model, type, { ...settings, scales: scalesUpright }, theme, { isLying }));
    const used = fitted(scales, turn(scalesNow(scalesUpright, settings)), room);
    if (Object.values(used).some(({ type: scale }) => scale === Log2Scale.id)) registry.addScales(Log2Scale);
    chart.options.scales = used;
  }
  return entries;
}

/** Whether a series recedes behind those that are emphasised. */
function quietIn({ emphasis }) {
  return (name) => Boolean(emphasis?.length) && !emphasis.includes(name);
}

function scalesOfKind(kind, { chart, entries, settings, ...given }) {
  const flipped = indexAxisOf(chart) === "y";
  const { about } = choiceOf(settings);
  const own = entries.filter(({ name }) => about(name));
  const { index, value } = kind.options({ ...given, settings, entries: own, flipped });
  return flipped ? { x: value, y: index } : { x: index, y: value };
}

/**
 * The plugin's scales with those of the page over them; the vertical one leaves the room that neighbours need, and the
 * title of the horizontal one has as many lines as it needs.
 */
function fitted(scales, own, room) {
  const { afterFit } = scales.y;
  scales.y.afterFit = (scale) => {
    afterFit?.(scale);
    scale.width = room.fit("left", scale.width);
  };
  const merged = merge(scales, own);
  const { beforeFit } = merged.x;
  merged.x.beforeFit = (scale) => {
    beforeFit?.(scale);
    wrapTitle(scale);
  };
  return merged;
}

/** Breaks the title of a horizontal axis at blanks; Chart.js would squeeze it. */
function wrapTitle({ options: { title }, ctx, maxWidth }) {
  if (!title.display) return;
  const text = [title.text].flat().join(" ");
  ctx.save();
  ctx.font = toFont(title.font).string;
  const lines = wrapLabel(text, maxWidth, (part) => ctx.measureText(part).width);
  ctx.restore();
  title.text = lines.length > 1 ? lines : text;
}
