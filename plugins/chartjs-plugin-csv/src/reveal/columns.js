import { csvOf } from "../plugin.js";

/** Small multiples: charts that stand below each other get the same left and right edge of their plots. */
export class Columns {
  #selector;
  #slotsIn;
  #touched = new Set();
  #frame = null;

  /**
   * @param {string|null} selector   of what holds the charts of a group; null: nothing is aligned
   * @param {(group: Element) => import("./slot.js").Slot[]} slotsIn
   */
  constructor(selector, slotsIn) {
    this.#selector = selector;
    this.#slotsIn = slotsIn;
  }

  /** Says that a chart may need another place than before; its group is aligned before the next frame. */
  touch({ canvas }) {
    const group = this.#selector && canvas.closest(this.#selector);
    if (!group) return;
    this.#touched.add(group);
    this.#frame ??= requestAnimationFrame(() => this.flush());
  }

  /** Aligns at once what waits for it. */
  flush() {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    this.#frame = null;
    const groups = [...this.#touched];
    this.#touched.clear();
    for (const group of groups) align(this.#slotsIn(group).filter(({ drawn }) => drawn));
  }
}

function align(slots) {
  const columns = new Map();
  for (const slot of slots) {
    const { left, width } = slot.box.getBoundingClientRect();
    const key = `${Math.round(left)} ${Math.round(width)}`;
    columns.set(key, [...(columns.get(key) ?? []), csvOf(slot.chart)]);
  }
  for (const charts of columns.values()) {
    const widest = (side) => Math.max(...charts.map(({ needs }) => needs[side]));
    const insets =
      charts.length > 1 ? { left: widest("left"), right: widest("right") } : { left: 0, right: 0 };
    for (const chart of charts) chart.setInsets(insets);
  }
}
