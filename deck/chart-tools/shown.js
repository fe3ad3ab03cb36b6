/**
 * What each chart shows: which file, which series, which axis, individual runs, a second data set. The plugin remembers the
 * choices, even when a slide is copied; this module says what a choice means on a slide.
 */

import { kindOf, seriesNames } from "chartjs-plugin-csv";

import { placeOf } from "./charted.js";
import { canvasesOf } from "../text/canvases.js";
import { awaitedSeries } from "./steps.js";
import { RATIO, otherSource, referenceOf, seriesInView, viewOf } from "./views.js";

export class ShownCharts {
  #charts;
  #data;
  #showsAll;

  /**
   * @param {object} given
   * @param {object} given.charts   the chart plugin
   * @param {object} given.data   data on show
   * @param {() => boolean} given.showsAll   whether to ignore steps: in the overview, on paper
   */
  constructor({ charts, data, showsAll }) {
    this.#charts = charts;
    this.#data = data;
    this.#showsAll = showsAll;
    /** The second data set, or null. */
    this.comparison = null;
  }

  slotOf(canvas) {
    return this.#charts.charts.get(canvas);
  }

  slotsOf(slide) {
    return canvasesOf(slide)
      .map((canvas) => this.slotOf(canvas))
      .filter(Boolean);
  }

  all() {
    return [...this.#charts.charts.values()];
  }

  /** Whether a slide differs from its author's settings. */
  isChanged(slide) {
    return this.slotsOf(slide).some(({ state }) => state.used || state.scale !== null || state.runs);
  }

  /** The file of a canvas's other view, as a slide would name it; null if the current data lack it. */
  otherOf(canvas) {
    const { chartSrc, chartAbsolute } = canvas.dataset;
    if (!chartSrc) return null;
    const other = otherSource(chartSrc, chartAbsolute);
    // Without a manifest nothing is listed, so assume that a file named by the author exists.
    const named = Boolean(chartAbsolute) && viewOf(chartSrc) === RATIO;
    return named || placeOf(other, this.#data, canvas).entry !== null ? other : null;
  }

  /** The series that a chart shows in one of its views; null for all series of its file. */
  #seriesOf(canvas, other) {
    const names = seriesNames(canvas.dataset.chartSeries);
    if (other === null) return names;
    const { experiment } = placeOf(canvas.dataset.chartSrc, this.#data, canvas);
    return seriesInView(names, referenceOf(experiment), viewOf(other));
  }

  /** Shows the series of the current view, except those whose step is still to come. */
  showSeries(slot) {
    const awaited = this.#showsAll() ? new Set() : awaitedSeries(slot.canvas);
    if (awaited.size === 0) {
      if (slot.state.shown !== null) slot.setShown(null);
      return;
    }
    const names = this.#seriesOf(slot.canvas, slot.state.used?.src ?? null);
    const known = names ?? slot.model?.series.map(({ name }) => name);
    const all = known ?? placeOf(slot.src, this.#data, slot.canvas).entry?.series;
    const { model, settings, kind } = slot;
    const parts = (model && kindOf(kind)?.parts?.(model, settings)) ?? [];
    // Without names there is no chart yet; this is called again when it arrives.
    if (all) slot.setShown([...all, ...parts].filter((name) => !awaited.has(name)));
  }

  /** Switches a chart to its other view, or back. */
  async showOther(slot, other) {
    const { canvas } = slot;
    const src = other ? this.otherOf(canvas) : null;
    if ((slot.state.used?.src ?? null) === src) return;
    if (src === null) delete canvas.dataset.chartShown;
    else canvas.dataset.chartShown = src;
    const more = seriesNames(canvas.dataset.chartMore)?.map((source) => otherSource(source)) ?? [];
    await slot.use(src === null ? null : { src, more, series: this.#seriesOf(canvas, src) });
    this.showSeries(slot);
    await this.showComparison(slot);
  }

  /**
   * Shows or hides the individual runs of a chart.
   * @returns {Promise<boolean|null>} whether they are drawn; a chart that has none is left as it was; null if they were
   *   hidden again while they were read
   */
  async showRuns(slot, on) {
    const drawn = await slot.showRuns(on);
    if (on && !slot.state.runs) return null;
    if (on && !drawn) await slot.showRuns(false);
    return on && drawn;
  }

  /** Draws the second data set next to a chart's own, if it has the file. */
  async showComparison(slot) {
    // A slide that compares data sets says in words which is which, and does not know this one.
    if (slot.canvas.closest("[data-compare]")) return;
    const src = this.comparison?.addressOf(slot.src) ?? null;
    const further = slot.state.used?.more ?? seriesNames(slot.canvas.dataset.chartMore) ?? [];
    const more = further.map((source) => this.comparison?.addressOf(source)).filter(Boolean);
    // A second data set that lacks one of several files cannot be drawn like the first.
    const whole = src !== null && more.length === further.length;
    if ((whole ? src : null) !== (slot.state.overlay?.src ?? null))
      await slot.overlay(whole ? { src, more, label: this.comparison.name } : null);
  }

  /** Resets a slide to its author's settings. */
  async restore(slide) {
    for (const slot of this.slotsOf(slide)) {
      const { used, scale, runs } = slot.state;
      if (used) await this.showOther(slot, false);
      if (scale !== null) await slot.setScale(null);
      if (runs) await this.showRuns(slot, false);
    }
  }
}
