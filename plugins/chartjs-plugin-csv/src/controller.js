import { defaults } from "chart.js";
import { merge } from "chart.js/helpers";
import { scalesFor } from "./axes.js";
import { dataFor } from "./datasets.js";
import { CsvError } from "./error.js";
import { clearError, showError } from "./error-view.js";
import { interpret, loadModel } from "./source.js";
import { resolveColor, styleOf } from "./style.js";

/**
 * One chart and its CSV: loads it, keeps its model, updates the chart in place.
 *
 * - `model`: what is drawn, or null; `error`: why nothing is, or null.
 * - `ready`: promise of the latest load; resolves, with success or error, never rejects.
 */
export class CsvController {
  #chart;
  #canvas;
  #request = null;
  #signature = null;
  #datasets = [];
  #loaded = false;

  constructor(chart) {
    this.#chart = chart;
    this.#canvas = chart.canvas;
    this.model = null;
    this.error = null;
    this.ready = Promise.resolve(false);
    const { url, text } = this.settings;
    this.url = url;
    this.text = text;
  }

  /** The plugin's options for this chart: its own over `Chart.defaults.plugins.csv`. Plain objects, not resolved. */
  get settings() {
    const own = this.#chart.config.options?.plugins?.csv;
    return { ...defaults.plugins.csv, ...(typeof own === "object" ? own : {}) };
  }

  /** Whether this chart takes its data from CSV at all. */
  get active() {
    return Boolean(this.url) || typeof this.text === "string";
  }

  /** Starts the first load. CSV given as text is applied at once, before the chart is first drawn. */
  start() {
    if (typeof this.text === "string") this.#readText();
    else if (this.url) this.ready = this.#load();
  }

  /** Loads anew if the page changed `url` or `text` in the chart's options. */
  follow() {
    const { url, text } = this.settings;
    if (url !== this.url || text !== this.text) queueMicrotask(() => this.refresh());
  }

  /**
   * Reads the file again and updates the chart in place, without animation. The latest call wins; an unchanged
   * file changes nothing. Errors show in the chart's place and go when a later refresh succeeds.
   * @returns {Promise<boolean>} whether the chart changed
   */
  refresh() {
    if (!this.#chart) return Promise.resolve(false);
    const { url, text } = this.settings;
    if (url !== this.url) this.#signature = null;
    Object.assign(this, { url, text });
    if (typeof this.text === "string") {
      this.ready = Promise.resolve(this.#readText());
      if (!this.error) this.#chart.update("none");
    } else if (this.url) this.ready = this.#load();
    return this.ready;
  }

  /** Draws again with the colours that the page's style sheet has now. */
  restyle() {
    if (!this.#chart || !this.model) return;
    this.#apply(this.model);
    this.#chart.update("none");
  }

  /** Ends all work for the chart; what still arrives is ignored. */
  destroy() {
    this.#request?.abort();
    clearError(this.#canvas);
    this.#chart = null;
  }

  async #load() {
    this.#request?.abort();
    const request = new AbortController();
    this.#request = request;
    const { bands, maxBytes, fetch } = this.settings;
    try {
      const options = { bands, maxBytes, signal: request.signal, ...(fetch ? { fetch } : {}) };
      const { model, text } = await loadModel(this.url, options);
      if (this.#request !== request || !this.#chart) return false;
      if (text === this.#signature && !this.error) return false;
      this.#signature = text;
      this.#show(model);
      this.#chart.update("none");
    } catch (error) {
      if (this.#request !== request || !this.#chart) return false;
      this.#fail(error);
      return true;
    }
    this.#announce();
    return true;
  }

  #readText() {
    try {
      this.#show(interpret(this.text));
    } catch (error) {
      this.#fail(error);
      return true;
    }
    queueMicrotask(() => this.#announce());
    return true;
  }

  #show(model) {
    this.model = model;
    this.error = null;
    clearError(this.#canvas);
    this.#apply(model);
  }

  /** Model and present style → the chart's data and scales; the caller updates the chart. */
  #apply(model) {
    const chart = this.#chart;
    const { settings } = this;
    const canvas = this.#canvas;
    const lookOf = (name) => {
      const style = styleOf(name, settings);
      return { ...style, color: resolveColor(canvas, style.color) };
    };
    const options = { existing: this.#datasets, overrides: settings.datasets };
    chart.data = dataFor(model, chart.config.type, lookOf, options);
    this.#datasets = chart.data.datasets;
    chart.options.parsing = this.#datasets.some((dataset) => dataset.parsing);
    if (settings.axes === false) return;
    const scales = scalesFor(model, chart.config.type, settings, this.theme);
    chart.options.scales = merge(scales, settings.scales ?? {});
  }

  /** Computed text and grid colours, and the font, at the canvas. */
  get theme() {
    const canvas = this.#canvas;
    const { text, grid, font } = { ...defaults.plugins.csv.theme, ...this.settings.theme };
    return {
      text: resolveColor(canvas, text),
      grid: resolveColor(canvas, grid),
      font: { family: getComputedStyle(canvas).fontFamily || undefined, ...font },
    };
  }

  #fail(error) {
    const chart = this.#chart;
    // Anything but a CsvError is a fault of options or code: as visible, and with its stack in the console.
    if (!(error instanceof CsvError)) console.error(error);
    this.error = error;
    this.model = null;
    this.#signature = null;
    chart.data = { labels: [], datasets: [] };
    if (chart.attached) chart.update("none");
    showError(this.#canvas, error);
    this.#emit("error", { error });
  }

  #announce() {
    if (!this.#chart || !this.model) return;
    this.#emit(this.#loaded ? "updated" : "ready", { model: this.model });
    this.#loaded = true;
  }

  #emit(type, detail) {
    const { src } = this.settings;
    const init = {
      bubbles: true,
      detail: { src: src ?? this.url, chart: this.#chart, model: null, ...detail },
    };
    this.#canvas.dispatchEvent(new CustomEvent(`chart-csv:${type}`, init));
  }
}
