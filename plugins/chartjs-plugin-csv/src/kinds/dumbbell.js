/**
 * `dumbbell`: from the typical to the tail. A row for each series; its first value is a full mark, the others are hollow. The
 * values are the columns of a wide file, or those of several files (`more`, `names`) at one x (`at`). `reference` names the
 * series that the emphasised ones are compared with.
 */

import { csvOf } from "../plugin.js";
import {
  KindController,
  ROWS,
  acrossScale,
  bothInWords,
  isEmphasised,
  laneOfEach,
  laneScale,
  marksOf,
  shownIn,
  tellPoint,
  tellSeries,
  themeOf,
  titleAbove,
  valueOfEachFile,
} from "./base.js";
import { boxAround } from "./mark.js";
import { stroke, strokeThrough } from "./pen.js";

/** Of the line between two marks, in sizes of a mark. */
const BAR = { width: 0.26, alpha: 0.45 };
/** Sizes of a figure, in those of the chart's font. */
const FIGURE = { usual: 1.1, strong: 1.6 };
/** By this factor a value differs from that of the reference. */
const DIFFERENT = 1.25;
/** Marks that are closer than this, in their sizes, have one label. */
const CLOSE = 2.2;

class DumbbellController extends KindController {
  static id = "dumbbell";
  static drawsRuns = true;
  static overrides = { ...KindController.overrides, indexAxis: "y" };

  static key(chart) {
    const { model } = csvOf(chart);
    return {
      title: titleAbove(chart),
      items: model.xs.map((x, index) => ({ text: String(x), style: styleAt(index) })),
    };
  }

  /** A dotted line at the typical value of the reference: whoever pays nothing stands on it. */
  static behind(chart) {
    const reference = referenceIn(chart);
    const [first] = reference ? marksOf(reference) : [];
    if (!first) return;
    const at = reference.isFlipped ? first.x : first.y;
    strokeThrough(chart, at, { color: themeOf(chart).text, width: 2, dash: [2, 5] });
  }

  place({ y }, index) {
    return { ...this.at(this.lane, this.across(y)), style: styleAt(index) };
  }

  obstacles() {
    const marks = marksOf(this);
    if (marks.length < 2) return [];
    return [{ ...boxAround(marks, 2), cost: 4 }];
  }

  draw() {
    const marks = marksOf(this);
    const { width, alpha } = BAR;
    if (marks.length > 1)
      stroke(this._ctx, marks[0], marks.at(-1), { color: this.color, width: width * marks[0].size, alpha });
    super.draw();
  }

  labels() {
    const { settings } = this.csv;
    const { name, points } = this.entry;
    const isStrong = isEmphasised(settings, name);
    const reference = isStrong ? referenceIn(this.chart, this.entry.second)?.entry.points : null;
    const elements = this._cachedMeta.data;
    const drawn = points.map((point, index) => ({ ...point, index, mark: elements[index] }));
    const shown = drawn.filter(({ mark }) => !mark.skip);
    const [first, last] = [shown[0], shown.at(-1)];
    if (!first) return [];
    const label = (text, { mark, index }, sides) => {
      const { y } = points[index];
      const compared = reference?.[index]?.y;
      // What is as good as the same needs no comparison, and no emphasis.
      const differs = Number.isFinite(compared) ? Math.max(y / compared, compared / y) > DIFFERENT : isStrong;
      const after = Number.isFinite(compared) && differs ? `not ${this.short(compared)}` : null;
      const size = isStrong && differs ? FIGURE.strong : FIGURE.usual;
      const lines = [{ text, size, weight: 700, color: this.color, after }];
      const brief = [{ text, size: FIGURE.usual, weight: 700, color: this.color }];
      return { lines, brief, sides, at: { ...mark, reach: mark.size / 2 }, importance: isStrong ? 2 : 1 };
    };
    const distance = Math.hypot(last.mark.x - first.mark.x, last.mark.y - first.mark.y);
    if (first !== last && distance < CLOSE * first.mark.size && !isStrong)
      return [label(bothInWords(this.short(first.y), this.short(last.y)), last, this.outwards)];
    return shown.map((point) => {
      const inwards = this.isFlipped ? ["above", "below", "left", "right"] : ["right", "left", "below"];
      return label(this.short(point.y), point, point === last && point !== first ? this.outwards : inwards);
    });
  }
}

/** The first value of a series is full. */
function styleAt(index) {
  return index === 0 ? "full" : "hollow";
}

/** The series that is compared with, in the same data set. */
function referenceIn(chart, second = false) {
  const { reference } = csvOf(chart).settings;
  const isIt = ({ entry }) => entry.name === reference && entry.second === second;
  return (reference && shownIn(chart).find(isIt)) || null;
}

export default {
  id: DumbbellController.id,
  controller: DumbbellController,
  join: valueOfEachFile,
  defaults: () => ROWS,

  options: (given) => ({ index: laneScale(given, laneOfEach(given)), value: acrossScale(given) }),

  sentence(model, say) {
    return tellSeries("Dumbbells", model, say, ({ points }) =>
      points.map((point) => `${tellPoint(point, say)} for ${point.x}`).join(", "),
    );
  },

  table: (chart, { rowTable, valueColumns }) => rowTable(chart, valueColumns(chart)),
};
