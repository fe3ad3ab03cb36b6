import { defaults } from "chart.js";
import { indexAxisOf, withOwnScales, yScaleType } from "./axes.js";
import { choiceOf } from "./entries.js";
import { CsvError } from "./error.js";
import { clearError, showError, showNotes } from "./error-view.js";
import { ChartFiles } from "./files.js";
import { fillChart } from "./fill.js";
import { kindOf } from "./kinds.js";
import { limitScale } from "./limits.js";
import { fetchDates, momentsIn } from "./dates.js";
import { notesOf } from "./notes.js";
import { ownDatasets, ownScales } from "./own.js";
import { isLogarithmic } from "./range.js";
import { Room } from "./room.js";
import { readingOf } from "./source.js";
import { readModel } from "./table.js";
import { themeAt } from "./style.js";
import { tooltipCallbacks } from "./tooltip.js";

/**
 * One chart and its CSV: keeps its model, and updates the chart in place when file, options or page change.
 *
 * - `model`: what is drawn, or null; `error`: why nothing is, or null.
 * - `entries`: the series as they are drawn, in the order of the datasets, those of a second data set included.
 * - `room`: what the chart needs around its plot, for charts that line up.
 * - `ready`: promise of the latest load; resolves, with success or error, never rejects.
 */
export class CsvController {
  #chart;
  #canvas;
  #files = new ChartFiles(
    () => this.settings,
    () => this.kind,
  );
  #datasets = [];
  #own;
  #theme = null;
  #loaded = false;
  #hidden = new Set();

  /** @param {import("chart.js").Chart} chart */
  constructor(chart) {
    this.#chart = chart;
    this.#canvas = chart.canvas;
    this.#own = { ...ownDatasets(chart.config.data?.datasets), scales: ownScales(chart) };
    /** @type {import("./table.js").Model|null} */
    this.model = null;
    /** @type {Error|null} */
    this.error = null;
    /** @type {import("./entries.js").Entry[]} */
    this.entries = [];
    this.room = new Room(chart);
    /** @type {Promise<boolean>} */
    this.ready = Promise.resolve(false);
    const { url, text } = this.settings;
    this.url = url;
    this.text = text;
  }

  /** The plugin's options for this chart: its own over `Chart.defaults.plugins.csv`. Plain objects, not resolved. */
  get settings() {
    const given = this.#chart?.config.options?.plugins?.csv;
    const own = typeof given === "object" ? given : {};
    const settings = { ...defaults.plugins.csv, ...this.kind?.defaults?.(own), ...own };
    // What stands after the numbers of a file is certain; an option may be a guess by its name.
    settings.yUnit = this.model?.yUnit ?? settings.yUnit;
    settings.xUnit ??= this.model?.xUnit ?? null;
    const isLying = this.#chart && !this.kind && indexAxisOf(this.#chart) === "y";
    return withOwnScales(settings, this.#own?.scales ?? {}, isLying ? "x" : "y");
  }

  /** What draws this chart, unless that is Chart.js itself. */
  get kind() {
    return kindOf(this.#chart?.config.type);
  }

  /** Whether this chart gets its data from CSV. */
  get active() {
    return Boolean(this.url) || typeof this.text === "string";
  }

  /** Whether its CSV has neither arrived nor failed. */
  get isWaiting() {
    return this.active && this.model === null && this.error === null;
  }

  /** The runs behind the points while they are shown, or null; why there are none is in `runsError`. */
  get runs() {
    const { runs, lines } = this.settings;
    const drawsThem = !this.kind || this.kind.controller.drawsRuns;
    return (runs || lines) && drawsThem ? this.#files.runs.data : null;
  }

  /** The runs that are drawn as lines in place of the medians and their band, or null. */
  get lines() {
    return this.settings.lines && this.#chart?.config.type === "line" ? this.runs : null;
  }

  get runsError() {
    return this.#files.runs.error;
  }

  /** Why the second data set is not drawn, or null. */
  get overlayError() {
    return this.#files.second.error;
  }

  /** Whether a second data set is drawn. */
  get overlaid() {
    return this.entries.some(({ second }) => second);
  }

  /** How the y axis is drawn now. */
  get scale() {
    return isLogarithmic(yScaleType(this.settings)) ? "log" : "linear";
  }

  /** Computed text and grid colours, and the font, at the canvas: as they were when the chart was last filled or restyled. */
  get theme() {
    // Asked at each draw, while a browser computes all styles anew for the answer.
    this.#theme ??= themeAt(this.#canvas, { ...defaults.plugins.csv.theme, ...this.settings.theme });
    return this.#theme;
  }

  /** Starts the first load. CSV given as text is applied at once, before the chart is first drawn. */
  start() {
    this.#completeOptions();
    this.#read();
  }

  /** Loads again if the page changed `url` or `text` in the chart's options. */
  follow() {
    const { url, text } = this.settings;
    if (url !== this.url || text !== this.text) queueMicrotask(() => this.refresh());
  }

  /**
   * Reads the file again and updates the chart in place, without animation. The latest call wins. An unchanged
   * file changes nothing. Errors show in the chart's place and go when a later refresh succeeds.
   * @returns {Promise<boolean>} whether the chart changed
   */
  refresh() {
    if (!this.#chart) return Promise.resolve(false);
    const { url, text } = this.settings;
    if (url !== this.url || typeof text === "string") this.#files.forgetOwn();
    const isNew = !this.active;
    Object.assign(this, { url, text });
    if (isNew && this.active) this.#completeOptions();
    this.#read(() => this.#chart.update("none"));
    return this.ready;
  }

  /** Draws again with the current colours of the page's style sheet. */
  restyle() {
    if (this.#chart && this.model) this.#redraw();
  }

  /**
   * Changes what a reader may change while the chart is shown: `series, shown, scale, range, runs, overlay` of the
   * options. What needs no file is drawn before this returns; the promise is for files that are not read yet.
   * @param {Partial<Pick<import("./plugin.js").CsvOptions, "series"|"shown"|"scale"|"range"|"runs"|"overlay">>} options
   * @returns {Promise<boolean>} whether runs or a second data set were read
   */
  async change(options) {
    if (!this.#chart) return false;
    const csv = this.#chart.config.options.plugins.csv;
    const keys = Object.keys(options);
    const plain = (value) => JSON.stringify(value ?? null);
    const changed = keys.some((key) => plain(csv[key]) !== plain(options[key]));
    const files = keys.some((key) => key === "runs" || key === "overlay");
    Object.assign(csv, options);
    if (changed && this.model && !files) {
      if (keys.every((key) => key === "shown")) {
        this.#choose();
        this.#writeNotes();
        this.#chart.update(this.kind ? undefined : "none");
      } else this.#redraw();
    }
    if (!files) return false;
    const read = await this.#readFurther(false);
    if (changed && !read && this.#chart && this.model) this.#redraw();
    return read;
  }

  /** Whether a chart with `data-chart-series` is about the series of this dataset. */
  isAbout(index) {
    const entry = this.entries[index];
    return !entry || choiceOf(this.settings).about(entry.name);
  }

  /** Sets the ends of an axis after Chart.js has found those of the visible data. */
  limit(scale) {
    if (!this.#chart || !this.model) return;
    const { model, settings, entries, runs } = this;
    const isShared = this.#own.drawn.length > 0;
    limitScale(scale, { model, settings, entries, runs, hidden: this.#hidden, isShared });
  }

  /** Ends all work for the chart; files that arrive later are ignored. */
  destroy() {
    this.#files.destroy();
    this.room.leave();
    clearError(this.#canvas);
    showNotes(this.#canvas, []);
    this.#chart = null;
  }

  /** Gives the chart options that belong to its data, for what the page did not set. */
  #completeOptions() {
    const { options } = this.#chart.config;
    const { plugins = {} } = options;
    const own = { ...plugins };
    if (plugins.tooltip !== false) {
      const callbacks = tooltipCallbacks(() => this);
      own.tooltip = { ...plugins.tooltip, callbacks: { ...callbacks, ...plugins.tooltip?.callbacks } };
    }
    // A screen shows no more points than this. It takes effect where the page registered Chart.js' Decimation.
    if (this.settings.decimate !== false) own.decimation ??= { enabled: true, algorithm: "min-max" };
    options.plugins = own;
  }

  /** Reads the text, which is there at once and shown by `draw`, or the file. */
  #read(draw = () => {}) {
    if (typeof this.text === "string") {
      if (this.#readText()) draw();
      this.ready = Promise.all([this.#readFurther(true), this.#drawDates()]).then(() => true);
    } else if (this.url) this.ready = this.#load();
  }

  async #load() {
    // Both are read at once, but the chart is drawn as soon as its own file has arrived.
    const further = this.#readFurther(true);
    const changed = await this.#loadOwn();
    return (await further) || changed;
  }

  async #loadOwn() {
    try {
      const model = await this.#files.readOwn(this.url, { again: this.error !== null });
      if (model === null) return false;
      this.#show(model);
      this.#chart.update("none");
    } catch (error) {
      this.#fail(error);
      return true;
    }
    this.#announce();
    return true;
  }

  /** Reads the runs and the second data set, and draws them. `fresh`: reads them again if they were read before. */
  async #readFurther(fresh) {
    const before = this.overlayError;
    const changed = await this.#files.readFurther(this.url, { fresh });
    if (!this.#chart || !changed) return false;
    if (this.model) this.#redraw();
    else if (before !== this.overlayError) this.#writeNotes();
    return true;
  }

  /** Draws text with dates to scale, as soon as what draws them is there. */
  async #drawDates() {
    const { model } = this;
    if (model && (await fetchDates(model)) && this.#chart && this.model === model) this.#redraw();
  }

  /** Returns whether the text can be shown. */
  #readText() {
    try {
      this.#show(readModel(this.text, readingOf(this.settings)));
    } catch (error) {
      this.#fail(error);
      return false;
    }
    queueMicrotask(() => this.#announce());
    return true;
  }

  #show(model) {
    this.model = model;
    this.error = null;
    clearError(this.#canvas);
    this.#apply();
  }

  /** Updates everything that depends on style and options, and tells the page: the axes may have changed. */
  #redraw() {
    this.#apply();
    // Not "none", although this animates as little: that mode keeps the looks that a dataset's points share.
    this.#chart.update("resize");
    this.#announce();
  }

  /** The second data set as far as it can share the axes: numbers beside numbers, dates beside dates, in one unit. */
  get #beside() {
    const { overlay, yUnit } = this.settings;
    const { data } = this.#files.second;
    const kindOfX = (model) => typeof model?.xs[0] + (model && momentsIn(model) !== null);
    if (!overlay || !data || kindOfX(data) !== kindOfX(this.model)) return null;
    if ((data.yUnit ?? yUnit) !== yUnit) return null;
    return { model: data, label: overlay.label ?? overlay.url };
  }

  /** Model, options and present style → the chart's data and scales; the caller updates the chart. */
  #apply() {
    this.#theme = null;
    const { model, settings, theme, room } = this;
    const second = this.#beside;
    const unseen = this.lines !== null;
    const given = { model, settings, theme, room, second, own: this.#own, existing: this.#datasets, unseen };
    this.entries = fillChart(this.#chart, given);
    this.#datasets = this.#chart.data.datasets;
    this.#choose();
    this.#writeNotes();
  }

  /** Shows the chosen series. Series that the page itself hid stay hidden. */
  #choose() {
    const chart = this.#chart;
    const { drawn } = choiceOf(this.settings);
    this.entries.forEach(({ name, label }, index) => {
      const meta = chart.getDatasetMeta(index);
      if (!drawn(name)) {
        this.#hidden.add(label);
        meta.hidden = true;
      } else if (this.#hidden.delete(label)) meta.hidden = null;
    });
  }

  /** Writes below the chart what it could not show. */
  #writeNotes() {
    const { settings, model, scale } = this;
    const { second, runs } = this.#files;
    const drawn = { settings, model, scale, second, runs, isBeside: this.#beside !== null, kind: this.kind };
    showNotes(this.#canvas, notesOf(drawn));
  }

  #fail(error) {
    const chart = this.#chart;
    // Any other error than a CsvError is a mistake in options or code: show it, too, and put its stack in the console.
    if (!(error instanceof CsvError)) console.error(error);
    this.error = error;
    this.model = null;
    this.entries = [];
    this.#files.forgetOwn();
    chart.data = { labels: [], datasets: [] };
    // The axes of a kind are laid out by its data.
    if (this.kind) chart.options.scales = {};
    if (chart.attached) chart.update("none");
    showNotes(this.#canvas, []);
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
