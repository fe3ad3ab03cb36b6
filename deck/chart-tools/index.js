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
import { slidesIn } from "../text/slide-data.js";
import { ShownCharts } from "./shown.js";
import { Tables } from "./tables.js";
import { writeWords } from "./words.js";

/** Tools and their keys, letters that reveal leaves free. These only toggle how data are shown. */
const TOOLS = [
  { name: "table", key: "T", code: 84, description: "Charts as a table", toggles: true },
  { name: "view", key: "R", code: 82, description: "Ratios / absolute values", toggles: true },
  { name: "scale", key: "Y", code: 89, description: "Linear / logarithmic y axis", toggles: true },
  { name: "runs", key: "D", code: 68, description: "Individual runs", toggles: true },
];
/** Those of readers open or copy something, and do not exist on stage. */
const READERS_TOOLS = [
  { name: "about", key: "I", code: 73, description: "About these charts: data, commands, copying" },
  { name: "csv", key: "E", code: 69, description: "Copy the chart's CSV" },
  { name: "picture", key: "X", code: 88, description: "Copy the chart as a picture" },
];

/**
 * @param {object} given
 * @param {object} given.deck   reveal, after it is initialised
 * @param {Element} given.root   `.reveal`
 * @param {object} given.charts   the chart plugin
 * @param {object} given.data   data on show
 * @param {{explore: boolean, print: boolean, compare: string|null}} given.mode
 * @param {(text: string) => void} given.announce   says something to a person who cannot see it
 * @returns {{keys: {code: number, key: string, description: string, run: () => Promise<void>}[],
 *            update: () => Promise<void>, ready: Promise<void>}} `ready`: the tools are at work
 */
export function ChartTools({ deck, root, charts, data, mode, announce }) {
  const shown = new ShownCharts({ charts, data, showsAll: () => mode.print || deck.isOverview() });
  const tables = Tables({ slotsOf: (slide) => shown.slotsOf(slide), data, scrolls: mode.explore });
  const tools = mode.explore ? [...TOOLS, ...READERS_TOOLS] : TOOLS;
  /** What the tools do, and a reader's modules, once they are loaded. */
  let code = null;
  let cursor = null;
  let controls = null;

  const slides = () => slidesIn(root).filter((slide) => canvasesOf(slide).length > 0);
  const runsOf = ({ canvas }) => {
    const { chartSrc = null } = canvas.dataset;
    return isOwnFile(chartSrc) ? false : (placeOf(chartSrc, data, canvas).entry?.runs ?? null);
  };

  function say(text) {
    if (!text) return;
    announce(text);
    // On stage there are only the charts.
    if (mode.explore) attempt(import("../page/notice.js").then(({ showToast }) => showToast(text)));
  }

  /** Announces failures of work that runs in the background. */
  function attempt(work) {
    Promise.resolve(work).catch((error) => {
      console.error(error);
      announce(`That failed: ${error.message}`);
    });
  }

  async function fetchTools() {
    code ??= await import("./tools.js");
    return code;
  }

  /** Applies a tool to a slide and announces what it did. */
  async function use(tool, slide) {
    if (shown.slotsOf(slide).length === 0) {
      say("There is no chart on this slide.");
      return;
    }
    try {
      const { ACTS } = code ?? (await fetchTools());
      const words = await ACTS[tool.name](slide, { shown, tables, data });
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
    setControls(slide);
  }

  function setControls(slide) {
    controls?.setControls(slide, code.statesOf(slide, { shown, tables, runsOf }));
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
      tools.map((tool) => ({ ...tool, text: code.TEXTS[tool.name] })).filter(({ text }) => text),
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
    for (const slide of slides()) writeWords(slide, shown, data);
    await tables.renewAll();
    for (const slide of slides()) setControls(slide);
  }

  /** Goes to the chart that the address names. */
  function follow() {
    const number = linkedChart(location.search);
    const slot = number === null ? null : shown.slotsOf(deck.getCurrentSlide())[number - 1];
    if (!slot) return;
    slot.box.classList.add("linked");
    deck.on("slidechanged", () => slot.box.classList.remove("linked"));
    if (mode.explore) slot.canvas.focus({ preventScroll: true });
  }

  async function start() {
    if (mode.explore) {
      const [{ readWithKeys }, made] = await Promise.all([
        import("./cursor.js"),
        import("./controls.js"),
        fetchTools(),
      ]);
      cursor = readWithKeys(root, { slotOf: (canvas) => shown.slotOf(canvas), announce });
      controls = made;
      made.onControl(root, (name, slide) =>
        use(
          tools.find((tool) => tool.name === name),
          slide,
        ),
      );
    }
    // A key should work at its first press.
    else attempt(charts.ready().then(fetchTools));
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
    keys: tools.map((tool) => ({ ...tool, run: () => use(tool, deck.getCurrentSlide()) })),
    update,
    ready: start(),
  };
}
