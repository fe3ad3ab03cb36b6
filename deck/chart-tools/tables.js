/** Which slides show tables in place of their charts. The code that draws them is fetched for the first one. */

import { chartedAs } from "./charted.js";

export class Tables {
  #slides = new Set();
  #slotsOf;
  #data;
  #scrolls;

  /**
   * @param {object} given
   * @param {(slide: Element) => object[]} given.slotsOf   the charts of a slide
   * @param {object} given.data   data on show
   * @param {boolean} given.scrolls   whether people can scroll a table
   */
  constructor({ slotsOf, data, scrolls }) {
    this.#slotsOf = slotsOf;
    this.#data = data;
    this.#scrolls = scrolls;
  }

  has(slide) {
    return this.#slides.has(slide);
  }

  async show(slide) {
    this.#slides.add(slide);
    await this.renew(slide);
  }

  async hide(slide) {
    if (!this.#slides.delete(slide)) return;
    const { hideTables } = await import("./table-view.js");
    // It may have been requested again while the module was loading.
    if (!this.#slides.has(slide)) hideTables(slide);
  }

  /** Redraws a slide's tables, if it shows them. */
  async renew(slide) {
    if (!this.#slides.has(slide)) return;
    const { showTables } = await import("./table-view.js");
    if (!this.#slides.has(slide)) return;
    const drawn = this.#drawnOn(slide);
    showTables(
      slide,
      drawn.map((slot) => ({ canvas: slot.canvas, chart: chartedAs(slot, this.#data) })),
      { scrolls: this.#scrolls },
    );
  }

  /** Redraws all tables. One without a chart would keep the figures of earlier data: its place is the chart's again. */
  async renewAll() {
    await Promise.all(
      [...this.#slides].map((slide) =>
        this.#drawnOn(slide).length > 0 ? this.renew(slide) : this.hide(slide),
      ),
    );
  }

  #drawnOn(slide) {
    return this.#slotsOf(slide).filter((slot) => slot.model);
  }
}
