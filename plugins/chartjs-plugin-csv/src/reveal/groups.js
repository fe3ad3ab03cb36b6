/** Groups of charts that are aligned again whenever one of them may need different room. */
export class Groups {
  #selector;
  #slotsIn;
  #align;
  #touched = new Set();
  #frame = null;

  /**
   * @param {string|null} selector   of the element that contains the charts of a group; null: there are no groups
   * @param {(group: Element) => import("./slot.js").Slot[]} slotsIn
   * @param {(slots: import("./slot.js").Slot[]) => void} align   gets the slots of a group that are drawn
   */
  constructor(selector, slotsIn, align) {
    this.#selector = selector;
    this.#slotsIn = slotsIn;
    this.#align = align;
  }

  /** Says that a chart may need different room; its group is aligned before the next frame. */
  touch({ canvas }) {
    const group = this.#selector && canvas.closest(this.#selector);
    if (!group) return;
    this.#touched.add(group);
    this.#frame ??= requestAnimationFrame(() => this.flush());
  }

  /** Aligns all waiting groups at once. */
  flush() {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    this.#frame = null;
    const groups = [...this.#touched];
    this.#touched.clear();
    for (const group of groups) this.#align(this.#slotsIn(group).filter(({ drawn }) => drawn));
  }
}
