/**
 * What a chart needs around its plot and on its y axis, and what it is told to leave there, so that charts that stand
 * together line up. Chart.js asks for it while it lays the chart out; who aligns charts reads `needs` and sets the rest.
 */
export class Room {
  #chart;
  #insets = { left: 0, right: 0 };
  #held = null;

  constructor(chart) {
    this.#chart = chart;
    /** Of axis and labels beside the plot, px; `y`: the ends of the y axis that the chart's own data ask for. */
    this.needs = { left: 0, right: 0, y: null };
  }

  /** The width of the margin at one side of the plot: what it needs, or more. */
  fit(side, width) {
    this.needs[side] = width;
    return Math.max(width, this.#insets[side]);
  }

  /** Leaves at least that much beside the plot, px. */
  setInsets({ left, right }) {
    const before = this.#insets;
    if (left === before.left && right === before.right) return;
    const moved = Math.max(left, this.needs.left) !== Math.max(before.left, this.needs.left);
    const widened = Math.max(right, this.needs.right) !== Math.max(before.right, this.needs.right);
    this.#insets = { left, right };
    if (moved || widened) this.#chart?.update("none");
  }

  /** Notes the ends of the y axis, when everything that makes it longer has been asked, and takes them as far as `hold` said. */
  stretch(scale) {
    if (scale.id !== "y" || scale.type === "category") return;
    this.needs.y = { low: scale.min, high: scale.max };
    if (this.#held === null) return;
    const { minDefined, maxDefined } = scale.getUserBounds();
    if (!minDefined) scale.min = Math.min(scale.min, this.#held.low);
    if (!maxDefined) scale.max = Math.max(scale.max, this.#held.high);
  }

  /** Makes the y axis cover this range as well; null: as the chart's own data say. */
  hold(range) {
    const before = this.#held;
    if (range?.low === before?.low && range?.high === before?.high) return;
    this.#held = range;
    this.#chart?.update("none");
  }

  /** The chart is gone. */
  leave() {
    this.#chart = null;
  }
}
