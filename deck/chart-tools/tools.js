/** What each tool does with the charts of a slide, and what its button says. Fetched when one is used, or for a reader. */

import { RATIO, viewOf } from "./views.js";

/**
 * By the name of a tool: returns what to announce, for people who cannot see what it did.
 * @type {Record<string, (slide: Element, given: {shown: import("./shown.js").ShownCharts,
 *        tables: ReturnType<typeof import("./tables.js").Tables>, data: object}) => Promise<string|null>>}
 */
export const ACTS = {
  table: toggleTable,
  view: toggleView,
  scale: toggleScale,
  runs: toggleRuns,

  async about(slide, { shown, data }) {
    const [panel, about] = await Promise.all([import("./panel.js"), import("./about.js")]);
    const slots = shown.slotsOf(slide);
    const at = Math.max(0, slots.indexOf(attended(slots)));
    panel.openPanel(about.aboutCharts(slide, slots, data), { at, fetchFile: data.fetch });
    return null;
  },

  async csv(slide, { shown, data }) {
    const [panel, about] = await Promise.all([import("./panel.js"), import("./about.js")]);
    return panel.copyCsv(about.fileOf(attended(shown.slotsOf(slide))), data.fetch);
  },

  async picture(slide, { shown }) {
    const [panel, about] = await Promise.all([import("./panel.js"), import("./about.js")]);
    const picture = about.pictureFor(slide, attended(shown.slotsOf(slide)));
    return picture ? panel.copyPng(picture, { where: " (key I)" }) : "There is no chart to copy.";
  },
};

/** The texts of buttons; tools without one have only a key. @type {Record<string, (slide: Element) => string>} */
export const TEXTS = {
  table: () => "Table",
  view: (slide) => (isRatio(slide) ? "Absolute" : "Ratio"),
  scale: (slide) => (isRatio(slide) || hasLogAxis(slide) ? "Linear" : "Log"),
  runs: () => "Runs",
  about: () => "About",
};

/** What the tools of a slide can do now, and what is on. */
export function statesOf(slide, { shown, tables, runsOf }) {
  const slots = shown.slotsOf(slide);
  const any = (test) => slots.some(({ state }) => test(state));
  return {
    table: { on: tables.has(slide) },
    view: {
      on: any(({ used }) => used !== null),
      possible: slots.some(({ canvas }) => shown.otherOf(canvas) !== null),
    },
    scale: { on: any(({ scale }) => scale !== null), possible: slots.some(hasScale) },
    runs: { on: any(({ runs }) => runs), possible: slots.some((slot) => runsOf(slot) !== false) },
  };
}

async function toggleTable(slide, { tables }) {
  if (tables.has(slide)) {
    await tables.hide(slide);
    return "Charts";
  }
  await tables.show(slide);
  return "Data as a table";
}

async function toggleView(slide, { shown }) {
  const able = shown.slotsOf(slide).filter(({ canvas }) => shown.otherOf(canvas) !== null);
  if (able.length === 0) return "These charts have no other view.";
  const other = !able.some(({ state }) => state.used);
  await Promise.all(able.map((slot) => shown.showOther(slot, other)));
  return other ? "Switched to the other view" : "Back to the slide’s own view";
}

async function toggleScale(slide, { shown }) {
  const able = shown.slotsOf(slide).filter(hasScale);
  if (able.length === 0) return "These charts have no other axis.";
  const back = able.some(({ state }) => state.scale !== null);
  const opposite = able[0].scale === "log" ? "linear" : "log";
  await Promise.all(able.map((slot) => slot.setScale(back ? null : opposite)));
  return able[0].scale === "log" ? "Logarithmic axis" : "Linear axis";
}

async function toggleRuns(slide, { shown }) {
  const slots = shown.slotsOf(slide);
  const on = !slots.some(({ state }) => state.runs);
  const drawn = await Promise.all(slots.map((slot) => shown.showRuns(slot, on)));
  if (!on) return "Individual runs hidden";
  // The press that hid them again has said so.
  if (drawn.includes(null)) return null;
  const without = drawn.filter((done) => !done).length;
  if (without === slots.length) return "This data set has no individual runs for these charts.";
  return without ? `Individual runs; ${without} of ${slots.length} charts have none` : "Individual runs";
}

/** The axis type that a slide's charts have by default. */
function isRatio(slide) {
  return viewOf(slide.querySelector("canvas[data-chart]")?.dataset.chartSrc) === RATIO;
}

function hasLogAxis(slide) {
  return /^log/.test(slide.querySelector("canvas[data-chart]")?.dataset.chartYScale ?? "");
}

/** Bars start at zero, so their axis cannot be logarithmic; the others have no axis of values. */
const WITHOUT_SCALE = ["bar", "heatmap", "share", "squares"];

function hasScale({ kind }) {
  return !WITHOUT_SCALE.includes(kind);
}

/** The focused chart, or the first one. */
function attended(slots) {
  return slots.find(({ canvas }) => canvas === canvas.ownerDocument.activeElement) ?? slots[0];
}
