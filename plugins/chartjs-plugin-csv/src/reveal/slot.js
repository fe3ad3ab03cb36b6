import { Chart } from "chart.js";
import { withSeries } from "../entries.js";
import { CsvError } from "../error.js";
import { clearError, showError } from "../error-view.js";
import { loadKind } from "../kinds.js";
import { csvOf } from "../plugin.js";
import { boxCanvas } from "./box.js";
import { Choice } from "./choice.js";
import { chartConfig } from "./config.js";
import { describe } from "./description.js";
import { keyOf } from "./near.js";

/** The events of a canvas that say whether the chart has its data. */
const NEWS = ["ready", "updated", "error"].map((type) => `chart-csv:${type}`);

/**
 * One canvas of a deck, with or without a live chart.
 *
 * `canvas`, `box`, `kind`, `src` (as written) and `url` (as resolved) of what is shown, `own` (the file that the slide
 * names), `chart` (null while there is none), `model`, `error`, `settings`, `ready` (promise of the latest load, never
 * rejects), `drawn`.
 */
export class Slot {
  #choice;
  /** The csv plugin's options as the slide has them, without what was chosen. */
  #written = {};

  /**
   * @param {object} context the plugin's options and `pixelRatio()`
   */
  constructor(canvas, context) {
    this.canvas = canvas;
    this.context = context;
    this.kind = canvas.dataset.chart;
    this.own = canvas.dataset.chartSrc ?? null;
    this.#choice = new Choice(canvas);
    this.chart = null;
    this.creating = false;
    this.refusal = null;
    this.described = Promise.resolve();
    this.wanted = false;
    this.inSight = false;
    this.intersecting = false;
    this.ready = Promise.resolve();
    const made = boxCanvas(canvas, { height: context.height, captions: Boolean(context.labelFor) });
    this.box = made.box;
    this.caption = made.caption;
    this.key = keyOf(canvas);
    this.onData = () => {
      this.context.moved(this);
      this.described = this.describe();
    };
    for (const type of NEWS) canvas.addEventListener(type, this.onData);
  }

  get slide() {
    return this.canvas.closest("section");
  }

  /** What is shown, as a slide would write it; null for CSV given as text. */
  get src() {
    return this.#choice.src;
  }

  get url() {
    return this.src === null ? null : this.context.resolve(this.src, this.canvas);
  }

  /** Further files of the same chart, as resolved. */
  get more() {
    return this.#choice.more.map((src) => this.context.resolve(src, this.canvas));
  }

  /** Whether the page now resolves this chart's file to another address than the one it was read from. */
  get moved() {
    if (this.chart === null || this.src === null) return false;
    const { url, settings } = csvOf(this.chart);
    return url !== this.url || String(settings.more ?? []) !== String(this.more);
  }

  /** What the csv plugin has of the chart; null without one. */
  get #csv() {
    return this.chart && csvOf(this.chart);
  }

  get model() {
    return this.#csv?.model ?? null;
  }

  /** The model with only those series that are shown now. */
  get shownModel() {
    const { model } = this;
    return model && withSeries(model, this.state.shown ?? this.settings.shown ?? this.settings.series);
  }

  /** Why there is no chart, or null. */
  get error() {
    return this.refusal ?? this.#csv?.error ?? null;
  }

  /** Why the runs are not drawn, or null. */
  get runsError() {
    return this.#csv?.runsError ?? null;
  }

  /** Why the second data set is not drawn, or null. */
  get overlayError() {
    return this.#csv?.overlayError ?? null;
  }

  get settings() {
    return this.#csv?.settings ?? null;
  }

  /** How the y axis is drawn now: "log" or "linear"; null without a chart. */
  get scale() {
    return this.#csv?.scale ?? null;
  }

  /** Whether the chart shows its file. */
  get drawn() {
    return this.chart !== null && this.model !== null && this.error === null;
  }

  /** Whether the chart will be there soon: it is wanted, has a place, and shows neither its file nor an error yet. */
  get coming() {
    if (!this.wanted || this.drawn || this.error !== null) return false;
    const { width, height } = this.#size;
    // A text that the verdicts rule out has no size, and its charts are never made.
    return this.live || (width > 0 && height > 0);
  }

  get live() {
    return this.chart !== null || this.creating;
  }

  /** What was chosen for this chart: `{shown, scale, runs, range, used, overlay}`. */
  get state() {
    return this.#choice.state;
  }

  /** Takes over the choices of the canvas of which this one is a copy. */
  restore(state) {
    this.#choice.change(state ?? {});
  }

  /** Whether this chart reads the file at `url`. */
  reads(url) {
    return this.#choice.reads(url, [this.url, ...this.more]);
  }

  get #size() {
    return { width: this.box.offsetWidth, height: this.box.offsetHeight };
  }

  /** Makes the chart, unless there is one or its box has no size yet (then the box's next resize makes it). */
  create() {
    if (this.live || this.refusal) return;
    const { width, height } = this.#size;
    if (width === 0 || height === 0) return;
    this.creating = true;
    this.ready = this.#create().finally(() => {
      this.creating = false;
      // Meanwhile the choice or the address changed, or the chart was dropped and is wanted again.
      if (this.wanted && !this.chart) this.create();
    });
  }

  async #create() {
    try {
      const { used } = this.state;
      const { context, kind, src, url, more } = this;
      const drawnBy = await loadKind(kind, context.kinds);
      if (drawnBy?.controller.hasValueAxis !== false) await context.fetchNames();
      const { options, chartOptions, styles, palette, fetch, marks } = context;
      const deckOptions = [options, await chartOptions?.(kind, src, this)];
      const { width, height } = this.#size;
      const isOld = used !== this.state.used || url !== this.url || String(more) !== String(this.more);
      if (!this.wanted || width === 0 || height === 0 || isOld) return;
      const config = chartConfig(this.canvas, {
        ...{ kind, src, url, more, deckOptions, styles, palette },
        text: used?.text ?? null,
        foreign: used !== null,
        marks: marks && (() => marks(this) ?? []),
      });
      const { csv } = config.options.plugins;
      this.#written = { ...csv };
      Object.assign(csv, this.#choice.given, { fetch });
      config.options.devicePixelRatio = context.pixelRatio();
      Object.assign(this.canvas, { width, height });
      Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
      this.chart = new Chart(this.canvas, config);
    } catch (error) {
      this.#refuse(error instanceof CsvError && error.url === null ? error.in(this.src) : error);
      return;
    }
    await csvOf(this.chart).ready;
  }

  /** Resolves when the chart and its caption, or its error, are on the slide. */
  async settled() {
    let ready;
    do {
      // If the chart is made again meanwhile, wait for that, too.
      ready = this.ready;
      await ready;
    } while (ready !== this.ready);
    await this.described;
  }

  /** Shows an error in the options, which stays until the page changes. */
  #refuse(error) {
    this.refusal = error;
    showError(this.canvas, error);
    const detail = { src: this.src, chart: null, model: null, error };
    this.canvas.dispatchEvent(new CustomEvent("chart-csv:error", { bubbles: true, detail }));
    if (!(error instanceof CsvError)) console.error(error);
  }

  /** Fits the chart to its box and the screen's pixels; asks for it if it waited for a size. */
  resize() {
    const { width, height } = this.#size;
    if (width === 0 || height === 0) return;
    if (!this.chart) {
      if (this.wanted) this.context.make(this);
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
   * Reads the CSV again from the address that `resolve` gives now; a chart that is not live reads it when it is made.
   * @returns {Promise<boolean>} whether the chart changed
   */
  async refresh() {
    if (!this.chart) return false;
    const { url, more } = this;
    if (this.src !== null) Object.assign(this.chart.config.options.plugins.csv, { url, more });
    const changed = await csvOf(this.chart).refresh();
    await this.described;
    return changed;
  }

  /** Lays the chart out again if its neighbours have changed its room. */
  settle() {
    const room = this.#csv?.room;
    if (!room?.isDue) return;
    room.settle();
    this.context.moved(this);
  }

  restyle() {
    this.#csv?.restyle();
  }

  /** Shows only these series; null shows all series of the chart. No axis moves. */
  setShown(names) {
    this.#choose({ shown: names });
    if (this.chart) this.onData();
  }

  /** Makes the y axis logarithmic or linear; null: as the slide says. */
  setScale(scale) {
    this.#choose({ scale });
  }

  /** Makes the y axis cover at least this range, so that it does not move while data arrive; null: only the data. */
  setRange(range) {
    this.#choose({ range });
  }

  /**
   * Shows the runs behind the points; false: as the slide says, which mostly hides them. Never rejects.
   * @returns {Promise<boolean>} whether they are drawn; if not, `runsError` may say why
   */
  async showRuns(runs) {
    await this.#choose({ runs });
    return Boolean(this.#csv?.runs);
  }

  /**
   * Draws a second data set in the same axes, or removes it. Never rejects.
   * @param {{src: string, more?: string[], label: string}|null} overlay   src, more: addresses, not resolved again
   * @returns {Promise<boolean>} whether it is drawn; if not, `overlayError` says why
   */
  async overlay(overlay) {
    await this.#choose({ overlay });
    await this.described;
    return Boolean(this.#csv?.overlaid);
  }

  /**
   * Shows another file, or CSV text, in the same place; null restores the slide's own file. The chart is made again.
   * @param {{src?: string, more?: string[], text?: string, series?: string[]}|null} used   src, more: as a slide would
   *   write them; series: replace those of the slide
   */
  use(used) {
    if (JSON.stringify(used ?? null) === JSON.stringify(this.state.used)) return this.settled();
    this.#choice.change({ used: used ?? null });
    this.drop();
    if (this.wanted) this.create();
    return this.settled();
  }

  /** Drops the chart, or the error in its options: `create` makes it with the options that the page gives then. */
  drop() {
    if (this.refusal) {
      this.refusal = null;
      clearError(this.canvas);
    }
    this.release();
  }

  #choose(change) {
    const options = this.#choice.change(change);
    // What is no longer chosen is as the slide says.
    for (const key of Object.keys(options)) options[key] ??= this.#written[key] ?? null;
    return this.#csv?.change(options) ?? Promise.resolve(false);
  }

  /** Destroys the chart; the box keeps its place, and `create` makes the chart again. */
  release() {
    if (!this.chart) return;
    this.chart.destroy();
    this.chart = null;
    // Free the pixels, keep the place.
    Object.assign(this.canvas, { width: 0, height: 0 });
    Object.assign(this.canvas.style, { width: "100%", height: "100%" });
  }

  /** Ends all work for this canvas. */
  destroy() {
    this.wanted = false;
    this.release();
    clearError(this.canvas);
    for (const type of NEWS) this.canvas.removeEventListener(type, this.onData);
  }

  /** Writes the chart's label for screen readers, and its caption. */
  describe() {
    return describe(this, this.context);
  }
}
