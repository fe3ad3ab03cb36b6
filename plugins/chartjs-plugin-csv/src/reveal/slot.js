import { Chart } from "chart.js";
import { seriesNames, withSeries } from "../entries.js";
import { CsvError } from "../error.js";
import { clearError, showError } from "../error-view.js";
import { csvOf } from "../plugin.js";
import { companionUrl } from "../source.js";
import { summarize } from "../summary.js";
import { boxCanvas } from "./box.js";
import { chartConfig } from "./config.js";

const COMPANIONS = ["min", "max", "n", "low", "high", "runs"];

/** What a reader may choose of a chart; it outlives the chart itself. */
const NOTHING_CHOSEN = { shown: null, scale: null, runs: false, range: null, used: null, overlay: null };

/**
 * One canvas of a deck, with or without a live chart.
 *
 * `canvas`, `box`, `kind`, `src` (as written) and `url` (as resolved) of what is shown, `own` (the file that the slide
 * names), `chart` (null while there is none), `model`, `error`, `settings`, `ready` (promise of the latest load, never
 * rejects), `drawn`.
 */
export class Slot {
  #chosen;

  /**
   * @param {object} context the plugin's options and `pixelRatio()`
   */
  constructor(canvas, context) {
    this.canvas = canvas;
    this.context = context;
    this.kind = canvas.dataset.chart;
    this.own = canvas.dataset.chartSrc ?? null;
    this.#chosen = { ...NOTHING_CHOSEN };
    this.chart = null;
    this.creating = false;
    this.refusal = null;
    this.described = Promise.resolve();
    this.wanted = false;
    this.intersecting = false;
    this.ready = Promise.resolve();
    Object.assign(this, boxCanvas(canvas, { height: context.height, captions: Boolean(context.labelFor) }));
    this.key = keyOf(canvas);
    this.onData = () => {
      this.context.moved(this);
      this.described = this.describe();
    };
    for (const type of ["ready", "updated", "error"])
      canvas.addEventListener(`chart-csv:${type}`, this.onData);
  }

  get slide() {
    return this.canvas.closest("section");
  }

  /** What is shown, as a slide would write it; null for CSV given as text. */
  get src() {
    const { used } = this.#chosen;
    return used ? (used.src ?? null) : this.own;
  }

  get url() {
    return this.src === null ? null : this.context.resolve(this.src);
  }

  get model() {
    return this.chart ? csvOf(this.chart).model : null;
  }

  /** The model with only those series that are shown now. */
  get shownModel() {
    const { model } = this;
    return model && withSeries(model, this.#chosen.shown ?? this.settings.series);
  }

  /** Why there is no chart, or null. */
  get error() {
    return this.refusal ?? (this.chart ? csvOf(this.chart).error : null);
  }

  /** Why the runs are not drawn, or null. */
  get runsError() {
    return this.chart ? csvOf(this.chart).runsError : null;
  }

  /** Why the second data set is not drawn, or null. */
  get overlayError() {
    return this.chart ? csvOf(this.chart).overlayError : null;
  }

  get settings() {
    return this.chart ? csvOf(this.chart).settings : null;
  }

  /** How the y axis is drawn now: "log" or "linear"; null without a chart. */
  get scale() {
    return this.chart ? csvOf(this.chart).scale : null;
  }

  /** Whether the chart shows its file. */
  get drawn() {
    return this.chart !== null && this.model !== null && this.error === null;
  }

  get live() {
    return this.chart !== null || this.creating;
  }

  /** What was chosen for this chart: `{shown, scale, runs, range, used, overlay}`. */
  get state() {
    return { ...this.#chosen };
  }

  /** Takes over what was chosen for a canvas that this one is a copy of. */
  restore(state) {
    Object.assign(this.#chosen, state);
  }

  /** Series that the chart is about: what stands in for the slide's file may be about others. */
  get #series() {
    return this.#chosen.used?.series ?? seriesNames(this.canvas.dataset.chartSeries);
  }

  /** What was chosen, as options of the csv plugin. */
  get #settings() {
    const { shown, scale, runs, range, overlay } = this.#chosen;
    const second = overlay ? { url: overlay.src, label: overlay.label } : null;
    return { series: this.#series, shown, scale, runs, range, overlay: second };
  }

  /** Whether the file at `url` is one that this chart reads. */
  reads(url) {
    const { overlay } = this.#chosen;
    const { baseURI } = this.canvas;
    const pathOf = (address) => new URL(address, baseURI).pathname;
    const files = [this.url, overlay?.src].filter(Boolean);
    const names = files.flatMap((file) => [file, ...COMPANIONS.map((suffix) => companionUrl(file, suffix))]);
    return names.some((name) => pathOf(name) === pathOf(url));
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
      // Wanted again, or something else wanted, while the chart was given up in the making.
      if (this.wanted && !this.chart) this.create();
    });
  }

  async #create() {
    try {
      const { used } = this.#chosen;
      const { context, kind, src, url } = this;
      const { options, chartOptions, styles, palette, fetch, marks } = context;
      const deckOptions = [options, await chartOptions?.(kind, src, this)];
      const { width, height } = this.#size;
      if (!this.wanted || width === 0 || height === 0 || used !== this.#chosen.used) return;
      const config = chartConfig(this.canvas, {
        ...{ kind, src, url, deckOptions, styles, palette },
        text: used?.text ?? null,
        foreign: used !== null,
        chosen: { ...given(this.#settings), fetch },
        marks: marks && (() => marks(this) ?? []),
      });
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
    let ready;
    do {
      // A chart that is made anew meanwhile is waited for, too.
      ready = this.ready;
      await ready;
    } while (ready !== this.ready);
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
    const ratio = this.context.pixelRatio();
    const { chart } = this;
    if (chart.width === width && chart.height === height && chart.currentDevicePixelRatio === ratio) return;
    chart.options.devicePixelRatio = ratio;
    chart.resize(width, height);
    this.context.moved(this);
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

  /** Shows these series only; null shows all that the chart is about. No axis moves. */
  setShown(names) {
    this.#choose({ shown: names });
    if (this.chart) this.onData();
  }

  /** Draws the y axis logarithmic or linear; null: as the slide says. */
  setScale(scale) {
    this.#choose({ scale });
  }

  /** Makes the y axis hold at least this range, so that it stands still while data arrive; null: as the data say. */
  setRange(range) {
    this.#choose({ range });
  }

  /**
   * Shows the runs behind the points, or hides them. Never rejects.
   * @returns {Promise<boolean>} whether they are drawn; if not, `runsError` may say why
   */
  async showRuns(runs) {
    await this.#choose({ runs: Boolean(runs) });
    return Boolean(this.chart && csvOf(this.chart).runs);
  }

  /**
   * Draws a second data set in the same axes, or takes it away. Never rejects.
   * @param {{src: string, label: string}|null} overlay   src: an address, not resolved again
   * @returns {Promise<boolean>} whether it is drawn; if not, `overlayError` says why
   */
  async overlay(overlay) {
    await this.#choose({ overlay });
    await this.described;
    return Boolean(this.chart && csvOf(this.chart).overlaid);
  }

  /**
   * Shows another file, or CSV text, in the same place; null brings the slide's own back. The chart is made anew.
   * @param {{src?: string, text?: string, series?: string[]}|null} used   src: as a slide would write it; series: stand
   *   in for those of the slide
   */
  use(used) {
    if (JSON.stringify(used ?? null) === JSON.stringify(this.#chosen.used)) return this.settled();
    this.#chosen.used = used ?? null;
    if (this.refusal) {
      this.refusal = null;
      clearError(this.canvas);
    }
    this.release();
    if (this.wanted) this.create();
    return this.settled();
  }

  #choose(change) {
    Object.assign(this.#chosen, change);
    if (!this.chart) return Promise.resolve(false);
    const settings = this.#settings;
    const changed = Object.keys(change).map((key) => [key, settings[key]]);
    return csvOf(this.chart).change(Object.fromEntries(changed));
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
  async describe() {
    const { model, canvas, caption } = this;
    if (model) canvas.setAttribute("aria-label", this.#summary());
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

  #summary() {
    try {
      const summary = this.context.summaryFor?.(this);
      if (summary) return summary;
    } catch (error) {
      // The page's own words failed: that is for its author to see, and no reason for silence.
      console.error(error);
    }
    const { overlaid } = csvOf(this.chart);
    return summarize(this.shownModel, {
      ...this.settings,
      type: this.kind,
      title: this.canvas.dataset.chartLabel ?? null,
      second: overlaid ? this.#chosen.overlay.label : null,
    });
  }
}

/** Only what was chosen: the rest is for the slide to say. */
function given(settings) {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
}

/** A name for a canvas that its copies share: reveal.js replaces slides by copies of them. Null where there is none. */
function keyOf(canvas) {
  const slide = canvas.closest("section");
  if (!slide?.id) return null;
  return `${slide.id}/${[...slide.querySelectorAll("canvas[data-chart]")].indexOf(canvas)}`;
}
