/**
 * The recorded run (`?run`): charts fill as they did during the measurement, for a stage without a cluster.
 *
 * The plugin reads CSV files as usual; this module answers with their content at that moment of the recording. Nothing is
 * made up: each value is computed from the runs that had arrived (`runs.csv`) at the moments in `recording.json`, and at
 * the end the charts read their own files. A run plays the experiments of one slide: the first slide with recorded charts,
 * or the current slide when it is played again. All other charts are complete. As long as it plays, the slide's title says
 * what it says of data that settle nothing.
 */

import "../../css/recorded-run.css";
import { Badge } from "./badge.js";
import { canvasesOf } from "../text/canvases.js";
import { chooseTexts } from "../text/verdict-text.js";
import { namedDataSet } from "../text/slide-data.js";
import { changesBetween, lastMoment } from "./film.js";
import { Recording } from "./recording.js";
import { Playback } from "./timeline.js";
import { lackingWords, runPosition, runTitle } from "./words.js";

const TICK_MILLISECONDS = 200;
/** Keeps a tab that was in the background from jumping ahead. */
const LONGEST_TICK_SECONDS = 1;
/** How long the final line stays. */
const FAREWELL_MILLISECONDS = 8000;
const USUAL_SECONDS = 60;
/** Before the first moment: nothing has arrived. */
const BEFORE = -1;

/**
 * Arms the recorded run of the data set on show; a deck that is ready plays at once.
 *
 * @param {{deck: object, charts: object, data: object, seconds: number|null, announce: (text: string) => void}} parts
 *   deck: reveal's, started or not; charts: the reveal plugin of chartjs-plugin-csv; data: DataOnShow; seconds: null where the
 *   address asks for no run: it does not wait for a slide with recorded charts, before which these would be empty
 * @returns {Promise<{pause: () => void, again: () => Promise<void>, end: () => Promise<void>, update: () => Promise<void>}>}
 */
export async function startRecordedRun(parts) {
  const run = new RecordedRun(parts);
  await run.arm({ waits: parts.seconds !== null });
  return run;
}

class RecordedRun {
  #deck;
  #charts;
  #data;
  #seconds;
  #announce;
  #recording = null;
  #timeline = null;
  #playback = null;
  #badge = null;
  /** The slide whose charts play. */
  #slide = null;
  /** Whether it waits for a slide with recorded charts, before which these are empty. */
  #isArmed = false;

  constructor({ deck, charts, data, seconds, announce }) {
    this.#deck = deck;
    this.#charts = charts;
    this.#data = data;
    this.#seconds = seconds ?? USUAL_SECONDS;
    this.#announce = announce;
  }

  async arm({ waits }) {
    const isThere = await this.#isRecorded();
    this.#isArmed = waits && isThere;
    this.#charts.readWith((url, init) => this.#read(url, init));
    const reached = () => {
      if (this.#isArmed) this.#begin();
    };
    this.#deck.on("ready", reached);
    this.#deck.on("slidechanged", reached);
    // A chart that is recreated, or shows another file, has another range.
    this.#deck.on("chart-csv:ready", ({ target }) => {
      const slot = this.#charts.charts.get(target);
      if (slot && this.#playback) this.#steady(slot).catch(console.error);
    });
    if (!isThere) return;
    if (!waits) this.#begin();
    else if (this.#deck.isReady()) {
      await this.#charts.refresh();
      reached();
    }
  }

  pause() {
    if (!this.#playback) return;
    this.#playback.paused = !this.#playback.paused;
    this.#announce(this.#playback.paused ? "Recorded run paused" : "Recorded run continues");
    this.#tell();
  }

  /** Plays the current slide's charts from the beginning. */
  async again() {
    if (await this.#isRecorded()) this.#begin();
  }

  /** Shows all data. */
  async end() {
    const played = this.#playback !== null;
    if (!played && !this.#isArmed) return;
    this.#stop();
    this.#isArmed = false;
    for (const slot of this.#charts.charts.values()) slot.setRange(null);
    await this.#charts.refresh();
    // Only when the charts are complete, and not if the run has started again meanwhile.
    if (played && this.#playback === null) this.#farewell("Recorded run over: the charts show all data");
  }

  /** The data have changed, and the recording with them: it is read again before it is played. */
  async update() {
    const ended = this.end();
    this.#recording = null;
    await ended;
  }

  /** Whether the data on show have a recording, which is at hand then; if they have none, says so. */
  async #isRecorded() {
    try {
      if (this.#data.bundle) throw new Error("a bundle does not say when its runs arrived");
      this.#recording ??= await Recording.of(this.#data.dataSet);
      return true;
    } catch (error) {
      this.#badge?.remove();
      this.#farewell(`No recorded run: ${error.message}`);
      return false;
    }
  }

  /** Starts with the experiments of the current slide, if it has recorded ones. */
  #begin() {
    const slide = this.#deck.getCurrentSlide();
    const experiments = canvasesOf(slide)
      .filter((canvas) => canvas.dataset.chartSrc)
      .map((canvas) => this.#recording.fileAt(this.#data.resolve(canvas.dataset.chartSrc, canvas)))
      .filter((file) => file && this.#recording.groups.has(file.key))
      .map(({ experiment }) => experiment);
    const timeline = this.#recording.timelineOf([...new Set(experiments)]);
    if (!timeline) return;
    this.#stop();
    this.#slide = slide;
    this.#chooseTitle(experiments);
    this.#timeline = timeline;
    const steps = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#playback = new Playback(timeline, { seconds: this.#seconds, steps });
    this.#isArmed = false;
    this.#badge = new Badge(this.#deck.getViewportElement() ?? document.body);
    this.#tell();
    this.#announce(`${runTitle(timeline, { seconds: this.#seconds })} begins`);
    this.#play(this.#playback).catch((error) => {
      // Whatever fails, the audience sees finished charts, never incomplete ones.
      console.error(error);
      return this.end();
    });
  }

  async #play(playback) {
    await Promise.all([...this.#charts.charts.values()].map((slot) => this.#steady(slot)));
    // All charts: those of other slides were empty until it was clear what plays.
    if (playback === this.#playback) await this.#charts.refresh();
    let last = performance.now();
    while (playback === this.#playback) {
      await new Promise((resolve) => setTimeout(resolve, TICK_MILLISECONDS));
      if (playback !== this.#playback) return;
      const now = performance.now();
      const passed = Math.min(LONGEST_TICK_SECONDS, (now - last) / 1000);
      last = now;
      const before = playback.at;
      // The run pauses while the screen is black.
      const arrived = playback.advance(this.#deck.isPaused() ? 0 : passed);
      this.#tell();
      if (playback.done) await this.end();
      else if (arrived) await this.#charts.refresh((slot) => this.#changes(slot, before, playback.at));
    }
  }

  /** Gives a chart the axis of its complete data, so that the axis does not move while the chart fills. */
  async #steady(slot) {
    if (!slot.chart) return;
    const file = this.#recording.fileAt(slot.url);
    const film = file && this.#placeOf(file) ? await this.#recording.filmOf(file) : null;
    if (!this.#playback) return;
    const names = slot.settings?.series ?? null;
    slot.setRange(film?.rangeOf((series) => names === null || names.includes(series)) ?? null);
  }

  #changes(slot, from, to) {
    const file = this.#recording.fileAt(slot.url);
    const place = file && this.#placeOf(file);
    return Boolean(place) && changesBetween(place.group, from - place.start, to - place.start);
  }

  /** Has the slide's title say what the verdicts let it say; those on experiments that play are open. */
  #chooseTitle(playing = []) {
    const title = this.#slide?.querySelector("h2");
    if (!title) return;
    const { claims } = this.#data.about(this.#data.nameFor(namedDataSet(this.#slide)));
    const verdicts = Object.entries(claims?.claims ?? {}).map(([id, { experiment, verdict }]) => [
      id,
      { verdict: playing.includes(experiment) ? "inconclusive" : verdict },
    ]);
    chooseTexts(title, { claims: Object.fromEntries(verdicts) });
  }

  #stop() {
    this.#chooseTitle();
    this.#slide = null;
    this.#playback = null;
    this.#timeline = null;
    this.#badge?.remove();
    this.#badge = null;
  }

  #tell() {
    const lacking = lackingWords(
      [...this.#recording.lacking].filter((key) => this.#timeline.charts.has(key)),
    );
    const position = runPosition(this.#timeline, this.#playback);
    this.#badge.show({
      title: runTitle(this.#timeline, { seconds: this.#seconds }),
      share: this.#playback.share,
      position: [position, lacking].filter(Boolean).join("; "),
    });
  }

  /** Shows a last message and disappears. */
  #farewell(title) {
    const badge = new Badge(this.#deck.getViewportElement() ?? document.body);
    this.#badge = badge;
    badge.show({ title });
    setTimeout(() => badge.remove(), FAREWELL_MILLISECONDS);
    this.#announce(title);
  }

  /** When the parts of a playing or waiting chart arrive, and where its experiment starts; null if it is complete. */
  #placeOf({ key }) {
    if (this.#timeline) return this.#timeline.charts.get(key) ?? null;
    const group = this.#isArmed && this.#recording.groups.get(key);
    return group ? { group, start: 0 } : null;
  }

  /** Answers the plugin: with a frame for charts that play, else with the file itself. */
  async #read(url, init) {
    const file = this.#recording?.fileAt(url) ?? null;
    if (file?.isOfRuns) return this.#readRuns(file, url, init);
    const film = file && this.#placeOf(file) ? await this.#recording.filmOf(file) : null;
    // Only now: the run may have continued or ended while the film was made.
    const at = film ? this.#momentOf(file) : Infinity;
    if (at === Infinity) return this.#data.fetch(url, init);
    init?.signal?.throwIfAborted();
    const text = film.filesAt(at)[file.suffix];
    return text === undefined ? new Response("there is no such file\n", { status: 404 }) : csvResponse(text);
  }

  async #readRuns(file, url, init) {
    try {
      return csvResponse(await this.#recording.runsAt(file, (key) => this.#momentOf({ key })));
    } catch (error) {
      console.error(error);
      return this.#data.fetch(url, init); // the plugin says what is wrong with the file
    }
  }

  /** How far the playback of a chart's experiment is; Infinity if the chart is complete. */
  #momentOf(file) {
    const place = this.#placeOf(file);
    const at = place ? (this.#playback?.at ?? BEFORE) - place.start : Infinity;
    return place && at >= lastMoment(place.group) ? Infinity : at;
  }
}

function csvResponse(text) {
  return new Response(text, { headers: { "Content-Type": "text/csv; charset=utf-8" } });
}
