/**
 * The tools and their keys. Each acts on the charts of one slide and announces what it did, for people who cannot see it.
 *
 * The keys are letters that reveal leaves free. The keys for everybody only toggle how data are shown. The keys for readers
 * open or copy something, and do not exist on stage.
 */

import { RATIO, viewOf } from "./views.js";

/**
 * @param {{shown: import("./shown.js").ShownCharts, tables: import("./tables.js").Tables, data: object,
 *          explore: boolean}} given
 * @returns {{name: string, key: string, code: number, text: ((slide: Element) => string)|null, description: string,
 *            toggles: boolean, run: (slide: Element) => Promise<string|null>}[]} `text`: of its button; null for none
 */
export function toolsFor({ shown, tables, data, explore }) {
  const tools = [
    {
      name: "table",
      key: "T",
      code: 84,
      text: () => "Table",
      description: "Charts as a table",
      toggles: true,
      run: (slide) => toggleTable(slide, tables),
    },
    {
      name: "view",
      key: "R",
      code: 82,
      text: (slide) => (isRatio(slide) ? "Absolute" : "Ratio"),
      description: "Ratios / absolute values",
      toggles: true,
      run: (slide) => toggleView(slide, shown),
    },
    {
      name: "scale",
      key: "Y",
      code: 89,
      text: (slide) => (isRatio(slide) || hasLogAxis(slide) ? "Linear" : "Log"),
      description: "Linear / logarithmic y axis",
      toggles: true,
      run: (slide) => toggleScale(slide, shown),
    },
    {
      name: "runs",
      key: "D",
      code: 68,
      text: () => "Runs",
      description: "Individual runs",
      toggles: true,
      run: (slide) => toggleRuns(slide, shown),
    },
  ];
  return explore ? [...tools, ...readersTools({ shown, data })] : tools;
}

function readersTools({ shown, data }) {
  return [
    {
      name: "about",
      key: "I",
      code: 73,
      text: () => "About",
      description: "About these charts: data, commands, copying",
      toggles: false,
      async run(slide) {
        const [panel, about] = await Promise.all([import("./panel.js"), import("./about.js")]);
        const slots = shown.slotsOf(slide);
        const at = Math.max(0, slots.indexOf(attended(slots)));
        panel.openPanel(about.aboutCharts(slide, slots, data), { at });
        return null;
      },
    },
    {
      name: "csv",
      key: "E",
      code: 69,
      text: null,
      description: "Copy the chart's CSV",
      toggles: false,
      async run(slide) {
        const [panel, about] = await Promise.all([import("./panel.js"), import("./about.js")]);
        return panel.copyCsv(about.fileOf(attended(shown.slotsOf(slide))));
      },
    },
    {
      name: "picture",
      key: "X",
      code: 88,
      text: null,
      description: "Copy the chart as a picture",
      toggles: false,
      async run(slide) {
        const [panel, about] = await Promise.all([import("./panel.js"), import("./about.js")]);
        const picture = about.pictureFor(slide, attended(shown.slotsOf(slide)));
        return picture ? panel.copyPng(picture) : "There is no chart to copy.";
      },
    },
  ];
}

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

async function toggleTable(slide, tables) {
  if (tables.has(slide)) {
    await tables.hide(slide);
    return "Charts";
  }
  await tables.show(slide);
  return "Data as a table";
}

async function toggleView(slide, shown) {
  const able = shown.slotsOf(slide).filter(({ canvas }) => shown.otherOf(canvas) !== null);
  if (able.length === 0) return "These charts have no other view.";
  const other = !able.some(({ state }) => state.used);
  await Promise.all(able.map((slot) => shown.showOther(slot, other)));
  return other ? "Switched to the other view" : "Back to the slide’s own view";
}

async function toggleScale(slide, shown) {
  const able = shown.slotsOf(slide).filter(hasScale);
  if (able.length === 0) return "These charts have no other axis.";
  const back = able.some(({ state }) => state.scale !== null);
  const opposite = able[0].scale === "log" ? "linear" : "log";
  await Promise.all(able.map((slot) => slot.setScale(back ? null : opposite)));
  return able[0].scale === "log" ? "Logarithmic axis" : "Linear axis";
}

async function toggleRuns(slide, shown) {
  const slots = shown.slotsOf(slide);
  const on = !slots.some(({ state }) => state.runs);
  const drawn = await Promise.all(slots.map((slot) => shown.showRuns(slot, on)));
  if (!on) return "Individual runs hidden";
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
