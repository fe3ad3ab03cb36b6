/**
 * The room that a chart needs around its plot and on its y axis, and the room that it is told to leave there, so that
 * neighbouring charts line up. Chart.js asks for it during layout; code that aligns charts reads `needs` and sets the
 * rest.
 */
export class Room {
  #chart;
  #insets = { left: 0, right: 0 };
  #held = null;

  constructor(chart) {
    this.#chart = chart;
    /** Widths of axis and labels beside the plot, px; `y`: the ends of the y axis for the chart's own data. */
    this.needs = { left: 0, right: 0, y: null };
    /** What the key beside the plot says; null without one. @type {string|null} */
    this.key = null;
    /** Whether the chart has a key of its own, if it needs one. */
    this.hasKey = true;
    /** Whether the chart has to be laid out again for what it was told. */
    this.isDue = false;
  }

  /** The width of the margin at one side of the plot: at least what it needs. */
  fit(side, width) {
    this.needs[side] = width;
    return Math.max(width, this.#insets[side]);
  }

  /** Lays the chart out again if it has to be. */
  settle() {
    if (!this.isDue) return;
    this.isDue = false;
    this.#chart?.update("none");
  }

  /** Leaves at least this much beside the plot, px, from the next layout on. */
  setInsets({ left, right }) {
    const before = this.#insets;
    if (left === before.left && right === before.right) return;
    const moved = Math.max(left, this.needs.left) !== Math.max(before.left, this.needs.left);
    const widened = Math.max(right, this.needs.right) !== Math.max(before.right, this.needs.right);
    this.#insets = { left, right };
    if (moved || widened) this.isDue = true;
  }

  /** Has a key, or leaves it to a neighbour, from the next layout on. */
  setKey(hasKey) {
    if (hasKey === this.hasKey) return;
    this.hasKey = hasKey;
    this.isDue = true;
  }

  /** Notes the ends of the y axis after everything else has extended it, then extends it to the range of `hold`. */
  stretch(scale) {
    if (scale.id !== "y" || scale.type === "category") return;
    this.needs.y = { low: scale.min, high: scale.max };
    if (this.#held === null) return;
    const { minDefined, maxDefined } = scale.getUserBounds();
    if (!minDefined) scale.min = Math.min(scale.min, this.#held.low);
    if (!maxDefined) scale.max = Math.max(scale.max, this.#held.high);
  }

  /** Makes the y axis cover this range, too, from the next layout on; null: only the chart's own data. */
  hold(range) {
    const before = this.#held;
    if (range?.low === before?.low && range?.high === before?.high) return;
    this.#held = range;
    this.isDue = true;
  }

  /** Forgets the chart, which no longer exists. */
  leave() {
    this.#chart = null;
  }
}
