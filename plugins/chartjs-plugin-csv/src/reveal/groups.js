/** Groups of charts that are aligned again, once all of them are made, whenever one of them may need different room. */
export class Groups {
  #selector;
  #slotsIn;
  #align;
  #layOut;
  #touched = new Set();
  #frame = null;

  /**
   * @param {string|null} selector   of the element that contains the charts of a group; null: there are no groups
   * @param {(group: Element) => import("./slot.js").Slot[]} slotsIn
   * @param {(slots: import("./slot.js").Slot[]) => void} align   tells the slots of a group, those that are drawn, their room
   * @param {(slot: import("./slot.js").Slot) => void} layOut   gets each of them after that
   */
  constructor(selector, slotsIn, align, layOut) {
    this.#selector = selector;
    this.#slotsIn = slotsIn;
    this.#align = align;
    this.#layOut = layOut;
  }

  /** Says that a chart may need different room; its group is aligned before the next frame. */
  touch({ canvas }) {
    const group = this.#selector && canvas.closest(this.#selector);
    if (!group) return;
    this.#touched.add(group);
    this.#frame ??= requestAnimationFrame(() => this.flush());
  }

  /** Whether a group waits to be aligned. */
  get isWaiting() {
    return this.#touched.size > 0;
  }

  /** Aligns all waiting groups at once. */
  flush() {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    this.#frame = null;
    const groups = [...this.#touched];
    this.#touched.clear();
    for (const group of groups) {
      const slots = this.#slotsIn(group);
      // Each touches its group again once it has its data: aligned before, all others would be laid out anew for each.
      if (slots.some(({ coming }) => coming)) continue;
      const drawn = slots.filter((slot) => slot.drawn);
      this.#align(drawn);
      for (const slot of drawn) this.#layOut(slot);
    }
  }
}
