/**
 * `quadrant`: what is lost against what is paid. A series for each way, its columns in this order: x, y of the typical, its tail,
 * and x in another state, to which an arrow leads. Typical and tail stand above each other, full and hollow. Bounds of x are a
 * bar to the median, those of y an interval. `ends: {zero, infinite}` give the x axis a place for nothing and one for everything,
 * apart from its scale. `bets` are names that a click places in the empty chart (`bet: true`), and that stay in the page for
 * every other chart with the same ones.
 */

import { valueScale, yScaleType } from "../axes.js";
import { formatTick, formatValue } from "../units.js";
import { ROWS, tellSeries } from "./base.js";
import { YOURS } from "./bets.js";
import { QuadrantController } from "./quadrant-controller.js";
import { ROLES, arrowOf, columnsOf, hasPlace, isThere, pointsOf, waysWithArrow } from "./ways.js";

/** Seconds that the x axis shows at least. */
const FRAME = { low: 0.7, high: 120 };
/** Seconds that people know; an axis of other units has decades. */
const KNOWN = [0.001, 0.01, 0.1, 1, 5, 15, 60, 300, 900, 3600, 86400];

/** How far the x axis reaches: with seconds at least so far with any data, so that a frame stays where it is. */
function frameOf(entries, xUnit) {
  const xs = entries
    .flatMap(({ points }) => points.map(({ x }) => x))
    .filter((x) => x > 0 && Number.isFinite(x));
  const known = xUnit === "seconds" ? FRAME : { low: Infinity, high: 0 };
  if (xs.length === 0 && xUnit !== "seconds") return {};
  return {
    suggestedMin: Math.min(known.low, ...xs.map((x) => x / 1.3)),
    suggestedMax: Math.max(known.high, ...xs.map((x) => x * 1.15)),
  };
}

function lossInWords(value, settings) {
  const { xUnit, ends } = settings;
  return value === Infinity ? (ends?.infinite ?? "everything") : formatValue(value, xUnit, settings);
}

export default {
  id: QuadrantController.id,
  controller: QuadrantController,
  /** The ways of the first file, and those that only a further one has. */
  join: ([first, ...further]) => {
    const known = new Set(first.series.map(({ name }) => name));
    const added = further.flatMap(({ series }) => series.filter(({ name }) => !known.has(name)));
    return { ...first, series: [...first.series, ...added] };
  },
  defaults: () => ({ yScale: "logarithmic", bands: false, ...ROWS }),

  /** A way's columns → its points in the plot. A way without x or y has none, and is named below the chart. */
  marks(model) {
    const withArrow = waysWithArrow(model.series);
    const isDrawn = (way, { role }) => role !== "to" || withArrow.includes(way);
    return model.series.map((way) => ({
      name: way.name,
      points: pointsOf(way).filter((point) => isDrawn(way, point)),
    }));
  },

  parts: (model, { bets, bet } = {}) => [
    ...waysWithArrow(model.series).map(({ name }) => arrowOf(name)),
    ...(bets && !bet ? [YOURS] : []),
  ],

  notes(model, settings) {
    const lacking = model.series.filter(
      (way) => (settings.series?.includes(way.name) ?? true) && !hasPlace(columnsOf(way)),
    );
    return lacking.length ? [`Not measured here: ${lacking.map(({ name }) => name).join("; ")}.`] : [];
  },

  options({ settings, theme, flipped, entries }) {
    const { xUnit, xTitle, ends, prefix } = settings;
    const looks = { unit: xUnit, type: "broken", title: flipped ? null : xTitle, horizontal: !flipped };
    const index = valueScale(settings, theme, looks);
    delete index.beforeFit;
    const name = (value) =>
      value === 0
        ? (ends?.zero ?? "0")
        : value === Infinity
          ? (ends?.infinite ?? "all")
          : formatTick(value, xUnit, { prefix });
    Object.assign(index.ticks, {
      callback: name,
      autoSkipPadding: 6,
      ...(xUnit === "seconds" ? { values: KNOWN } : {}),
    });
    Object.assign(index, {
      ...frameOf(entries, xUnit),
      ends: ends ?? {},
      grid: { display: false },
      border: { display: true, color: theme.text, width: 2 },
    });
    const paysNothing = entries.some(({ points }) => points.some(({ y }) => y === 0));
    const isLinear = settings.scale === "linear";
    const type = !isLinear && paysNothing ? "broken" : yScaleType(settings);
    const title = flipped ? settings.yTitle : null;
    const value = valueScale(settings, theme, { type, horizontal: flipped, title });
    if (type === "broken") value.ends = { zero: "0" };
    Object.assign(value.border, { display: true, color: theme.text, width: 2 });
    return { index, value };
  },

  sentence(model, say) {
    const { settings } = say;
    const titleOf = (role) => model.xs[ROLES.indexOf(role)];
    return tellSeries("Quadrant", model, say, (way) => {
      const { x, y, tail, to } = columnsOf(way);
      if (!hasPlace({ x, y })) return "not measured";
      return [
        `${titleOf("x")} ${lossInWords(x.y, settings)}`,
        `${titleOf("y")} ${say.y(y.y)}`,
        isThere(tail) && `${titleOf("tail")} ${say.y(tail.y)}`,
        isThere(to) && `${titleOf("to")} ${lossInWords(to.y, settings)}`,
      ]
        .filter(Boolean)
        .join(", ");
    });
  },

  table(chart, { rowTable, textCell, valueCell }) {
    const { model, axes } = chart;
    const settings = chart.settings ?? {};
    return rowTable(
      chart,
      model.xs.map((x, index) => {
        const isLoss = ["x", "to"].includes(ROLES[index]);
        const unit = isLoss ? axes.xUnit : axes.yUnit;
        const cell = ({ points }) =>
          points[index]?.y === Infinity
            ? textCell(lossInWords(Infinity, settings))
            : valueCell(points[index], { ...axes, yUnit: unit });
        return { title: String(x), cell };
      }),
    );
  },

  tell: (point, { settings, ...say }) => {
    const lost = lossInWords(point.x, settings);
    return point.role === "to" ? `${lost} in the other state` : `${lost}, ${say.y(point.y)}`;
  },
};
