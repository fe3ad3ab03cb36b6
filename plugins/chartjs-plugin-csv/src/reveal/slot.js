import { Chart } from "chart.js";
import { CsvError } from "../error.js";
import { clearError, showError } from "../error-view.js";
import { csvOf } from "../plugin.js";
import { companionUrl } from "../source.js";
import { summarize } from "../summary.js";
import { boxCanvas } from "./box.js";
import { chartConfig } from "./config.js";

/**
 * One canvas of a deck, with or without a live chart.
 *
 * `canvas`, `box`, `kind`, `src` (as written), `url` (as resolved), `chart` (null while there is none), `model`,
 * `error`, `settings`, `ready` (promise of the latest load, never rejects).
 */
export class Slot {
  /** @param {object} context the plugin's options and `pixelRatio()` */
  constructor(canvas, context) {
    this.canvas = canvas;
    this.context = context;
    this.kind = canvas.dataset.chart;
    this.src = canvas.dataset.chartSrc ?? null;
    this.chart = null;
    this.creating = false;
    this.refusal = null;
    this.described = Promise.resolve();
    this.wanted = false;
    this.intersecting = false;
    this.ready = Promise.resolve();
    Object.assign(this, boxCanvas(canvas, { height: context.height, captions: Boolean(context.labelFor) }));
    this.onData = () => {
      this.described = this.#describe();
    };
    for (const type of ["ready", "updated", "error"])
      canvas.addEventListener(`chart-csv:${type}`, this.onData);
  }

  get slide() {
    return this.canvas.closest("section");
  }

  get url() {
    return this.src === null ? null : this.context.resolve(this.src);
  }

  get model() {
    return this.chart ? csvOf(this.chart).model : null;
  }

  /** Why there is no chart, or null. */
  get error() {
    return this.refusal ?? (this.chart ? csvOf(this.chart).error : null);
  }

  get settings() {
    return this.chart ? csvOf(this.chart).settings : null;
  }

  get live() {
    return this.chart !== null || this.creating;
  }

  /** Whether the file at `url` is this chart's CSV or one of its companions. */
  reads(url) {
    const own = this.url;
    if (own === null) return false;
    const names = [own, ...["min", "max", "n", "low", "high"].map((suffix) => companionUrl(own, suffix))];
    const { baseURI } = this.canvas;
    return names.some((name) => new URL(name, baseURI).pathname === new URL(url, baseURI).pathname);
  }

  get #size() {
    return { width: this.box.offsetWidth, height: this.box.offsetHeight };
  }

  /** Makes the chart, unless there is one or its box has no size yet (then the box's next resize makes it). */
  create() {
    const { width, height } = this.#size;
    if (this.live || this.refusal || width === 0 || height === 0) return;
    this.creating = true;
    this.ready = this.#create().finally(() => {
      this.creating = false;
    });
  }

  async #create() {
    try {
      const { context, kind, src, url } = this;
      const { options, chartOptions, styles, palette } = context;
      const deckOptions = [options, await chartOptions?.(kind, src)];
      const { width, height } = this.#size;
      if (!this.wanted || width === 0 || height === 0) return;
      const config = chartConfig(this.canvas, { kind, src, url, deckOptions, styles, palette });
      config.options.devicePixelRatio = context.pixelRatio();
      Object.assign(this.canvas, { width, height });
      Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
      this.chart = new Chart(this.canvas, config);
    } catch (error) {
      this.#refuse(error);
      return;
    }
    await csvOf(this.chart).ready;
  }

  /** Resolves when the chart and its caption, or its error, are on the slide. */
  async settled() {
    await this.ready;
    await this.described;
  }

  /** Options that make no chart: the error stays until the page changes. */
  #refuse(error) {
    this.refusal = error;
    showError(this.canvas, error);
    const detail = { src: this.src, chart: null, model: null, error };
    this.canvas.dispatchEvent(new CustomEvent("chart-csv:error", { bubbles: true, detail }));
    if (!(error instanceof CsvError)) console.error(error);
  }

  /** Fits the chart to its box and the screen's pixels; makes it if it waited for a size. */
  resize() {
    const { width, height } = this.#size;
    if (width === 0 || height === 0) return;
    if (!this.chart) {
      if (this.wanted) this.create();
      return;
    }
    this.chart.options.devicePixelRatio = this.context.pixelRatio();
    this.chart.resize(width, height);
  }

  /**
   * Reads the CSV again, from where `resolve` says now; a chart that is not live reads it when it is made.
   * @returns {Promise<boolean>} whether the chart changed
   */
  async refresh() {
    if (!this.chart) return false;
    if (this.src !== null) this.chart.config.options.plugins.csv.url = this.url;
    const changed = await csvOf(this.chart).refresh();
    await this.described;
    return changed;
  }

  restyle() {
    if (this.chart) csvOf(this.chart).restyle();
  }

  /** Gives the chart up; the box keeps its place, and `create` makes the chart again. */
  release() {
    if (!this.chart) return;
    this.chart.destroy();
    this.chart = null;
    // Free the pixels, keep the place.
    Object.assign(this.canvas, { width: 0, height: 0 });
    Object.assign(this.canvas.style, { width: "100%", height: "100%" });
  }

  /** Ends with this canvas altogether. */
  destroy() {
    this.wanted = false;
    this.release();
    clearError(this.canvas);
    for (const type of ["ready", "updated", "error"])
      this.canvas.removeEventListener(`chart-csv:${type}`, this.onData);
  }

  /** Label for listeners and the caption under the chart. */
  async #describe() {
    const { model, settings, canvas, caption } = this;
    if (model) {
      const title = canvas.dataset.chartLabel ?? null;
      canvas.setAttribute("aria-label", summarize(model, { ...settings, type: this.kind, title }));
    }
    if (!caption) return;
    let label;
    try {
      label = model ? await this.context.labelFor(this.src, model) : null;
    } catch (error) {
      console.error(error);
      label = `No caption: ${error.message}`;
    }
    if (this.model === model) caption.replaceChildren(label ?? "\u00a0");
  }
}
