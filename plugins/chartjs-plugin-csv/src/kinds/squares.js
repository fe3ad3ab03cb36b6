/**
 * `squares`: a count of units, one square each. In the wide form a group for each series: its first value is the squares that
 * are full, the second those that are crossed out, the third the hollow ones (`states`). In the long form a column for each
 * trial, the smallest first, all of it lost. `unit` is how much one square is, `square` what the key says of it; `levels` what
 * the columns of a series are held against. A slide can reveal a state: until then its squares are full. More of it means more
 * squares, never larger ones.
 */

import { csvOf } from "../plugin.js";
import { worstOf } from "../figures.js";
import { trialColumns, trialsInWords } from "../trials.js";
import { formatValue } from "../units.js";
import {
  KindController,
  ROWS,
  aboutIn,
  laneOfEach,
  laneScale,
  marksOf,
  tellPoint,
  tellSeries,
  themeOf,
  unitAt,
  valueOfEachFile,
} from "./base.js";
import { boxAround } from "./mark.js";
import { drawMark, stroke } from "./pen.js";

const STATES = ["full", "cross", "hollow", "dashed"];
/** A group with more squares than this gets a larger unit. */
const MOST = 600;
/** The part of a lane that squares take, and the distance of squares in sizes of one. */
const ROOM = 0.86;
const PITCH = 1.45;
/** A square's greatest size, in those of the chart's font, and its least, px. A cross is drawn from this size on, px. */
const LARGEST = 1.6;
const LEAST = 3;
const CROSSED = 10;
const FIGURE = 1.6;
/** The name of a level, in sizes of the chart's font. */
const LEVEL = 0.85;

/** How many squares a value is: rounded to the nearest; what is measured but less than half a square stays to be seen. */
export function squaresOf(value, unit) {
  return value === null ? 0 : Math.max(0, Math.round(value / unit));
}

/**
 * The largest squares with which every group fits into its box, and how many stand in a row. Pure.
 * @param {number[]} counts   of the groups
 * @param {{width: number, height: number, largest: number}} box   px
 * @returns {{size: number, pitch: number, perRow: number}}
 */
export function fit(counts, { width, height, largest }) {
  const most = Math.max(1, ...counts);
  for (let size = largest; size > LEAST; size -= 0.5) {
    const pitch = size * PITCH;
    const perRow = Math.max(1, Math.floor((width + pitch - size) / pitch));
    if (Math.ceil(most / perRow) * pitch - (pitch - size) <= height) return { size, pitch, perRow };
  }
  const pitch = LEAST * PITCH;
  return { size: LEAST, pitch, perRow: Math.max(1, Math.floor(width / pitch)) };
}

class SquaresController extends KindController {
  static id = "squares";
  static hasValueAxis = false;

  static key(chart) {
    const { model, settings } = csvOf(chart);
    const unit = unitIn(chart);
    const written = settings.square ?? formatValue(unit, unitAt(settings, 0), settings);
    const isScaled = unit !== unitAsked(settings);
    const square = isScaled ? `${formatValue(unit, unitAt(settings, 0), settings)} (${written})` : written;
    const { lost } = themeOf(chart);
    const states = isTrials(model) ? [] : model.xs.slice(1).filter((x) => isRevealed(settings, x));
    return {
      title: null,
      items: [
        { text: `each square: ${square}`, style: isTrials(model) ? null : "full", shape: "square" },
        ...states.map((x, index) => {
          const style = stateAt(settings, index + 1);
          return { text: String(x), style, ...(style === "cross" ? { color: lost } : {}) };
        }),
      ],
    };
  }

  /** The ground on which columns stand. */
  static behind(chart) {
    if (!isTrials(csvOf(chart).model)) return;
    for (const { controller } of chart.getSortedVisibleDatasetMetas()) controller.drawGround?.();
  }

  get #box() {
    const { left, right, top, bottom } = this.chart.chartArea;
    const figure = FIGURE * this.em * 1.3;
    return this.isFlipped
      ? { width: right - left - 3.4 * figure, height: this.breadth * ROOM, largest: LARGEST * this.em }
      : { width: this.breadth * ROOM, height: bottom - top - figure, largest: LARGEST * this.em };
  }

  updateElements(elements, start, count, mode) {
    this.level = null; // A file in place of this one may have no trials.
    if (!this.entry) return;
    const { model } = this.csv;
    this.layout = isTrials(model) ? this.#columns() : this.#grid();
    super.updateElements(elements, start, count, mode);
  }

  /** The squares of each state, in reading order. */
  #grid() {
    const { settings } = this.csv;
    const unit = unitIn(this.chart);
    const totals = aboutIn(this.chart).map(({ points }) => totalOf(points, unit));
    const { size, pitch, perRow } = fit(totals, this.#box);
    const total = totalOf(this.entry.points, unit);
    const rows = Math.max(1, Math.ceil(total / perRow));
    const { left, bottom } = this.chart.chartArea;
    const x0 = this.isFlipped ? left + size / 2 + 4 : this.lane - (this.breadth * ROOM) / 2 + size / 2;
    const y0 = this.isFlipped
      ? this.lane - ((rows - 1) * pitch) / 2
      : bottom - size / 2 - (rows - 1) * pitch - 4;
    let from = 0;
    return this.entry.points.map(({ y }, index) => {
      const many = squaresOf(y, unit);
      const cells = Array.from({ length: many }, (_, i) => ({
        x: x0 + ((from + i) % perRow) * pitch,
        y: y0 + Math.floor((from + i) / perRow) * pitch,
      }));
      from += many;
      const isThere = index === 0 || isRevealed(settings, this.entry.points[index].x);
      return { cells, size, style: isThere ? stateAt(settings, index) : "full" };
    });
  }

  /** A column for each trial, the smallest first. */
  #columns() {
    const { settings } = this.csv;
    const unit = unitIn(this.chart);
    const { chartArea } = this.chart;
    const longest = Math.max(...aboutIn(this.chart).map(({ points }) => points.length));
    const highest = Math.max(
      1,
      ...aboutIn(this.chart).flatMap(({ name, points }) => [
        ...points.map(({ y }) => squaresOf(y, unit)),
        (levelOf(settings, name) ?? 0) / unit,
      ]),
    );
    const figure = FIGURE * this.em * 1.3;
    const length = this.isFlipped ? chartArea.width - 2.5 * figure : chartArea.height - figure;
    const pitch = Math.min(length / highest, LARGEST * this.em * 1.25);
    const step = Math.min((this.breadth * ROOM) / longest, LARGEST * this.em * 1.6);
    const size = Math.max(1, Math.min(pitch * 0.82, step * 0.82));
    const ground = this.isFlipped ? chartArea.left : chartArea.bottom;
    const away = this.isFlipped ? 1 : -1;
    const { points } = this.entry;
    const order = points.map((_, index) => index).sort((a, b) => points[a].y - points[b].y);
    const layout = points.map(() => null);
    order.forEach((index, rank) => {
      const along = this.lane + (rank - (points.length - 1) / 2) * step;
      const many = squaresOf(points[index].y, unit);
      const across = (i) => ground + away * ((i + 0.5) * pitch + 3);
      const cells = Array.from({ length: Math.max(1, many) }, (_, i) => this.at(along, across(i)));
      layout[index] = { cells, size, style: many === 0 ? "dash" : size >= CROSSED ? "cross" : "full" };
    });
    const through = (across) => ({
      from: this.at(this.lane - (longest / 2) * step, across),
      to: this.at(this.lane + (longest / 2) * step, across),
    });
    this.ground = through(ground);
    const level = levelOf(settings, this.entry.name);
    if (level !== null) this.level = through(ground + away * ((level / unit) * pitch + 3));
    return layout;
  }

  place({ y }, index) {
    const { cells, size, style } = this.layout[index];
    if (y === null || cells.length === 0) return null;
    const { left, right, top, bottom } = boxAround(cells);
    const { lost } = themeOf(this.chart);
    const isLost = style === "cross" || isTrials(this.csv.model);
    return {
      ...{
        x: (left + right) / 2,
        y: (top + bottom) / 2,
        width: right - left + size,
        height: bottom - top + size,
      },
      ...{ cells, size, style, color: isLost ? lost : this.color },
    };
  }

  drawGround() {
    if (this.ground) stroke(this._ctx, this.ground.from, this.ground.to, { color: this.color, width: 3 });
  }

  draw() {
    const { page } = this.csv.theme;
    const shape = unitShape(this.getDataset());
    for (const { cells, size, style, color } of marksOf(this))
      for (const cell of cells) drawMark(this._ctx, { ...cell, size, style, color, page, shape });
    if (this.level)
      stroke(this._ctx, this.level.from, this.level.to, { color: this.color, width: 2, dash: [2, 4] });
  }

  labels() {
    const { model, settings } = this.csv;
    const { points } = this.entry;
    const marks = this._cachedMeta.data;
    const point = isTrials(model) ? worstOf(points, settings.worst) : points.findLast(({ y }) => y !== null);
    const index = points.indexOf(point);
    if (!point || marks[index]?.skip !== false) return [];
    if (!isTrials(model) && index > 0 && !isRevealed(settings, point.x)) return [];
    const drawn = marksOf(this);
    const right = Math.max(...drawn.map(({ x, width }) => x + width / 2));
    const top = Math.min(...drawn.map(({ y, height }) => y - height / 2));
    const { x, y, width, color } = marks[index];
    const isColumn = isTrials(model) && !this.isFlipped;
    const at = this.isFlipped
      ? { x: isTrials(model) ? x + width / 2 : right, y: isTrials(model) ? y : this.lane }
      : { x: isColumn ? x : this.lane, y: top };
    const figure = { text: this.short(point.y, unitAt(settings, index)), weight: 700, color };
    return [
      {
        lines: [{ ...figure, size: FIGURE }],
        brief: [{ ...figure, size: 1 }],
        sides: this.isFlipped ? ["right"] : ["above", "left", "right"],
        at: { ...at, reach: 0 },
        importance: 1,
      },
      ...this.#levelLabels(),
    ];
  }

  /** The name of the level, where the lowest columns leave room. */
  #levelLabels() {
    if (!this.level) return [];
    const { settings } = this.csv;
    const { x, y } = this.level.from;
    const value = this.short(levelOf(settings, this.entry.name));
    const line = { size: LEVEL, weight: 600, color: this.color };
    return [
      {
        lines: [{ ...line, text: `${levelName(settings)}: ${value}` }],
        brief: [{ ...line, text: value }],
        places: (_, height) => [this.isFlipped ? { left: x + 6, top: y } : { left: x, top: y - height - 6 }],
        at: { x, y, reach: 0 },
      },
    ];
  }
}

/** The unit is a square; a series may have circles, such as reads beside writes. */
function unitShape({ pointStyle }) {
  return pointStyle === "circle" ? "circle" : "square";
}

function isTrials({ kind }) {
  return kind === "long";
}

function stateAt({ states }, index) {
  return states?.[index] ?? STATES[index] ?? "hollow";
}

/** Whether a state is shown already: a slide can reveal it. */
function isRevealed({ shown }, x) {
  return !shown || shown.includes(String(x));
}

function totalOf(points, unit) {
  return points.reduce((sum, { y }) => sum + squaresOf(y, unit), 0);
}

/** What the columns of a series are held against, as a value; null if nothing is. */
function levelOf({ levels }, name) {
  return levels?.of[name] ?? null;
}

function levelName({ levels }) {
  return levels?.name ?? "level";
}

/** How much a square is to be: what the page says; of nothing, no number of squares would do. */
export function unitAsked({ unit }) {
  return unit > 0 ? unit : 1;
}

/** How much a square is: what the page says, or ten, a hundred … times as much where nobody could count them. */
function unitIn(chart) {
  const { settings, model } = csvOf(chart);
  let unit = unitAsked(settings);
  const most = (worth) =>
    Math.max(
      ...aboutIn(chart).map(({ name, points }) =>
        isTrials(model)
          ? Math.max(
              ...[...points.map(({ y }) => y), levelOf(settings, name)].map((y) => squaresOf(y, worth)),
            )
          : totalOf(points, worth),
      ),
    );
  while (most(unit) > MOST) unit *= 10;
  return unit;
}

export default {
  id: SquaresController.id,
  controller: SquaresController,
  join: valueOfEachFile,
  defaults: () => ({ bands: false, ...ROWS }),
  unitOf: (settings, { at }) => unitAt(settings, at),

  parts: (model) => (isTrials(model) ? [] : model.xs.slice(1).map(String)),

  options: (given) => ({
    index: laneScale(given, laneOfEach(given)),
    value: { type: "linear", display: false, min: 0, max: 1 },
  }),

  sentence(model, say) {
    const tellLevel = ({ name }) => {
      const level = levelOf(say.settings, name);
      return level === null ? "" : `, ${levelName(say.settings)} ${say.y(level)}`;
    };
    const tell = isTrials(model)
      ? (series) => `${trialsInWords(series, say)}${tellLevel(series)}`
      : ({ points }) =>
          points
            .map((point, index) => `${tellPoint(point, say.in(unitAt(say.settings, index)))} ${point.x}`)
            .join(", ");
    return tellSeries("Squares", model, say, tell);
  },

  table(chart, make) {
    const { model, axes, settings } = chart;
    const { rowTable, valueColumns } = make;
    if (isTrials(model)) {
      const level = {
        title: levelName(settings),
        cell: ({ name }) => make.figureCell(levelOf(settings, name), axes),
      };
      const columns = [...trialColumns(chart, make), ...(settings.levels ? [level] : [])];
      return rowTable(chart, columns, { n: false });
    }
    const units = { ...settings, yUnit: axes.yUnit };
    return rowTable(
      chart,
      valueColumns(chart, (at) => unitAt(units, at)),
    );
  },
};
