/**
 * What all kinds share, and where a kind finds it: a controller that places one mark for each point, lanes with names, a key
 * above the plot, labels that never lie on each other, and sentences.
 */

import { DatasetController } from "chart.js";
import { pixelY } from "../draw.js";
import { csvOf } from "../plugin.js";
import { short } from "../units.js";
import { Drawing } from "./drawing.js";
import { aboutIn, emOf, themeOf } from "./in-chart.js";
import { MARK, Mark, boxAround } from "./mark.js";
import { shapeOf } from "./pen.js";

export { placedLabelsOf } from "./drawing.js";
export * from "./in-chart.js";
export { acrossScale, laneOfEach, laneScale, namesInLanes } from "./lanes.js";
export { HIDING, MARK, Mark } from "./mark.js";
export { LINE, boxesAlong } from "./mark-labels.js";
export { ROWS, placesIn, seriesOfEachFile, valueOfEachFile } from "./models.js";
export { bothInWords, tellPoint, tellSeries, unitAt } from "./words.js";

/**
 * The controller of a kind. `this.index` is Chart.js': the position of the dataset.
 * @extends {DatasetController<any, any, any, any>}
 */
export class KindController extends DatasetController {
  static defaults = { datasetElementType: false, dataElementType: Mark.id, clip: false, parsing: false };
  static overrides = { interaction: { mode: "nearest", axis: "xy", intersect: true } };

  /** What has to be registered with Chart.js beside the controller. @type {any[]} */
  static parts = [Mark, Drawing];

  /** Whether it draws the runs behind its points, as faint dots. */
  static drawsRuns = false;

  /** Whether it has an axis of values, along which the page's marks are drawn. */
  static hasValueAxis = true;

  /** What the key above the plot explains, and the name of an axis: `{title, items: {text, style, color}[]}`. */
  static key() {
    return { title: null, items: [] };
  }

  /** Drawn behind all marks. */
  static behind() {}

  /** Drawn above all marks. */
  static above() {}

  /** Labels of the chart as a whole. */
  static labels() {
    return [];
  }

  /** Boxes of the chart as a whole that labels had better not cover, with their `cost`. */
  static obstacles() {
    return [];
  }

  /** The room that is drawn in at the right of the plot, px. */
  static side() {
    return 0;
  }

  /** What a click in the chart does; returns whether it changed anything. */
  static press() {
    return false;
  }

  get csv() {
    return csvOf(this.chart);
  }

  /** The series of this dataset; null for a dataset of the page's own. */
  get entry() {
    return this.csv?.entries[this.index] ?? null;
  }

  /** The size of the chart's font, px. */
  get em() {
    return emOf(this.chart);
  }

  get color() {
    const { csvColor, borderColor } = this.getDataset();
    return csvColor ?? borderColor;
  }

  /** Whether the values are along x, and the series below each other. */
  get isFlipped() {
    return this._cachedMeta.indexAxis === "y";
  }

  /** Where a value is on the axis of values, px. */
  across(value) {
    return value === null || value === undefined ? NaN : pixelY(this._cachedMeta.vScale, value);
  }

  /** Where a value, or the position of a row or column, is along the other axis, px. */
  along(position) {
    return this._cachedMeta.iScale.getPixelForValue(position);
  }

  /** Where the row or column of an x value is, px; NaN of one that only a second data set has. */
  laneAt(x) {
    const at = this.csv.model.xs.indexOf(x);
    return at === -1 ? NaN : this.along(at);
  }

  /** The middle of this series' row or column, px. */
  get lane() {
    return this.along(aboutIn(this.chart).indexOf(this.entry));
  }

  /** The breadth of a row or column, px. */
  get breadth() {
    const { left, right, top, bottom } = this.chart.chartArea;
    return (this.isFlipped ? bottom - top : right - left) / Math.max(1, this._cachedMeta.iScale.ticks.length);
  }

  /** Where a mark is along that axis, px. */
  alongOf({ x, y }) {
    return this.isFlipped ? y : x;
  }

  /** A place in the plot from px along the index axis and across it. */
  at(along, across) {
    return this.isFlipped ? { x: across, y: along } : { x: along, y: across };
  }

  /** The sides on which a label is beyond the last mark of a series, the best first. */
  get outwards() {
    return this.isFlipped ? ["right", "above", "below"] : ["above", "right", "left"];
  }

  /** A bar between two px of the axis of values, so many px thick. */
  bar(along, [from, to], thick) {
    const length = Math.abs(to - from);
    const size = this.isFlipped ? { width: length, height: thick } : { width: thick, height: length };
    return { ...this.at(along, (from + to) / 2), ...size, style: "none" };
  }

  /** A box from two corners, each px along and across. */
  box([along, across], [along2, across2]) {
    return boxAround([this.at(along, across), this.at(along2, across2)]);
  }

  /** Where the mark of a point is, `{x, y, style, …}`; null if there is none. */
  place() {
    return null;
  }

  /** What is written at this series' marks: see mark-labels.js. */
  labels() {
    return [];
  }

  /** Boxes that labels had better not cover, beside the marks; each with its `cost` in heights of a line. */
  obstacles() {
    return [];
  }

  /** @param {any} mode */
  update(mode) {
    const { data } = this._cachedMeta;
    this.updateElements(data, 0, data.length, mode);
  }

  /**
   * @param {any[]} elements
   * @param {number} start
   * @param {number} count
   * @param {any} mode
   */
  updateElements(elements, start, count, mode) {
    const { entry } = this;
    if (!entry) return;
    const look = {
      size: MARK * this.em * (entry.second ? 0.75 : 1),
      width: null,
      height: null,
      inert: false,
      style: "full",
      color: this.color,
      page: themeOf(this.chart).page,
      shape: shapeOf(this.getDataset().pointStyle),
    };
    for (let index = start; index < start + count; index += 1) {
      const point = entry.points[index];
      const placed = (point && this.place(point, index)) ?? { x: NaN, y: NaN };
      const skip = !Number.isFinite(placed.x) || !Number.isFinite(placed.y);
      this.updateElement(elements[index], index, { ...look, ...placed, skip }, mode);
    }
  }

  getMinMax() {
    // limits.js sets the ends of an axis from the bounds of the points, too.
    return { min: Infinity, max: -Infinity };
  }

  getLabelAndValue() {
    return { label: "", value: "" };
  }

  setHoverStyle(element) {
    element.active = true;
  }

  removeHoverStyle(element) {
    element.active = false;
  }

  /** A value in two digits, as it is read from afar. */
  short(value, unit = this.csv.settings.yUnit) {
    return short(value, unit, this.csv.settings);
  }
}
