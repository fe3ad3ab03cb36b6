/** Draws a quadrant: a pair of marks for each way, with the bounds of both values, and its arrow. */

import { csvOf } from "../plugin.js";
import { placesAround } from "../place.js";
import { short } from "../units.js";
import {
  KindController,
  bothInWords,
  emOf,
  isEmphasised,
  isFlipped,
  marksOf,
  shownIn,
  themeOf,
} from "./base.js";
import { boxesOfBets, drawBets, keyOfBets, labelsOfBets, pressBet } from "./bets.js";
import { BrokenScale, drawBreaks } from "./broken-scale.js";
import { boxAround } from "./mark.js";
import { arrow, stroke } from "./pen.js";
import { ROLES, arrowOf } from "./ways.js";

/** Widths of lines, in sizes of a mark: between the two of a pair, and of the bounds of both values. */
const PAIR = { width: 0.26, alpha: 0.38 };
const RANGE = { width: 0.22, alpha: 0.45 };
const INTERVAL = 0.12;
/** In sizes of the chart's font. */
const ARROW = 0.34;
const NAME = { usual: 1.15, strong: 1.35 };
const FIGURE = { tip: 2, sub: 1.1 };

export class QuadrantController extends KindController {
  static id = "quadrant";
  static parts = [...KindController.parts, BrokenScale];

  static key(chart) {
    const { settings, entries, model } = csvOf(chart);
    const titleOf = (role) => String(model.xs[ROLES.indexOf(role)]);
    const hasTail = entries.some(({ points }) => points.some(({ role }) => role === "tail"));
    const isShown = shownIn(chart).some((controller) => marksOf(controller).length > 0);
    return {
      title: isFlipped(chart) ? settings.xTitle : settings.yTitle,
      items: [
        ...(hasTail && isShown
          ? [
              { text: titleOf("y"), style: "full", shape: "square" },
              { text: titleOf("tail"), style: "hollow", shape: "square" },
            ]
          : []),
        ...keyOfBets(chart),
      ],
    };
  }

  static behind(chart) {
    drawBreaks(chart, themeOf(chart).text);
  }

  static above(chart) {
    const { lost, page } = themeOf(chart);
    const width = ARROW * emOf(chart);
    for (const controller of shownIn(chart)) {
      const path = controller.arrow;
      if (path) arrow(chart.ctx, path.from, path.to, { color: lost, width, page });
    }
    drawBets(chart);
  }

  static obstacles = boxesOfBets;

  static labels = labelsOfBets;

  static press = pressBet;

  place({ x, y, role, xBound, low, high }) {
    if (role === "to") {
      // Until then it waits where the arrow begins, which grows from there.
      const from = this.#showsArrow ? x : this.entry.points[0].x;
      return { ...this.at(this.along(from), this.across(y)), style: "none", inert: !this.#showsArrow };
    }
    return {
      ...this.at(this.along(x), this.across(y)),
      style: role === "tail" ? "hollow" : "full",
      // From the mark on, so that they keep to it while it moves.
      bound: Number.isFinite(xBound) ? this.along(xBound) - this.along(x) : null,
      interval:
        Number.isFinite(low) && Number.isFinite(high)
          ? [low, high].map((end) => this.across(end) - this.across(y))
          : null,
    };
  }

  get #showsArrow() {
    const { shown } = this.csv.settings;
    return !shown || shown.includes(arrowOf(this.entry.name));
  }

  /** The marks of the typical and of the tail, which stand above each other. */
  get #pair() {
    return marksOf(this).filter(({ style }) => style !== "none");
  }

  /** From the middle of the pair to its place in the other state; null if the two are too close to be told apart. */
  get arrow() {
    const tip = this._cachedMeta.data[this.entry.points.findIndex(({ role }) => role === "to")];
    const [own] = this.#pair;
    if (!tip || tip.skip || !own) return null;
    const start = this.alongOf(own);
    const length = this.alongOf(tip) - start;
    if (Math.abs(length) < 3 * own.size) return null;
    const edge = start + Math.sign(length) * own.size * 0.5;
    return { from: this.#beside(tip, edge), to: { x: tip.x, y: tip.y } };
  }

  /** The ends of a mark's bounds, in the plot. */
  #boundOf(mark) {
    return this.#beside(mark, this.alongOf(mark) + mark.bound);
  }

  #intervalOf(mark) {
    const middle = this.isFlipped ? mark.x : mark.y;
    return (mark.interval ?? []).map((end) => this.at(this.alongOf(mark), middle + end));
  }

  /** A place at the height of a mark, px along. */
  #beside(mark, px) {
    return this.at(px, this.isFlipped ? mark.x : mark.y);
  }

  obstacles() {
    const marks = this.#pair;
    const box = (from, to, cost) => ({ ...boxAround([from, to], 3), cost });
    const path = this.arrow;
    return [
      ...(marks.length > 1 ? [box(marks[0], marks.at(-1), 6)] : []),
      ...marks.flatMap((mark) => [
        ...this.#intervalOf(mark).map((end) => box(mark, end, 5)),
        ...(Number.isFinite(mark.bound) ? [box(mark, this.#boundOf(mark), 6)] : []),
      ]),
      ...(path ? [box(path.from, path.to, 200)] : []),
    ];
  }

  draw() {
    const ctx = this._ctx;
    const { color } = this;
    const marks = this.#pair;
    if (marks.length > 1)
      stroke(ctx, marks[0], marks.at(-1), { color, width: PAIR.width * marks[0].size, alpha: PAIR.alpha });
    for (const mark of marks) {
      const { size, interval, bound } = mark;
      if (Number.isFinite(bound)) {
        const { width, alpha } = RANGE;
        stroke(ctx, this.#boundOf(mark), mark, { color, width: width * size, alpha });
      }
      if (interval) {
        const [low, high] = this.#intervalOf(mark);
        stroke(ctx, low, high, { color, width: INTERVAL * size });
      }
    }
    super.draw();
  }

  labels() {
    const { settings } = this.csv;
    const { name, label, points } = this.entry;
    const { lost } = themeOf(this.chart);
    const marks = this.#pair;
    if (marks.length === 0) return [];
    const top = marks.reduce((high, mark) => (mark.y < high.y ? mark : high));
    const bottom = marks.reduce((low, mark) => (mark.y > low.y ? mark : low));
    const around = (mark, size, sides) => placesAround({ ...mark, reach: mark.size / 2 }, size, { sides });
    const isStrong = isEmphasised(settings, name);
    const title = { text: label, size: isStrong ? NAME.strong : NAME.usual, weight: 700, color: this.color };
    const own = {
      lines: [title, { text: figuresOf(points, settings), weight: 400, color: this.color }],
      brief: [title],
      at: top,
      // Below the lower mark only where the upper one has no room.
      places: (width, height) => [
        ...around(top, { width, height }, ["right", "above", "left"]),
        ...around(bottom, { width, height }, ["below"]).map((place) => ({
          ...place,
          at: bottom,
          cost: place.cost + height,
        })),
      ],
      importance: isStrong ? 2 : 1,
    };
    const path = this.arrow;
    if (!path) return [own];
    const tip = points.find(({ role }) => role === "to");
    const figure = { text: short(tip.x, settings.xUnit, settings), weight: 700, color: lost };
    const words = { text: settings.arrow, size: FIGURE.sub, weight: 600, color: lost };
    return [
      own,
      {
        lines: [{ ...figure, size: FIGURE.tip }, ...(settings.arrow ? [words] : [])],
        brief: [{ ...figure, size: FIGURE.sub }],
        at: { ...path.to, reach: 4 },
        sides: ["right", "above", "below"],
        importance: 3,
      },
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
