/** Which slides show tables in the place of their charts. What draws them is fetched when the first is asked for. */

import { chartedAs } from "./charted.js";

export class Tables {
  #slides = new Set();
  #slotsOf;
  #data;

  /**
   * @param {(slide: Element) => object[]} slotsOf   the charts of a slide
   * @param {object} data   data on show
   */
  constructor(slotsOf, data) {
    this.#slotsOf = slotsOf;
    this.#data = data;
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
    // It may have been asked for again while the module was on its way.
    if (!this.#slides.has(slide)) hideTables(slide);
  }

  /** Writes a slide's tables anew, if it shows them. */
  async renew(slide) {
    if (!this.#slides.has(slide)) return;
    const { showTables } = await import("./table-view.js");
    if (!this.#slides.has(slide)) return;
    const drawn = this.#slotsOf(slide).filter((slot) => slot.model);
    showTables(drawn.map((slot) => ({ canvas: slot.canvas, chart: chartedAs(slot, this.#data) })));
  }

  async renewAll() {
    await Promise.all([...this.#slides].map((slide) => this.renew(slide)));
  }
}
