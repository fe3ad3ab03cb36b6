/** Which slides show tables in place of their charts. The code that draws them is fetched for the first one. */

import { chartedAs } from "./charted.js";

/**
 * @param {object} given
 * @param {(slide: Element) => object[]} given.slotsOf   the charts of a slide
 * @param {object} given.data   data on show
 * @param {boolean} given.scrolls   whether people can scroll a table
 */
export function Tables({ slotsOf, data, scrolls }) {
  const slides = new Set();
  const drawnOn = (slide) => slotsOf(slide).filter((slot) => slot.model);

  async function show(slide) {
    slides.add(slide);
    await renew(slide);
  }

  async function hide(slide) {
    if (!slides.delete(slide)) return;
    const { hideTables } = await import("./table-view.js");
    // It may have been requested again while the module was loading.
    if (!slides.has(slide)) hideTables(slide);
  }

  /** Redraws a slide's tables, if it shows them. */
  async function renew(slide) {
    if (!slides.has(slide)) return;
    const { showTables } = await import("./table-view.js");
    if (!slides.has(slide)) return;
    const drawn = drawnOn(slide).map((slot) => ({ canvas: slot.canvas, chart: chartedAs(slot, data) }));
    showTables(slide, drawn, { scrolls });
  }

  /** Redraws all tables. One without a chart would keep the figures of earlier data: its place is the chart's again. */
  async function renewAll() {
    await Promise.all([...slides].map((slide) => (drawnOn(slide).length > 0 ? renew(slide) : hide(slide))));
  }

  return { has: (slide) => slides.has(slide), show, hide, renew, renewAll };
}
