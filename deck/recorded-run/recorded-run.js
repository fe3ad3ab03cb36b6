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
import { readRecording } from "./recording.js";
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
export async function startRecordedRun({ deck, charts, data, seconds: asked, announce }) {
  const seconds = asked ?? USUAL_SECONDS;
  let recording = null;
  let timeline = null;
  let playback = null;
  let badge = null;
  /** The slide whose charts play. */
  let slide = null;
  /** Whether it waits for a slide with recorded charts, before which these are empty. */
  let isArmed = false;

  function pause() {
    if (!playback) return;
    playback.paused = !playback.paused;
    announce(playback.paused ? "Recorded run paused" : "Recorded run continues");
    tell();
  }

  /** Plays the current slide's charts from the beginning. */
  async function again() {
    if (await isRecorded()) begin();
  }

  /** Shows all data. */
  async function end() {
    const played = playback !== null;
    if (!played && !isArmed) return;
    stop();
    isArmed = false;
    for (const slot of charts.charts.values()) slot.setRange(null);
    await charts.refresh();
    // Only when the charts are complete, and not if the run has started again meanwhile.
    if (played && playback === null) farewell("Recorded run over: the charts show all data");
  }

  /** The data have changed, and the recording with them: it is read again before it is played. */
  async function update() {
    const ended = end();
    recording = null;
    await ended;
  }

  /** Whether the data on show have a recording, which is at hand then; if they have none, says so. */
  async function isRecorded() {
    try {
      if (data.bundle) throw new Error("a bundle does not say when its runs arrived");
      recording ??= await readRecording(data.dataSet);
      return true;
    } catch (error) {
      badge?.remove();
      farewell(`No recorded run: ${error.message}`);
      return false;
    }
  }

  /** Starts with the experiments of the current slide, if it has recorded ones. */
  function begin() {
    const current = deck.getCurrentSlide();
    const experiments = canvasesOf(current)
      .filter((canvas) => canvas.dataset.chartSrc)
      .map((canvas) => recording.fileAt(data.resolve(canvas.dataset.chartSrc, canvas)))
      .filter((file) => file && recording.groups.has(file.key))
      .map(({ experiment }) => experiment);
    const found = recording.timelineOf([...new Set(experiments)]);
    if (!found) return;
    stop();
    slide = current;
    chooseTitle(experiments);
    timeline = found;
    const steps = matchMedia("(prefers-reduced-motion: reduce)").matches;
    playback = new Playback(timeline, { seconds, steps });
    isArmed = false;
    badge = Badge(deck.getViewportElement() ?? document.body);
    tell();
    announce(`${runTitle(timeline, { seconds })} begins`);
    play(playback).catch((error) => {
      // Whatever fails, the audience sees finished charts, never incomplete ones.
      console.error(error);
      return end();
    });
  }

  async function play(own) {
    await Promise.all([...charts.charts.values()].map(steady));
    // All charts: those of other slides were empty until it was clear what plays.
    if (own === playback) await charts.refresh();
    let last = performance.now();
    while (own === playback) {
      await new Promise((resolve) => setTimeout(resolve, TICK_MILLISECONDS));
      if (own !== playback) return;
      const now = performance.now();
      const passed = Math.min(LONGEST_TICK_SECONDS, (now - last) / 1000);
      last = now;
      const before = own.at;
      // The run pauses while the screen is black.
      const arrived = own.advance(deck.isPaused() ? 0 : passed);
      tell();
      if (own.done) await end();
      else if (arrived) await charts.refresh((slot) => changes(slot, before, own.at));
    }
  }

  /** Gives a chart the axis of its complete data, so that the axis does not move while the chart fills. */
  async function steady(slot) {
    if (!slot.chart) return;
    const file = recording.fileAt(slot.url);
    const film = file && placeOf(file) ? await recording.filmOf(file) : null;
    if (!playback) return;
    const names = slot.settings?.series ?? null;
    slot.setRange(film?.rangeOf((series) => names === null || names.includes(series)) ?? null);
  }

  function changes(slot, from, to) {
    const file = recording.fileAt(slot.url);
    const place = file && placeOf(file);
    return Boolean(place) && changesBetween(place.group, from - place.start, to - place.start);
  }

  /** Has the slide's title say what the verdicts let it say; those on experiments that play are open. */
  function chooseTitle(playing = []) {
    const title = slide?.querySelector("h2");
    if (!title) return;
    const { claims } = data.about(data.nameFor(namedDataSet(slide)));
    const verdicts = Object.entries(claims?.claims ?? {}).map(([id, { experiment, verdict }]) => [
      id,
      { verdict: playing.includes(experiment) ? "inconclusive" : verdict },
    ]);
    chooseTexts(title, { claims: Object.fromEntries(verdicts) });
  }

  function stop() {
    chooseTitle();
    slide = null;
    playback = null;
    timeline = null;
    badge?.remove();
    badge = null;
  }

  function tell() {
    const lacking = lackingWords([...recording.lacking].filter((key) => timeline.charts.has(key)));
    badge.show({
      title: runTitle(timeline, { seconds }),
      share: playback.share,
      position: [runPosition(timeline, playback), lacking].filter(Boolean).join("; "),
    });
  }

  /** Shows a last message and disappears. */
  function farewell(title) {
    const last = Badge(deck.getViewportElement() ?? document.body);
    badge = last;
    last.show({ title });
    setTimeout(() => last.remove(), FAREWELL_MILLISECONDS);
    announce(title);
  }

  /** When the parts of a playing or waiting chart arrive, and where its experiment starts; null if it is complete. */
  function placeOf({ key }) {
    if (timeline) return timeline.charts.get(key) ?? null;
    const group = isArmed && recording.groups.get(key);
    return group ? { group, start: 0 } : null;
  }

  /** Answers the plugin: with a frame for charts that play, else with the file itself. */
  async function read(url, init) {
    const file = recording?.fileAt(url) ?? null;
    if (file?.isOfRuns) return readRuns(file, url, init);
    const film = file && placeOf(file) ? await recording.filmOf(file) : null;
    // Only now: the run may have continued or ended while the film was made.
    const at = film ? momentOf(file) : Infinity;
    if (at === Infinity) return data.fetch(url, init);
    init?.signal?.throwIfAborted();
    const text = film.filesAt(at)[file.suffix];
    return text === undefined ? new Response("there is no such file\n", { status: 404 }) : csvResponse(text);
  }

  async function readRuns(file, url, init) {
    try {
      return csvResponse(await recording.runsAt(file, (key) => momentOf({ key })));
    } catch (error) {
      console.error(error);
      return data.fetch(url, init); // the plugin says what is wrong with the file
    }
  }

  /** How far the playback of a chart's experiment is; Infinity if the chart is complete. */
  function momentOf(file) {
    const place = placeOf(file);
    const at = place ? (playback?.at ?? BEFORE) - place.start : Infinity;
    return place && at >= lastMoment(place.group) ? Infinity : at;
  }

  function reached() {
    if (isArmed) begin();
  }

  const waits = asked !== null;
  const isThere = await isRecorded();
  isArmed = waits && isThere;
  charts.readWith(read);
  deck.on("ready", reached);
  deck.on("slidechanged", reached);
  // A chart that is recreated, or shows another file, has another range.
  deck.on("chart-csv:ready", ({ target }) => {
    const slot = charts.charts.get(target);
    if (slot && playback) steady(slot).catch(console.error);
  });
  if (isThere && !waits) begin();
  else if (isThere && deck.isReady()) {
    await charts.refresh();
    reached();
  }
  return { pause, again, end, update };
}

function csvResponse(text) {
  return new Response(text, { headers: { "Content-Type": "text/csv; charset=utf-8" } });
}
