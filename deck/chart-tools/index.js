/**
 * What a speaker and a reader can do with the charts of a slide: show them as a table, in the other view, on the other kind
 * of axis, or with individual runs as dots. A reader can also see where they come from and copy them. This module connects
 * the tools to the deck; large modules are fetched on first use.
 *
 * On stage, entering a slide again resets it to its author's settings, so that a key pressed by mistake does no harm.
 */

import { linkedChart } from "./chart-address.js";
import { placeOf } from "./charted.js";
import { isOwnFile } from "../data/own-file.js";
import { canvasesOf } from "../text/canvases.js";
import { ShownCharts } from "./shown.js";
import { Tables } from "./tables.js";
import { statesOf, toolsFor } from "./tools.js";
import { writeWords } from "./words.js";

/**
 * @param {object} given
 * @param {object} given.deck   reveal, after it is initialised
 * @param {Element} given.root   `.reveal`
 * @param {object} given.charts   the chart plugin
 * @param {object} given.data   data on show
 * @param {{explore: boolean, print: boolean, compare: string|null}} given.mode
 * @param {(text: string) => void} [given.announce]   says something to a person who cannot see it
 * @param {string} [given.search]   the page's query, for `?chart=2`
 * @returns {{keys: {code: number, key: string, description: string, run: () => Promise<void>}[],
 *            update: () => Promise<void>, ready: Promise<void>}} `ready`: the tools are at work
 */
export function ChartTools({
  deck,
  root,
  charts,
  data,
  mode,
  announce = () => {},
  search = location.search,
}) {
  const reader = mode.explore && !mode.print;
  const shown = new ShownCharts({ charts, data, showsAll: () => mode.print || deck.isOverview() });
  const tables = new Tables({ slotsOf: (slide) => shown.slotsOf(slide), data, scrolls: mode.explore });
  const tools = toolsFor({ shown, tables, data, explore: mode.explore });
  /** A reader's modules, once they are loaded. */
  let cursor = null;
  let controls = null;

  const slides = () =>
    [...root.querySelectorAll(".slides section")].filter(
      (one) => !one.querySelector("section") && canvasesOf(one).length > 0,
    );
  const runsOf = ({ canvas: { dataset } }) =>
    isOwnFile(dataset.chartSrc) ? false : (placeOf(dataset.chartSrc ?? null, data).entry?.runs ?? null);

  function say(text) {
    if (!text) return;
    announce(text);
    // On stage there are only the charts.
    if (reader) attempt(import("../page/notice.js").then(({ showToast }) => showToast(text)));
  }

  /** Announces failures of work that runs in the background. */
  function attempt(work) {
    Promise.resolve(work).catch((error) => {
      console.error(error);
      announce(`That failed: ${error.message}`);
    });
  }

  /** Applies a tool to a slide and announces what it did. */
  async function use(tool, slide) {
    if (shown.slotsOf(slide).length === 0) {
      say("There is no chart on this slide.");
      return;
    }
    try {
      const words = await tool.run(slide);
      await settle(slide);
      say(words);
    } catch (error) {
      console.error(error);
      say(`That failed: ${error.message}`);
    }
  }

  /** Updates a slide's words, tables and controls after a change of what it shows. */
  async function settle(slide) {
    writeWords(slide, shown, data);
    for (const slot of shown.slotsOf(slide)) slot.describe();
    await tables.renew(slide);
    controls?.setControls(slide, statesOf(slide, { shown, tables, runsOf }));
  }

  /** Prepares a slide: ids for links, keys and controls for a reader, the series of its steps. */
  function take(slide) {
    for (const [position, slot] of shown.slotsOf(slide).entries()) {
      if (slide.id) slot.box.id = `${slide.id}--${position + 1}`;
      cursor?.take(slot.canvas);
      shown.showSeries(slot);
    }
    controls?.addControls(
      slide,
      tools.filter(({ text }) => text !== null),
    );
  }

  async function restore(slide) {
    if (!shown.isChanged(slide) && !tables.has(slide)) return;
    await tables.hide(slide);
    await shown.restore(slide);
    await settle(slide);
  }

  async function compare() {
    if (!mode.compare) return;
    const { Comparison } = await import("./comparison.js");
    const first = shown.comparison === null;
    const comparison = shown.comparison ?? new Comparison({ name: mode.compare, data });
    await comparison.load();
    shown.comparison = comparison;
    if (first && comparison.problem !== null) {
      const { showNotice } = await import("../page/notice.js");
      showNotice(comparison.problem);
    }
    await Promise.all(shown.all().map((slot) => shown.showComparison(slot)));
  }

  /** Updates everything to the current data. */
  async function update() {
    await compare();
    for (const slide of slides()) {
      writeWords(slide, shown, data);
      controls?.setControls(slide, statesOf(slide, { shown, tables, runsOf }));
    }
    await tables.renewAll();
  }

  /** Goes to the chart that the address names. */
  function follow() {
    const number = linkedChart(search);
    const slot = number === null ? null : shown.slotsOf(deck.getCurrentSlide())[number - 1];
    if (!slot) return;
    slot.box.classList.add("linked");
    deck.on("slidechanged", () => slot.box.classList.remove("linked"));
    if (reader) slot.canvas.focus({ preventScroll: true });
  }

  async function start() {
    if (reader) {
      const [{ readWithKeys }, made] = await Promise.all([import("./cursor.js"), import("./controls.js")]);
      cursor = readWithKeys(root, { slotOf: (canvas) => shown.slotOf(canvas), announce });
      controls = made;
      made.onControl(root, (name, slide) =>
        use(
          tools.find((tool) => tool.name === name),
          slide,
        ),
      );
    }
    for (const slide of slides()) take(slide);
    await update();
    follow();
  }

  function onData({ target, type }) {
    const slot = shown.slotOf(target);
    const slide = slot?.slide;
    if (!slide) return;
    if (type === "chart-csv:ready") {
      // The canvas may be new if the slide was copied.
      take(slide);
      attempt(shown.showComparison(slot));
    }
    attempt(tables.renew(slide));
  }

  function showSteps(slots) {
    for (const slot of slots) {
      if (slot.canvas.dataset.chartSteps) shown.showSeries(slot);
    }
  }

  function onSteps({ fragments }) {
    for (const slide of new Set(fragments.map((fragment) => fragment.closest("section")))) {
      showSteps(shown.slotsOf(slide));
      attempt(tables.renew(slide));
    }
  }

  deck.on("slidechanged", ({ previousSlide }) => {
    if (!mode.explore && !mode.print && previousSlide) attempt(restore(previousSlide));
  });
  for (const type of ["fragmentshown", "fragmenthidden"]) deck.on(type, onSteps);
  for (const type of ["overviewshown", "overviewhidden"]) deck.on(type, () => showSteps(shown.all()));
  for (const type of ["ready", "updated", "error"]) root.addEventListener(`chart-csv:${type}`, onData);

  return {
    keys: tools.map((tool) => ({
      code: tool.code,
      key: tool.key,
      description: tool.description,
      run: () => use(tool, deck.getCurrentSlide()),
    })),
    update,
    ready: start(),
  };
}
