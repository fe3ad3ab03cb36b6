import { COMPANIONS, companionUrl, runsUrl } from "../companions.js";
import { seriesNames } from "../entries.js";

/** What a reader may choose of a chart. */
const NOTHING = { shown: null, scale: null, runs: null, range: null, used: null, overlay: null };

/** A reader's choices for one canvas; they outlive the chart itself. */
export class Choice {
  #canvas;
  #chosen = { ...NOTHING };

  constructor(canvas) {
    this.#canvas = canvas;
  }

  /** A copy of `{shown, scale, runs, range, used, overlay}`. */
  get state() {
    return { ...this.#chosen, runs: Boolean(this.#chosen.runs) };
  }

  /** @returns {object} the options of the csv plugin that the change affects, with their new values */
  change(change) {
    Object.assign(this.#chosen, change);
    // Whoever wants no runs leaves them to the slide, which may draw them.
    this.#chosen.runs ||= null;
    const { settings } = this;
    return Object.fromEntries(Object.keys(change).map((key) => [key, settings[key]]));
  }

  /** What is shown, as a slide would write it; null for CSV given as text. */
  get src() {
    const { used } = this.#chosen;
    return used ? (used.src ?? null) : (this.#canvas.dataset.chartSrc ?? null);
  }

  /** Further files of the same chart, as a slide would write them. */
  get more() {
    const { used } = this.#chosen;
    return (used ? used.more : seriesNames(this.#canvas.dataset.chartMore)) ?? [];
  }

  /** The series of the chart; a file that replaces the slide's own may have others. */
  get series() {
    return this.#chosen.used?.series ?? seriesNames(this.#canvas.dataset.chartSeries);
  }

  /** The choices as options of the csv plugin. */
  get settings() {
    const { shown, scale, runs, range, overlay } = this.#chosen;
    const second = overlay ? { url: overlay.src, more: overlay.more ?? [], label: overlay.label } : null;
    return { series: this.series, shown, scale, runs, range, overlay: second };
  }

  /** Only what the reader chose; the slide decides the rest. */
  get given() {
    return Object.fromEntries(Object.entries(this.settings).filter(([, value]) => value !== null));
  }

  /**
   * Whether this choice needs the file at an address.
   * @param {string} url
   * @param {(string|null)[]} own   where the chart's own files are
   */
  reads(url, own) {
    const pathOf = (address) => new URL(address, this.#canvas.baseURI).pathname;
    const { overlay } = this.#chosen;
    const files = [...own, overlay?.src, ...(overlay?.more ?? [])].filter(Boolean);
    const names = files.flatMap((file) => [
      file,
      runsUrl(file),
      ...COMPANIONS.map((suffix) => companionUrl(file, suffix)),
    ]);
    return names.some((name) => pathOf(name) === pathOf(url));
  }
}
