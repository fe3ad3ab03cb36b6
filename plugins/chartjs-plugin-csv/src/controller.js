import { defaults } from "chart.js";
import { merge } from "chart.js/helpers";
import { scalesFor, scalesNow, xScaleType, xUnitOf, yScaleType } from "./axes.js";
import { dataFor } from "./datasets.js";
import { choiceOf, entriesOf } from "./entries.js";
import { CsvError } from "./error.js";
import { clearError, showError, showNotes } from "./error-view.js";
import { FurtherFile } from "./further-file.js";
import { loadText } from "./load.js";
import { isLogarithmic, setLimits, unite, xRange, yRange } from "./range.js";
import { readRuns, runsOf } from "./runs.js";
import { companionUrl, interpret, loadModel } from "./source.js";
import { resolveColor, styleOf } from "./style.js";

/** How much of its colour a second data set's line keeps; its markers and its name keep all. */
const FADED = "75%";
/** How much of the time axis may be missing at its beginning before that is left out. */
const NEAR_ZERO = 0.1;

/**
 * One chart and its CSV: loads it, keeps its model, updates the chart in place.
 *
 * - `model`: what is drawn, or null; `error`: why nothing is, or null.
 * - `entries`: the series as they are drawn, in the order of the datasets, those of a second data set included.
 * - `ready`: promise of the latest load; resolves, with success or error, never rejects.
 */
export class CsvController {
  #chart;
  #canvas;
  #request = null;
  #signature = null;
  #datasets = [];
  #loaded = false;
  #hidden = new Set();
  #runs = new FurtherFile((url, request) => this.#readRuns(url, request));
  #second = new FurtherFile((url, request) => this.#readSecond(url, request));

  constructor(chart) {
    this.#chart = chart;
    this.#canvas = chart.canvas;
    this.model = null;
    this.error = null;
    this.entries = [];
    /** What axis and labels need beside the plot, px; they get more where charts below each other do. */
    this.needs = { left: 0, right: 0 };
    this.insets = { left: 0, right: 0 };
    this.ready = Promise.resolve(false);
    const { url, text } = this.settings;
    this.url = url;
    this.text = text;
  }

  /** The plugin's options for this chart: its own over `Chart.defaults.plugins.csv`. Plain objects, not resolved. */
  get settings() {
    const own = this.#chart?.config.options?.plugins?.csv;
    return { ...defaults.plugins.csv, ...(typeof own === "object" ? own : {}) };
  }

  /** Whether this chart takes its data from CSV at all. */
  get active() {
    return Boolean(this.url) || typeof this.text === "string";
  }

  /** The runs behind the points while they are shown, or null; why there are none is in `runsError`. */
  get runs() {
    return this.settings.runs ? this.#runs.data : null;
  }

  get runsError() {
    return this.#runs.error;
  }

  /** Why the second data set is not drawn, or null. */
  get overlayError() {
    return this.#second.error;
  }

  /** Whether a second data set is drawn. */
  get overlaid() {
    return this.entries.some(({ second }) => second);
  }

  /** How the y axis is drawn now. */
  get scale() {
    return isLogarithmic(yScaleType(this.settings)) ? "log" : "linear";
  }

  /** Starts the first load. CSV given as text is applied at once, before the chart is first drawn. */
  start() {
    if (typeof this.text === "string") {
      const changed = this.#readText();
      this.ready = this.#readFurther(true).then(() => changed);
    } else if (this.url) this.ready = this.#load();
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
      const changed = this.#readText();
      if (!this.error) this.#chart.update("none");
      this.ready = this.#readFurther(true).then(() => changed);
    } else if (this.url) this.ready = this.#load();
    return this.ready;
  }

  /** Draws again with the colours that the page's style sheet has now. */
  restyle() {
    if (!this.#chart || !this.model) return;
    this.#redraw();
  }

  /**
   * Changes what a reader may change while the chart stands: `series, shown, scale, range, runs, overlay` of the
   * options. What needs no file is drawn before this returns; the promise is for files that are not read yet.
   * @param {Partial<object>} options
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
        this.#chart.update("none");
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

  /**
   * Sets the ends of an axis after Chart.js found those of what is visible: series that are not shown yet count, so that
   * no axis moves when they are. What the page itself hid does not.
   */
  limit(scale) {
    const chart = this.#chart;
    const { axes, range } = this.settings;
    if (!chart || !this.model || scale.type === "category") return;
    // Axes of the page's own are only made longer.
    const own = axes === false ? { low: scale.min, high: scale.max } : null;
    const { about } = choiceOf(this.settings);
    const counted = this.entries.filter(
      ({ name, label }, i) => about(name) && (this.#hidden.has(label) || chart.isDatasetVisible(i)),
    );
    const lists = counted.map(({ points }) => points);
    const positive = isLogarithmic(scale.type);
    if (scale.axis === "x") {
      const header = this.model.kind === "wide" ? [this.model.xs.map((x) => ({ x }))] : [];
      if (!own) setLimits(scale, this.#fromZero(scale, xRange([...header, ...lists], { positive })));
      return;
    }
    const runs = this.runs ? runsOf(counted, this.runs) : [];
    const wanted = range && Number.isFinite(range.low) && Number.isFinite(range.high) ? range : null;
    const part = this.#xPart();
    setLimits(
      scale,
      unite(
        yRange([...lists, ...runs], { positive, ...part }),
        wanted && (!positive || wanted.low > 0) ? wanted : null,
        own,
      ),
    );
  }

  /** Time since a start begins there, also where the first value is of a moment later. */
  #fromZero(scale, range) {
    const { low, high } = range ?? {};
    const isTime = xUnitOf(this.model, this.settings) === "seconds" && scale.type === "linear";
    return isTime && low > 0 && low <= high * NEAR_ZERO ? { low: 0, high } : range;
  }

  /** The part of the x axis that the page set: what lies outside of it does not count. */
  #xPart() {
    const bounds = this.#chart.scales.x?.getUserBounds();
    if (!bounds || this.#chart.scales.x.type === "category") return {};
    return {
      ...(bounds.minDefined ? { from: bounds.min } : {}),
      ...(bounds.maxDefined ? { to: bounds.max } : {}),
    };
  }

  /** Ends all work for the chart; what still arrives is ignored. */
  destroy() {
    this.#request?.abort();
    this.#runs.destroy();
    this.#second.destroy();
    clearError(this.#canvas);
    showNotes(this.#canvas, []);
    this.#chart = null;
  }

  async #load() {
    // Both at once, but the chart is drawn as soon as its own file is there.
    const further = this.#readFurther(true);
    const changed = await this.#loadOwn();
    return (await further) || changed;
  }

  async #loadOwn() {
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

  /**
   * Reads runs and second data set, as far as they are wanted, and draws them. Runs that are hidden stay until the
   * chart's own file is read again.
   * @param {boolean} fresh   also what was read before
   */
  async #readFurther(fresh) {
    const { runs, overlay } = this.settings;
    const before = this.#second.error;
    const reads = [this.#second.want(overlay?.url ?? null, { fresh: fresh && Boolean(overlay) })];
    if (runs && this.url) reads.push(this.#runs.want(companionUrl(this.url, "runs"), { fresh }));
    else if (fresh) reads.push(this.#runs.want(null));
    const changes = await Promise.all(reads);
    if (!this.#chart || !changes.some(Boolean)) return false;
    if (this.model) this.#redraw();
    else if (before !== this.#second.error) this.#writeNotes();
    return true;
  }

  async #readRuns(url, { signal }) {
    const { maxBytes, fetch } = this.settings;
    const text = await loadText(url, { signal, maxBytes, ...(fetch ? { fetch } : {}) });
    try {
      return readRuns(text);
    } catch (error) {
      throw error instanceof CsvError ? error.in(url) : error;
    }
  }

  async #readSecond(url, { signal }) {
    const { bands, maxBytes, fetch } = this.settings;
    const { model } = await loadModel(url, { bands, maxBytes, signal, ...(fetch ? { fetch } : {}) });
    return model;
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
    this.#apply();
  }

  /** Everything anew that depends on style and options, and word of it: axes may have changed. */
  #redraw() {
    this.#apply();
    this.#chart.update("none");
    this.#announce();
  }

  /** The second data set as far as it can share the axes: numbers beside numbers, words beside words. */
  get #beside() {
    const { overlay } = this.settings;
    const model = this.#second.data;
    if (!overlay || !model || typeof model.xs[0] !== typeof this.model.xs[0]) return null;
    return { model, label: overlay.label ?? overlay.url };
  }

  /** Model, options and present style → the chart's data and scales; the caller updates the chart. */
  #apply() {
    const chart = this.#chart;
    const { model, settings } = this;
    const { type } = chart.config;
    const canvas = this.#canvas;
    const second = this.#beside;
    this.entries = entriesOf(model, second, this.#thinning(settings, type));
    const lookOf = (name) => {
      const style = styleOf(name, settings);
      const color = resolveColor(canvas, style.color);
      if (!second) return { ...style, color };
      const faded = resolveColor(canvas, `color-mix(in srgb, ${style.color} ${FADED}, transparent)`);
      return { ...style, color, faded };
    };
    chart.data = dataFor(model, type, lookOf, {
      existing: this.#datasets,
      overrides: settings.datasets,
      entries: this.entries,
      otherXs: second?.model.xs,
      positive: isLogarithmic(yScaleType(settings)),
    });
    this.#datasets = chart.data.datasets;
    chart.options.parsing = this.#datasets.some((dataset) => dataset.parsing);
    this.#choose();
    this.#writeNotes();
    if (settings.axes === false) return;
    const scales = scalesFor(model, type, settings, this.theme);
    scales.y.afterFit = (scale) => {
      scale.width = this.fit("left", scale.width);
    };
    chart.options.scales = merge(scales, scalesNow(settings.scales, settings));
  }

  /** The width of what stands at one side of the plot: what it needs, or more. */
  fit(side, width) {
    this.needs[side] = width;
    return Math.max(width, this.insets[side]);
  }

  /** Leaves at least that much beside the plot. */
  setInsets({ left, right }) {
    if (left === this.insets.left && right === this.insets.right) return;
    const moved = Math.max(left, this.needs.left) !== Math.max(this.insets.left, this.needs.left);
    const widened = Math.max(right, this.needs.right) !== Math.max(this.insets.right, this.needs.right);
    this.insets = { left, right };
    if (this.#chart && (moved || widened)) this.#chart.update("none");
  }

  #thinning(settings, type) {
    if (settings.decimate === false || type !== "line") return null;
    const { min, max } = settings.scales?.x ?? {};
    return { logarithmic: isLogarithmic(xScaleType(this.model, type, settings)), min, max };
  }

  /** Shows the series that were chosen. What the page hid itself stays hidden. */
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

  /** What the chart could not show, in words below it. */
  #writeNotes() {
    const { overlay } = this.settings;
    const lines = [];
    const label = overlay?.label ?? overlay?.url;
    if (overlay && this.#second.error) lines.push(`Not beside ${label}: ${this.#second.error.message}.`);
    else if (overlay && this.#second.data && this.model && !this.#beside)
      lines.push(`Not beside ${label}: its x values are of another kind.`);
    const left = this.#leftOut();
    if (left === 1) lines.push("One value of 0 or less has no place on a logarithmic axis.");
    if (left > 1) lines.push(`${left} values of 0 or less have no place on a logarithmic axis.`);
    showNotes(this.#canvas, lines);
  }

  #leftOut() {
    if (!this.model || this.scale !== "log") return 0;
    const { drawn } = choiceOf(this.settings);
    let count = 0;
    for (const { name, points } of this.model.series) {
      if (drawn(name)) for (const { y } of points) if (y !== null && y <= 0) count += 1;
    }
    return count;
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
    this.entries = [];
    this.#signature = null;
    chart.data = { labels: [], datasets: [] };
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
