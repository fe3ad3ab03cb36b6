/**
 * The tools and their keys. Each acts on the charts of one slide and says what it did, in words for who does not see it.
 *
 * The keys are letters that reveal leaves free. Those for everybody only change how data are shown and change back; those
 * for readers open or copy something, and a stage does not have them.
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
      description: "Ratio, or what was measured",
      toggles: true,
      run: (slide) => toggleView(slide, shown),
    },
    {
      name: "scale",
      key: "Y",
      code: 89,
      text: (slide) => (isRatio(slide) || hasLogAxis(slide) ? "Linear" : "Log"),
      description: "y axis linear or logarithmic",
      toggles: true,
      run: (slide) => toggleScale(slide, shown),
    },
    {
      name: "runs",
      key: "D",
      code: 68,
      text: () => "Runs",
      description: "Every run as a dot",
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
      description: "About these charts: data, commands, copies",
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
        return picture ? panel.copyPng(picture) : "There is no chart to take a picture of.";
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
  return other ? "The other view of these measurements" : "The view of the slide";
}

async function toggleScale(slide, shown) {
  const able = shown.slotsOf(slide).filter(hasScale);
  if (able.length === 0) return "The axis of bars begins at zero and stays linear.";
  const back = able.some(({ state }) => state.scale !== null);
  const opposite = able[0].scale === "log" ? "linear" : "log";
  await Promise.all(able.map((slot) => slot.setScale(back ? null : opposite)));
  return able[0].scale === "log" ? "Logarithmic axis" : "Linear axis";
}

async function toggleRuns(slide, shown) {
  const slots = shown.slotsOf(slide);
  const on = !slots.some(({ state }) => state.runs);
  const drawn = await Promise.all(slots.map((slot) => shown.showRuns(slot, on)));
  if (!on) return "Without the single runs";
  const without = drawn.filter((done) => !done).length;
  if (without === slots.length) return "The single runs of these charts are not in the data on show.";
  return without
    ? `Every run as a dot; ${without} of ${slots.length} charts have none`
    : "Every run as a dot";
}

/** How a slide's charts are drawn by themselves. */
function isRatio(slide) {
  return viewOf(slide.querySelector("canvas[data-chart]")?.dataset.chartSrc) === RATIO;
}

function hasLogAxis(slide) {
  return /^log/.test(slide.querySelector("canvas[data-chart]")?.dataset.chartYScale ?? "");
}

/** Bars begin at zero, so that theirs is no axis to take logarithms of. */
function hasScale({ kind }) {
  return kind !== "bar";
}

/** The chart that has the focus, else the first. */
function attended(slots) {
  return slots.find(({ canvas }) => canvas === canvas.ownerDocument.activeElement) ?? slots[0];
}
