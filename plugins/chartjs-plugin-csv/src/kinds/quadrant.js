/**
 * `quadrant`: what is lost against what is paid. A series for each way, its columns in this order (`roles`): `x`, `y` of the
 * typical, `tail`, and `to`, the x that it has in another state, to which an arrow leads. Typical and tail stand above each
 * other, full and hollow. Bounds of x are a bar to the median, those of y an interval. `ends: {zero, infinite}` give the x axis
 * a place for nothing and one for everything, apart from its scale. `bets` are names that a click places in the empty chart
 * (`bet: true`), and that stay in the page for every other chart with the same ones.
 */

import { Chart, LogarithmicScale } from "chart.js";
import { decadeTicks, valueScale, yScaleType } from "../axes.js";
import { csvOf } from "../plugin.js";
import { resolveColor } from "../style.js";
import { rowTable, valueCell } from "../tables.js";
import { formatTick, formatValue, short } from "../units.js";
import {
  HIDING,
  KindController,
  ROWS,
  bothInWords,
  emOf,
  isEmphasised,
  marksOf,
  shownIn,
  tellSeries,
  themeOf,
} from "./base.js";
import { arrow, drawMark, stroke } from "./pen.js";

const ROLES = ["x", "y", "tail", "to"];
/** The name of a way's arrow among what a slide reveals. */
export const arrowOf = (name) => `${name} →`;
/** The shares of an axis that nothing and everything take. */
const END = { zero: 0.11, infinite: 0.15 };
/** Seconds. */
const FRAME = { low: 0.7, high: 120 };
/** Seconds that people know; an axis of other units has decades. */
const KNOWN = [0.001, 0.01, 0.1, 1, 5, 15, 60, 300, 900, 3600, 86400];
const PAIR = { width: 0.26, alpha: 0.38 };
const RANGE = { width: 0.22, alpha: 0.45 };
const INTERVAL = 0.12;
const ARROW = 0.34;
const BET = 1.5;
const NAME = { usual: 1.15, strong: 1.35 };
const FIGURE = { tip: 2, sub: 1.1 };

/** Its types name one that Chart.js does not export. @type {any} */
const Logarithmic = LogarithmicScale;

/** A logarithmic axis with a place before it for nothing, and one behind it for everything. */
class BrokenScale extends Logarithmic {
  static id = "broken";
  /** @type {any} */
  static defaults = LogarithmicScale.defaults;

  get #ends() {
    const { zero, infinite } = this.options.ends ?? {};
    const isShort = (this.isHorizontal() ? this.width : this.height) < 420;
    const more = isShort ? 1.5 : 1;
    return { head: zero ? END.zero * more : 0, tail: infinite ? END.infinite * more : 0 };
  }

  getPixelForDecimal(decimal) {
    const { head, tail } = this.#ends;
    return super.getPixelForDecimal(head + decimal * (1 - head - tail));
  }

  getPixelForValue(value) {
    const { head, tail } = this.#ends;
    if (value === 0 && head > 0) return super.getPixelForDecimal(head / 2);
    if (value === Infinity) return tail > 0 ? super.getPixelForDecimal(1 - tail / 2) : NaN;
    return super.getPixelForValue(value);
  }

  getValueForPixel(pixel) {
    const { head, tail } = this.#ends;
    const decimal = this.getDecimalForPixel(pixel);
    if (decimal < head) return 0;
    if (decimal > 1 - tail) return Infinity;
    return 10 ** (this._startValue + ((decimal - head) / (1 - head - tail)) * this._valueRange);
  }

  /** Where the axis is broken, px. */
  get breaks() {
    const { head, tail } = this.#ends;
    return [...(head ? [head] : []), ...(tail ? [1 - tail] : [])].map((at) => super.getPixelForDecimal(at));
  }

  buildTicks() {
    const { values } = this.options.ticks;
    const within = (value) => value >= this.min * 0.999 && value <= this.max * 1.001;
    const built = super.buildTicks();
    const known = (values ?? []).filter(within);
    const ticks =
      known.length > 1
        ? known.map((value) => ({ value }))
        : decadeTicks(built.map(({ value }) => value)).map((value) => ({ value }));
    const { head, tail } = this.#ends;
    return [...(head ? [{ value: 0 }] : []), ...ticks, ...(tail ? [{ value: Infinity }] : [])];
  }
}

/** Bets that were placed on this page: name → {x, y} in the units of the axes. */
const bets = new Map();

class QuadrantController extends KindController {
  static id = "quadrant";
  static parts = [...KindController.parts, BrokenScale];

  static key(chart) {
    const { settings, entries, model } = csvOf(chart);
    const titleOf = (role) => String(model.xs[rolesOf(settings).indexOf(role)]);
    const hasTail = entries.some(({ points }) => points.some(({ role }) => role === "tail"));
    const isShown = marksIn(chart).length > 0;
    const placed = (settings.bets ?? []).some((name) => bets.has(name));
    return {
      title: chart.options.indexAxis === "y" ? settings.xTitle : settings.yTitle,
      items: [
        ...(hasTail && isShown
          ? [
              { text: titleOf("y"), style: "full", shape: "square" },
              { text: titleOf("tail"), style: "hollow", shape: "square" },
            ]
          : []),
        ...(settings.bet
          ? settings.bets.map((text) => ({
              text,
              style: "dashed",
              color: betColor(chart, text),
              shape: "square",
            }))
          : placed
            ? [{ text: settings.betsName ?? "your bets", style: "dashed", shape: "square" }]
            : []),
      ],
    };
  }

  static behind(chart) {
    const { ctx, chartArea } = chart;
    const { text } = themeOf(chart);
    for (const scale of Object.values(chart.scales)) {
      for (const at of scale.breaks ?? []) {
        const isX = scale.isHorizontal();
        const slash = (off) =>
          isX
            ? [
                { x: at + off - 4, y: chartArea.bottom + 7 },
                { x: at + off + 4, y: chartArea.bottom - 7 },
              ]
            : [
                { x: chartArea.left - 7, y: at + off + 4 },
                { x: chartArea.left + 7, y: at + off - 4 },
              ];
        for (const off of [-4, 5]) stroke(ctx, ...slash(off), { color: text, width: 2 });
      }
    }
  }

  static above(chart) {
    const { lost, page, ink } = themeOf(chart);
    const em = emOf(chart);
    for (const controller of shownIn(chart)) {
      const found = controller.arrow;
      if (found) arrow(chart.ctx, found.from, found.to, { color: lost, width: ARROW * em, page });
    }
    for (const { name, x, y } of betsIn(chart))
      drawMark(chart.ctx, {
        x,
        y,
        size: BET * em,
        style: "dashed",
        color: betColor(chart, name) ?? ink,
        page,
      });
  }

  static obstacles(chart) {
    const half = (BET * emOf(chart)) / 2;
    return betsIn(chart).map(({ x, y }) => ({
      ...{ left: x - half, right: x + half, top: y - half, bottom: y + half },
      cost: HIDING,
    }));
  }

  /** Names of bets. */
  static labels(chart) {
    const em = emOf(chart);
    return betsIn(chart).map(({ name, x, y }) => ({
      lines: [{ text: name, weight: 400, color: themeOf(chart).ink }],
      at: { x, y, reach: (BET * em) / 2 },
      sides: ["right", "left", "above", "below"],
      importance: -1,
    }));
  }

  static press(chart, { x, y }) {
    const { settings } = csvOf(chart);
    if (!settings.bet || !chart.isPointInArea({ x, y })) return false;
    const reach = BET * emOf(chart);
    const hit = betsIn(chart).find((one) => Math.hypot(one.x - x, one.y - y) < reach);
    if (hit) bets.delete(hit.name);
    else {
      const next = settings.bets.find((name) => !bets.has(name));
      if (!next) return false;
      bets.set(next, { x: chart.scales.x.getValueForPixel(x), y: chart.scales.y.getValueForPixel(y) });
    }
    for (const other of Object.values(Chart.instances))
      if (other.config.type === QuadrantController.id) other.update("none");
    return true;
  }

  place({ x, y, role, xBound, low, high }) {
    if (role === "to") {
      // Until then it waits where the arrow begins, which grows from there.
      const from = this.#showsArrow ? x : this.entry.points[0].x;
      return { ...this.at(this.along(from), this.across(y)), style: "none", inert: !this.#showsArrow };
    }
    const size = this.csv.theme.font.size * 1.15;
    return {
      ...this.at(this.along(x), this.across(y)),
      size,
      style: role === "tail" ? "hollow" : "full",
      bound: Number.isFinite(xBound) ? this.along(xBound) : null,
      interval: Number.isFinite(low) && Number.isFinite(high) ? [this.across(low), this.across(high)] : null,
    };
  }

  get #showsArrow() {
    const { shown } = this.csv.settings;
    return !shown || shown.includes(arrowOf(this.entry.name));
  }

  /** From the middle of the pair to its place in the other state; null if the two are too close to be told apart. */
  get arrow() {
    const elements = this._cachedMeta.data;
    const { points } = this.entry;
    const tip = elements[points.findIndex(({ role }) => role === "to")];
    const own = elements.find(({ skip, style }) => !skip && style !== "none");
    if (!tip || tip.skip || !own) return null;
    const from = this.isFlipped ? { x: tip.x, y: own.y } : { x: own.x, y: tip.y };
    if (Math.hypot(tip.x - from.x, tip.y - from.y) < 3 * own.size) return null;
    const away =
      Math.sign((this.isFlipped ? tip.y : tip.x) - (this.isFlipped ? from.y : from.x)) * own.size * 0.5;
    return {
      from: this.isFlipped ? { ...from, y: from.y + away } : { ...from, x: from.x + away },
      to: { x: tip.x, y: tip.y },
    };
  }

  obstacles() {
    const marks = marksOf(this).filter(({ style }) => style !== "none");
    const box = (from, to, cost) => ({
      ...{ left: Math.min(from.x, to.x) - 3, right: Math.max(from.x, to.x) + 3 },
      ...{ top: Math.min(from.y, to.y) - 3, bottom: Math.max(from.y, to.y) + 3, cost },
    });
    const found = this.arrow;
    return [
      ...(marks.length > 1 ? [box(marks[0], marks.at(-1), 6)] : []),
      ...marks.flatMap((mark) => [
        ...(mark.interval ? mark.interval.map((end) => box(mark, this.#across(mark, end), 5)) : []),
        ...(mark.bound === null || mark.bound === undefined
          ? []
          : [box(mark, this.#along(mark, mark.bound), 6)]),
      ]),
      ...(found ? [box(found.from, found.to, 20)] : []),
    ];
  }

  #across(mark, px) {
    return this.isFlipped ? { x: px, y: mark.y } : { x: mark.x, y: px };
  }

  #along(mark, px) {
    return this.isFlipped ? { x: mark.x, y: px } : { x: px, y: mark.y };
  }

  draw() {
    const ctx = this._ctx;
    const { color } = this;
    const marks = marksOf(this).filter(({ style }) => style !== "none");
    if (marks.length > 1)
      stroke(ctx, marks[0], marks.at(-1), { color, width: PAIR.width * marks[0].size, alpha: PAIR.alpha });
    for (const mark of marks) {
      const { size, interval, bound } = mark;
      if (bound !== null && bound !== undefined)
        stroke(ctx, this.#along(mark, bound), mark, { color, width: RANGE.width * size, alpha: RANGE.alpha });
      if (interval)
        stroke(ctx, ...interval.map((end) => this.#across(mark, end)), { color, width: INTERVAL * size });
    }
    super.draw();
  }

  labels() {
    const { settings } = this.csv;
    const { name, label, points } = this.entry;
    const { lost } = themeOf(this.chart);
    const marks = marksOf(this).filter(({ style }) => style !== "none");
    if (marks.length === 0) return [];
    const top = marks.reduce((high, mark) => (mark.y < high.y ? mark : high));
    const size = isEmphasised(settings, name) ? NAME.strong : NAME.usual;
    const title = { text: label, size, weight: 700, color: this.color };
    const figures = { text: figuresOf(points, settings), weight: 400, color: this.color };
    const found = this.arrow;
    const tip = points.find(({ role }) => role === "to");
    return [
      {
        lines: [title, figures],
        brief: [title],
        at: { ...top, reach: top.size / 2 },
        sides: ["right", "above", "left", "below"],
        importance: isEmphasised(settings, name) ? 2 : 1,
      },
      ...(found
        ? [
            {
              lines: [
                { text: short(tip.x, settings.xUnit, settings), size: FIGURE.tip, weight: 700, color: lost },
                ...(settings.arrow
                  ? [{ text: settings.arrow, size: FIGURE.sub, weight: 600, color: lost }]
                  : []),
              ],
              brief: [
                { text: short(tip.x, settings.xUnit, settings), size: FIGURE.sub, weight: 700, color: lost },
              ],
              at: { ...found.to, reach: 4 },
              sides: ["right", "above", "below"],
              importance: 3,
            },
          ]
        : []),
    ];
  }
}

/** "61 s · 3 and 152 ms" */
function figuresOf(points, { xUnit, yUnit, ...format }) {
  const values = points.filter(({ role }) => role !== "to").map(({ y }) => short(y, yUnit, format));
  const { x } = points[0];
  const [first, second] = values;
  const joined = second === undefined ? first : bothInWords(first, second);
  // The axis says what is lost at its ends.
  return Number.isFinite(x) ? `${short(x, xUnit, format)} · ${joined}` : joined;
}

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

function rolesOf({ roles }) {
  return roles ?? ROLES;
}

function marksIn(chart) {
  return shownIn(chart).flatMap(marksOf);
}

/** The bets that this chart shows, in px. */
function betsIn(chart) {
  const { settings } = csvOf(chart);
  const { x, y } = chart.scales;
  return (settings.bets ?? [])
    .filter((name) => bets.has(name))
    .map((name) => ({
      name,
      x: x.getPixelForValue(bets.get(name).x),
      y: y.getPixelForValue(bets.get(name).y),
    }))
    .filter((one) => Number.isFinite(one.x) && Number.isFinite(one.y));
}

/** A bet has the colour that the page gives to its name, if any. */
function betColor(chart, name) {
  const { styles } = csvOf(chart).settings;
  return Object.hasOwn(styles ?? {}, name) ? resolveColor(chart.canvas, styles[name].color) : undefined;
}

export default {
  id: QuadrantController.id,
  controller: QuadrantController,
  defaults: () => ({ yScale: "logarithmic", bands: false, ...ROWS }),

  /** A way's columns → its points in the plot. A way without x or y has none, and is named below the chart. */
  marks(model, settings) {
    const roles = rolesOf(settings);
    return model.series.map(({ name, points }) => {
      const of = (role) => points[roles.indexOf(role)];
      const [x, y, tail, to] = ROLES.map(of);
      if (!isThere(x) || !isThere(y)) return { name, points: [] };
      const typical = { ...y, x: x.y, role: "y", xBound: x.low ?? null };
      const middle = isThere(tail) ? Math.sqrt(Math.max(y.y, 0) * tail.y) || tail.y / 2 : y.y;
      return {
        name,
        points: [
          typical,
          ...(isThere(tail) ? [{ ...tail, x: x.y, role: "tail" }] : []),
          ...(isThere(to) ? [{ ...to, x: to.y, y: middle, low: null, high: null, role: "to" }] : []),
        ],
      };
    });
  },

  parts(model, settings) {
    const at = rolesOf(settings).indexOf("to");
    return model.series.filter(({ points }) => isThere(points[at])).map(({ name }) => arrowOf(name));
  },

  notes(model, settings) {
    const roles = rolesOf(settings);
    const lacking = model.series.filter(
      ({ name, points }) =>
        (settings.series?.includes(name) ?? true) &&
        !(isThere(points[roles.indexOf("x")]) && isThere(points[roles.indexOf("y")])),
    );
    return lacking.length ? [`Not measured here: ${lacking.map(({ name }) => name).join("; ")}.`] : [];
  },

  options(given) {
    const { settings, theme, flipped, entries } = given;
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
    const value = valueScale(settings, theme, {
      type,
      horizontal: flipped,
      ...(flipped ? {} : { title: null }),
    });
    if (type === "broken") value.ends = { zero: "0" };
    Object.assign(value.border, { display: true, color: theme.text, width: 2 });
    return { index, value };
  },

  sentence(model, say) {
    const roles = rolesOf(say.settings);
    const { xUnit, ends } = say.settings;
    const lost = (value) =>
      value === Infinity ? (ends?.infinite ?? "everything") : formatValue(value, xUnit, say.settings);
    return tellSeries("Quadrant", model, say, ({ points }) => {
      const [x, y, tail, to] = ROLES.map((role) => points[roles.indexOf(role)]);
      if (!isThere(x) || !isThere(y)) return "not measured";
      const titles = ROLES.map((role) => model.xs[roles.indexOf(role)]);
      return [
        `${titles[0]} ${lost(x.y)}`,
        `${titles[1]} ${say.y(y.y)}`,
        isThere(tail) && `${titles[2]} ${say.y(tail.y)}`,
        isThere(to) && `${titles[3]} ${lost(to.y)}`,
      ]
        .filter(Boolean)
        .join(", ");
    });
  },

  table(chart) {
    const { model, axes, settings } = chart;
    const roles = rolesOf(settings ?? {});
    return rowTable(
      chart,
      model.xs.map((x, index) => {
        const isLoss = ["x", "to"].includes(roles[index]);
        const unit = isLoss ? axes.xUnit : axes.yUnit;
        const cell = ({ points }) =>
          points[index]?.y === Infinity
            ? { value: null, text: settings?.ends?.infinite ?? "everything", detail: null }
            : valueCell(points[index], { ...axes, yUnit: unit });
        return { title: String(x), cell };
      }),
    );
  },

  tell: (point, { settings, ...say }) => {
    const lost =
      point.x === Infinity
        ? (settings.ends?.infinite ?? "everything")
        : formatValue(point.x, settings.xUnit, settings);
    return point.role === "to" ? `${lost} in the other state` : `${lost}, ${say.y(point.y)}`;
  },
};

function isThere(point) {
  return point !== undefined && point !== null && point.y !== null && point.y !== undefined;
}
