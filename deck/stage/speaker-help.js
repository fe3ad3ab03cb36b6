/**
 * What the speaker view has beside reveal's own parts: what was left out of the talk, which step this is and the paragraph of
 * the notes that goes with it, the size of the notes, and how long each slide took, this time and the last.
 */

import { button, element } from "../page/elements.js";
import { keep, kept } from "../page/kept.js";
import { withoutData } from "./cut.js";

const CLICK = /\([^()]*\b[Cc]lick\b[^()]*\)|\bClick\./g;
const SIZE_KEPT = "replay-notes-size";
/** Of notes, in their usual size. */
const SIZES = [0.8, 1, 1.2, 1.4, 1.7, 2];

/**
 * The steps with which the paragraphs of a note go, where it says “(click)” or “Click.”: a paragraph that begins with a click goes with the
 * step after it, one that ends with it with the step before. Pure.
 * @param {string[]} texts   of the paragraphs
 * @returns {{first: number, last: number}[]} 0 is the slide as it is entered
 */
export function stepsOfNotes(texts) {
  let before = 0;
  return texts.map((text) => {
    const parts = text.split(CLICK);
    const clicks = parts.length - 1;
    const begins = clicks > 0 && parts[0].trim() === "";
    const ends = clicks > (begins ? 1 : 0) && parts.at(-1).trim() === "";
    const range = { first: before + (begins ? 1 : 0), last: before + clicks - (ends ? 1 : 0) };
    before += clicks;
    return range;
  });
}

/** "1:05" */
export function clock(seconds) {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/**
 * How long each slide was on show, kept from one rehearsal to the next.
 * @param {{key: string, now?: () => number}} given   key: of the talk and its cut; now: in ms
 */
export function Times({ key, now = () => performance.now() }) {
  const last = lastTimes(key);
  const seconds = {};
  let id = null;
  let since = 0;

  function turn(next) {
    if (id !== null) seconds[id] = (seconds[id] ?? 0) + (now() - since) / 1000;
    if (id !== null) keep(key, JSON.stringify({ ...last, ...seconds }));
    id = next;
    since = now();
  }
  return {
    turn,
    /** Of a slide: this time, and the last; null where it was not shown. */
    of: (slide) => {
      const running = slide === id ? (now() - since) / 1000 : 0;
      const spent = (seconds[slide] ?? 0) + running;
      return { spent: slide === id || slide in seconds ? spent : null, last: last[slide] ?? null };
    },
  };
}

function lastTimes(key) {
  try {
    return JSON.parse(kept(key) ?? "{}");
  } catch {
    // With what another program put there, there was no last time.
    return {};
  }
}

/**
 * What left for want of data, in a sentence for the speaker; null if nothing did. Pure.
 * @param {ReturnType<typeof import("./cut.js").applyCut>} moved
 * @param {string} dataSet
 */
export function leftOut(moved, dataSet) {
  const left = withoutData(moved).map((id) => moved.get(id));
  if (left.length === 0) return null;
  const minutes = Math.round(left.reduce((sum, { seconds }) => sum + seconds, 0) / 60);
  const many = left.length === 1 ? "One slide is" : `${left.length} slides are`;
  const titles = left.map(({ title }) => `“${title}”`).join(", ");
  return `${many} left out (${minutes} min), because “${dataSet}” has nothing for ${left.length === 1 ? "it" : "them"}: ${titles}.`;
}

/** The deck that each view's helps are of. */
const decks = new WeakMap();

/**
 * Adds them to a speaker view, and keeps them in step with the deck as long as it is open.
 * @param {Document} page   of the speaker view, mended
 * @param {{deck: object, leftOut: string|null, key: string}} given
 */
export function helpSpeaker(page, { deck, leftOut, key }) {
  const notes = page.querySelector(".speaker-controls-notes");
  const time = page.querySelector(".speaker-controls-time");
  if (!notes || !time) return;
  // The view may say more than once that it is there; what a speaker has opened in it stays.
  if (decks.get(time.querySelector(".here")) === deck) return;
  const make = (...given) => element(page, ...given);
  const step = make("span", { class: "step" });
  const spent = make("span", { class: "spent" });
  const rows = make("tbody");
  const table = make(
    "details",
    { class: "times" },
    make("summary", {}, "Times of all slides"),
    make("table", {}, make("thead", {}, row("th", ["Slide", "Plan", "Last time", "Now"])), rows),
  );
  // Beyond it, a click would set the clock.
  table.addEventListener("click", (event) => event.stopPropagation());
  const here = make("p", { class: "here" }, step, spent);
  const left = leftOut === null ? null : make("p", { class: "left-out", role: "status" }, leftOut);
  const sizes = sizeButtons(page);
  const added = [here, table, left, sizes].filter(Boolean);
  function row(cell, texts) {
    return make("tr", {}, ...texts.map((text) => make(cell, {}, text)));
  }

  function writeTimes() {
    const slide = deck.getCurrentSlide();
    if (!slide) return;
    const { spent: now, last } = times.of(slide.id);
    const plan = slide.dataset.timing ? ` of ${clock(Number(slide.dataset.timing))}` : "";
    spent.textContent = `This slide ${clock(now ?? 0)}${plan}${last === null ? "" : ` · last time ${clock(last)}`}`;
    if (table.open) rows.replaceChildren(...deck.getSlides().map(rowOf));
  }

  function rowOf(slide) {
    const { spent: now, last } = times.of(slide.id);
    const written = (seconds) => (seconds === null ? "" : clock(seconds));
    const { timing } = slide.dataset;
    return row("td", [slide.id, written(timing ? Number(timing) : null), written(last), written(now)]);
  }

  function writeStep() {
    const slide = deck.getCurrentSlide();
    const indexes = [...(slide?.querySelectorAll(".fragment:not(.disabled)") ?? [])].map(
      ({ dataset }) => dataset.fragmentIndex,
    );
    const count = new Set(indexes).size;
    const at = (deck.getIndices().f ?? -1) + 1;
    step.textContent = count > 0 ? `Step ${at + 1} of ${count + 1}` : "";
    const paragraphs = [...notes.querySelectorAll(".value p")];
    const ranges = stepsOfNotes(paragraphs.map(({ textContent }) => textContent));
    const tells = count > 0 && ranges.some(({ last }) => last > 0);
    paragraphs.forEach((paragraph, index) => {
      const isNow = tells && ranges[index].first <= at && at <= ranges[index].last;
      if (isNow) paragraph.setAttribute("aria-current", "step");
      else paragraph.removeAttribute("aria-current");
    });
    page.querySelector(".value p[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  const turned = () => {
    times.turn(deck.getCurrentSlide()?.id ?? null);
    writeTimes();
  };
  const view = page.defaultView;
  // The deck was reloaded, or S was pressed again: the view has the helps of before.
  view.replayLeave?.();
  // Only now, with the times that were kept.
  const times = Times({ key });
  times.turn(deck.getCurrentSlide()?.id ?? null);
  time.append(here, table);
  decks.set(here, deck);
  if (left) page.querySelector("#speaker-controls").prepend(left);
  notes.prepend(sizes);
  // reveal writes the notes when its message arrives, after the deck has moved on.
  const written = new view.MutationObserver(writeStep);
  written.observe(notes.querySelector(".value"), { childList: true });
  const ticking = view.setInterval(writeTimes, 1000);
  table.addEventListener("toggle", writeTimes);
  const types = ["slidechanged", "fragmentshown", "fragmenthidden"];
  deck.on("slidechanged", turned);
  for (const type of types) deck.on(type, writeStep);
  view.replayLeave = () => {
    times.turn(null);
    view.clearInterval(ticking);
    written.disconnect();
    deck.off("slidechanged", turned);
    for (const type of types) deck.off(type, writeStep);
    for (const part of added) part.remove();
  };
  view.addEventListener("pagehide", view.replayLeave, { once: true });
  writeTimes();
  writeStep();
}

/** Smaller and larger notes; the size is kept. */
function sizeButtons(page) {
  let at = SIZES.indexOf(Number(kept(SIZE_KEPT)));
  if (at < 0) at = SIZES.indexOf(1);
  const apply = () => page.documentElement.style.setProperty("--notes-size", String(SIZES[at]));
  const by = (step, text, label) =>
    button(page, { "aria-label": label }, text, () => {
      at = Math.max(0, Math.min(SIZES.length - 1, at + step));
      keep(SIZE_KEPT, SIZES[at]);
      apply();
    });
  apply();
  return element(
    page,
    "div",
    { class: "notes-size" },
    by(-1, "Smaller", "Smaller notes"),
    by(1, "Larger", "Larger notes"),
  );
}
