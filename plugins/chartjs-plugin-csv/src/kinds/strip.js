/**
 * `strip`: a lane for each series, with a dot for each trial, a line at the median, and the figure of the worst one. For
 * measurements where the order of trials means nothing and the worst one counts. `worst: "low"` if the lowest is the worst.
 */

import { medianOf, valuesOf, worstOf } from "../figures.js";
import { trialColumns, trialsInWords } from "../trials.js";
import {
  KindController,
  acrossScale,
  laneOfEach,
  laneScale,
  marksOf,
  tellSeries,
  titleAbove,
} from "./base.js";
import { stroke } from "./pen.js";

/** The parts of a lane that dots may take, and that the median's line takes. */
const SPREAD = 0.8;
const MEDIAN = 0.6;
/** In sizes of the chart's font. */
const DOT = 0.7;
const FIGURE = 1.2;

/**
 * Dots that would lie on each other stand side by side, so that the breadth of a lane shows how many there are, and nothing
 * else. Pure.
 * @param {number[]} values   px across; NaN where nothing was measured
 * @param {number} size   of a dot, px
 * @param {number} room   px beside the middle that dots may take, on each side
 * @returns {number[]} px from the middle of the lane
 */
export function sideBySide(values, size, room) {
  const order = values.map((_, index) => index).filter((index) => !Number.isNaN(values[index]));
  order.sort((a, b) => values[a] - values[b]);
  const offsets = values.map(() => 0);
  const columns = Array.from({ length: 2 * Math.floor(room / size) + 1 }, (_, i) => ({
    offset: (i % 2 ? -1 : 1) * Math.ceil(i / 2) * size,
    last: -Infinity,
  }));
  for (const index of order) {
    // Only dots of one column meet, and its last one is the nearest. A lane that is full lets its dots overlap.
    const column = columns.find(({ last }) => values[index] - last >= size * 0.99) ?? columns[0];
    offsets[index] = column.offset;
    column.last = values[index];
  }
  return offsets;
}

class StripController extends KindController {
  static id = "strip";
  #offsets = [];

  static key(chart) {
    return { title: titleAbove(chart), items: [] };
  }

  updateElements(elements, start, count, mode) {
    const size = DOT * this.em;
    const values = (this.entry?.points ?? []).map(({ y }) => this.across(y));
    this.#offsets = sideBySide(values, size, (this.breadth * SPREAD) / 2);
    super.updateElements(elements, start, count, mode);
  }

  place({ y }, index) {
    return { ...this.at(this.lane + this.#offsets[index], this.across(y)), size: DOT * this.em };
  }

  draw() {
    super.draw();
    const values = valuesOf(this.entry);
    if (values.length === 0) return;
    const [median, reach] = [this.across(medianOf(values)), (this.breadth * MEDIAN) / 2];
    stroke(this._ctx, this.at(this.lane - reach, median), this.at(this.lane + reach, median), {
      color: this.color,
      width: 0.2 * this.em,
    });
  }

  labels() {
    const { settings } = this.csv;
    const worst = worstOf(this.entry.points, settings.worst);
    if (worst === null || marksOf(this).length === 0) return [];
    const mark = this._cachedMeta.data[this.entry.points.indexOf(worst)];
    return [
      {
        lines: [{ text: this.short(worst.y), size: FIGURE, weight: 700, color: this.color }],
        sides: settings.worst === "low" && !this.isFlipped ? ["below", "right", "left"] : this.outwards,
        at: { ...mark, reach: mark.size / 2 },
        importance: 1,
      },
    ];
  }
}

export default {
  id: StripController.id,
  controller: StripController,

  options: (given) => ({ index: laneScale(given, laneOfEach(given)), value: acrossScale(given) }),

  sentence: (model, say) => tellSeries("Trials", model, say, (series) => trialsInWords(series, say)),

  table: (chart, make) => make.rowTable(chart, trialColumns(chart, make), { n: false }),
};
