/**
 * A chart told line by line: `data-chart-steps="Without journal | With journal"` makes each name one click, and several
 * joined by `+` one click together. The steps are fragments of reveal, so that clicker, speaker view and address know them.
 * A series that no step names is there from the start.
 */

import { stepsOf } from "../text/canvases.js";

const STEP = "chart-step";

/** Adds the fragments to every slide below `root` whose charts ask for them. Call it once, after Markdown ran. */
export function makeSteps(root) {
  for (const slide of root.querySelectorAll("section")) {
    if (slide.querySelector(`section, .${STEP}`)) continue;
    steppedCanvases(slide).forEach((canvas, position) => {
      stepsOf(canvas.dataset.chartSteps).forEach((names, index) => {
        const step = slide.ownerDocument.createElement("span");
        step.className = `fragment ${STEP}`;
        step.setAttribute("aria-hidden", "true");
        // The charts of a slide take their first step together, their second together, …
        step.dataset.fragmentIndex = index;
        step.dataset.stepOf = position;
        step.dataset.series = names.join(" + ");
        // Notes stay the last element of a slide, where reveal put them.
        slide.insertBefore(step, slide.querySelector(":scope > aside.notes"));
      });
    });
  }
}

/**
 * The series of a chart whose step has not been taken yet. Read from the slide each time: reveal may replace a slide by a
 * copy, and its fragments are what it goes by itself.
 * @returns {Set<string>} empty for a chart without steps
 */
export function awaitedSeries(canvas) {
  const slide = canvas.closest("section");
  const position = slide ? steppedCanvases(slide).indexOf(canvas) : -1;
  if (position < 0) return new Set();
  const steps = [...slide.querySelectorAll(`.${STEP}[data-step-of="${position}"]`)];
  const series = (chosen) => chosen.flatMap((step) => stepsOf(step.dataset.series)[0] ?? []);
  const taken = new Set(series(steps.filter((step) => step.classList.contains("visible"))));
  return new Set(series(steps).filter((name) => !taken.has(name)));
}

/** Whether an element is one of these steps. */
export function isStep(element) {
  return element.classList.contains(STEP);
}

function steppedCanvases(slide) {
  return [...slide.querySelectorAll("canvas[data-chart-steps]")];
}
