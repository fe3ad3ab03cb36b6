/**
 * `response`: what a load gets and how long it waits. x is a measured quantity, usually operations a second; the points are
 * joined in the order of what was in flight. Two files, the values of y and those of x (`more`), are joined by series and
 * load; a long file has both. Beyond the knee, each point brings more waiting than work, compared with it; that is hatched.
 * `knee: X` puts it elsewhere, `knee: false` leaves it out.
 */

import { valueScale } from "../axes.js";
import { csvOf } from "../plugin.js";
import { distinctXs } from "../table.js";
import {
  KindController,
  boxesAlong,
  isEmphasised,
  isFlipped,
  marksOf,
  placesIn,
  shownIn,
  tellSeries,
  themeOf,
} from "./base.js";
import { hatch } from "./pen.js";

const LINE = 0.26;
const RING = 1.9;
const FIGURE = 1.2;

/**
 * The knee of a curve: with x the work and y the waiting, the point with the most work for its waiting. From there to any later
 * point, y grows by a larger factor than x, also if one step in between does not. Pure.
 * @param {{x: number, y: number|null}[]} points   in the order of the load
 * @returns {number|null} its position; null if it is the last one, and nothing lies beyond it
 */
export function kneeOf(points) {
  const worth = points.map(({ x, y }) => (x > 0 && y > 0 ? x / y : 0));
  const at = worth.indexOf(Math.max(...worth));
  return worth[at] > 0 && worth.slice(at + 1).some((ratio) => ratio > 0) ? at : null;
}

/** The position of the knee that a chart shows: where the page puts it, else where it is found. */
function shownKnee(points, { knee }) {
  if (knee === false) return null;
  if (!Number.isFinite(knee)) return kneeOf(points);
  const at = points.findIndex(({ x }) => x === knee);
  return at === -1 ? null : at;
}

class ResponseController extends KindController {
  static id = "response";
  static drawsRuns = true;

  static key(chart) {
    const { settings } = csvOf(chart);
    const [knee] = kneesIn(chart);
    return {
      title: isFlipped(chart) ? settings.xTitle : settings.yTitle,
      items: knee ? [{ text: "hatched: more waiting than work" }] : [],
    };
  }

  static behind(chart) {
    const { left, right, top, bottom } = chart.chartArea;
    const least = kneesIn(chart).reduce(
      (first, knee) => (first === null || knee.point.x < first.point.x ? knee : first),
      null,
    );
    if (!least) return;
    const { mark } = least;
    const beyond = isFlipped(chart)
      ? { left, right, top, bottom: mark.y }
      : { left: mark.x, right, top, bottom };
    hatch(chart.ctx, beyond, themeOf(chart).text, 0.3);
  }

  static above(chart) {
    const { ctx } = chart;
    ctx.save();
    ctx.strokeStyle = themeOf(chart).lost;
    for (const { mark } of kneesIn(chart)) {
      ctx.lineWidth = Math.max(2, mark.size * 0.16);
      ctx.beginPath();
      ctx.arc(mark.x, mark.y, (mark.size * RING) / 2, 0, 2 * Math.PI);
      ctx.stroke();
    }
    ctx.restore();
  }

  place({ x, y }) {
    return this.at(this.along(x), this.across(y));
  }

  /** The position of this curve's knee, or null. */
  get knee() {
    return shownKnee(this.entry.points, this.csv.settings);
  }

  obstacles() {
    const marks = marksOf(this);
    return marks.slice(1).flatMap((mark, index) => boxesAlong(marks[index], mark, 2));
  }

  draw() {
    const ctx = this._ctx;
    const marks = marksOf(this);
    ctx.save();
    Object.assign(ctx, {
      strokeStyle: this.color,
      lineWidth: LINE * (marks[0]?.size ?? 0),
      lineJoin: "round",
    });
    ctx.beginPath();
    for (const { x, y } of marks) ctx.lineTo(x, y);
    ctx.stroke();
    ctx.restore();
    super.draw();
  }

  labels() {
    const { settings } = this.csv;
    const { name, label, points } = this.entry;
    const elements = this._cachedMeta.data;
    const { lost } = themeOf(this.chart);
    const isOnly = shownIn(this.chart).length === 1;
    const last = points.findLastIndex((_, index) => !elements[index].skip);
    return points.flatMap((point, index) => {
      const mark = elements[index];
      if (mark.skip) return [];
      const isKnee = index === this.knee;
      const load = point.at === undefined ? null : String(point.at);
      const lines = [
        ...(isKnee
          ? [{ text: this.short(point.x, settings.xUnit), size: FIGURE, weight: 700, color: lost }]
          : []),
        ...(index === last && (!isOnly || isEmphasised(settings, name))
          ? [{ text: label, size: FIGURE, weight: 700, color: this.color }]
          : []),
        ...(load === null ? [] : [{ text: load, weight: 400 }]),
      ];
      if (lines.length === 0) return [];
      return {
        lines,
        brief: [lines[0]],
        sides: ["right", "above", "below", "left"],
        at: { ...mark, reach: (mark.size / 2) * (isKnee ? RING : 1) },
        importance: isKnee ? 3 : index === last ? 2 : 1,
      };
    });
  }
}

/** The knees on show, with their points and marks. */
function kneesIn(chart) {
  return shownIn(chart).flatMap((controller) => {
    const at = controller.knee;
    const mark = at === null ? null : controller._cachedMeta.data[at];
    return mark && !mark.skip ? [{ controller, mark, point: controller.entry.points[at] }] : [];
  });
}

export default {
  id: ResponseController.id,
  controller: ResponseController,

  /**
   * y of the first file against x of the second, series by series, in the order of the load, of all loads or those `at`; of
   * single runs, both of the same attempt.
   */
  join([waiting, work], { xTitle, at }) {
    const loads = placesIn(waiting, at);
    const keyOf = ({ x, block, attempt }) => JSON.stringify([x, block, attempt]);
    const series = waiting.series.map(({ name, points }) => {
      const others = work.series.find((candidate) => candidate.name === name)?.points ?? [];
      const workAt = new Map(others.map((point) => [keyOf(point), point.y]));
      return {
        name,
        points: points.flatMap((point) => {
          const x = loads.includes(point.x) ? workAt.get(keyOf(point)) : undefined;
          return Number.isFinite(x) ? [{ ...point, x, at: point.x }] : [];
        }),
      };
    });
    const xs = distinctXs(series.flatMap(({ points }) => points.map(({ x }) => x)));
    return {
      kind: "long",
      xLabel: xTitle ?? "x",
      xs,
      series: series.filter(({ points }) => points.length > 0),
    };
  },

  options({ settings, theme, flipped }) {
    const { xUnit, xTitle } = settings;
    const type = settings.xScale === "auto" ? "linear" : settings.xScale;
    const along = { unit: xUnit, type, title: flipped ? null : xTitle, horizontal: !flipped };
    const across = { horizontal: flipped, ...(flipped ? {} : { title: null }) };
    return { index: valueScale(settings, theme, along), value: valueScale(settings, theme, across) };
  },

  sentence(model, say) {
    return tellSeries("Response curve", model, say, ({ points }) => {
      const told = points.map((point) => `${say.y(point.y)} at ${say.x(point.x)}`);
      const knee = shownKnee(points, say.settings);
      return `${told.join(", ")}${knee === null ? "" : `, with the knee at ${say.x(points[knee].x)}`}`;
    });
  },

  table(chart, { figureCell, rowTable, seriesOf, textCell, valueCell }) {
    const { axes } = chart;
    const rows = seriesOf(chart).flatMap((series) =>
      series.points.map((point) => ({
        title: point.at === undefined ? series.name : `${series.name}, ${point.at} in flight`,
        series: { ...series, points: [point] },
      })),
    );
    const along = ({ points: [{ x }] }) => figureCell(x, { ...axes, yUnit: axes.xUnit });
    const columns = [
      { title: axes.xLabel ?? "x", cell: along },
      { title: chart.quantity ?? "Value", cell: ({ points: [point] }) => valueCell(point, axes) },
      ...(rows.some(({ series }) => series.points[0].n !== null)
        ? [{ title: "n", cell: ({ points: [{ n }] }) => textCell(n === null ? "–" : String(n)) }]
        : []),
    ];
    return rowTable(chart, columns, { rows });
  },

  tell: (point, say) =>
    `${say.y(point.y)} at ${say.x(point.x)}${point.at === undefined ? "" : `, ${point.at} in flight`}`,
};
