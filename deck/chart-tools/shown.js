/**
 * What each chart shows: which file, which series, which axis, the single runs, a second data set. The plugin keeps what was
 * chosen, also over copies of a slide; here is what a choice means on a slide.
 */

import { seriesNames } from "chartjs-plugin-csv";

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
   * @param {() => boolean} given.showsAll   whether steps are to be passed over: in the overview, on paper
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

  /** Whether a slide is other than its author made it. */
  isChanged(slide) {
    return this.slotsOf(slide).some(({ state }) => state.used || state.scale !== null || state.runs);
  }

  /** The file of a canvas' other view, as a slide would name it; null where the data on show lack it. */
  otherOf({ dataset: { chartSrc, chartAbsolute } }) {
    if (!chartSrc) return null;
    const other = otherSource(chartSrc, chartAbsolute);
    // Data without a manifest list nothing; a file that the author names is taken at his word.
    const named = Boolean(chartAbsolute) && viewOf(chartSrc) === RATIO;
    return named || placeOf(other, this.#data).entry !== null ? other : null;
  }

  /** The series that a chart is about in a view of it; null for all of its file. */
  #seriesOf(canvas, other) {
    const names = seriesNames(canvas.dataset.chartSeries);
    if (other === null) return names;
    const { experiment } = placeOf(canvas.dataset.chartSrc, this.#data);
    return seriesInView(names, referenceOf(experiment), viewOf(other));
  }

  /** Shows the series of the present view, without those whose step is still to come. */
  showSeries(slot) {
    const awaited = this.#showsAll() ? new Set() : awaitedSeries(slot.canvas);
    if (awaited.size === 0) {
      if (slot.state.shown !== null) slot.setShown(null);
      return;
    }
    const names = this.#seriesOf(slot.canvas, slot.state.used?.src ?? null);
    const known = names ?? slot.model?.series.map(({ name }) => name);
    const all = known ?? placeOf(slot.src, this.#data).entry?.series;
    // Without the names there is no chart yet; its arrival calls again.
    if (all) slot.setShown(all.filter((name) => !awaited.has(name)));
  }

  /** Changes a chart to its other view, or back. */
  async showOther(slot, other) {
    const { canvas } = slot;
    const src = other ? this.otherOf(canvas) : null;
    if ((slot.state.used?.src ?? null) === src) return;
    if (src === null) delete canvas.dataset.chartShown;
    else canvas.dataset.chartShown = src;
    await slot.use(src === null ? null : { src, series: this.#seriesOf(canvas, src) });
    this.showSeries(slot);
    await this.showComparison(slot);
  }

  /**
   * Shows the single runs of a chart, or hides them.
   * @returns {Promise<boolean>} whether they are drawn; a chart that has none is left as it was
   */
  async showRuns(slot, on) {
    const drawn = await slot.showRuns(on);
    if (on && !drawn) await slot.showRuns(false);
    return on && drawn;
  }

  /** Draws the second data set beside a chart's own, where it has the file. */
  async showComparison(slot) {
    const src = this.comparison?.addressOf(slot.src) ?? null;
    if (src !== (slot.state.overlay?.src ?? null))
      await slot.overlay(src === null ? null : { src, label: this.comparison.name });
  }

  /** Gives a slide back as its author made it. */
  async restore(slide) {
    for (const slot of this.slotsOf(slide)) {
      const { used, scale, runs } = slot.state;
      if (used) await this.showOther(slot, false);
      if (scale !== null) await slot.setScale(null);
      if (runs) await this.showRuns(slot, false);
    }
  }
}
