/**
 * A chart presented line by line: in `data-chart-steps="Without journal | With journal"` each name is one click; names joined
 * by `+` share a click. The steps are reveal fragments, so that the clicker, the speaker view and the address know them.
 * Series that no step names are shown from the start.
 */

import { stepsOf } from "../text/canvases.js";

const STEP = "chart-step";

/** Adds the fragments to every slide below `root` whose charts have steps. Call it once, after Markdown ran. */
export function makeSteps(root) {
  for (const slide of root.querySelectorAll("section")) {
    if (slide.querySelector(`section, .${STEP}`)) continue;
    steppedCanvases(slide).forEach((canvas, position) => {
      // Within what a verdict may hide: a step of a chart that is not shown would take a click.
      const place = canvas.parentElement.closest("section [data-when]") ?? slide;
      stepsOf(canvas.dataset.chartSteps).forEach((names, index) => {
        const step = slide.ownerDocument.createElement("span");
        step.className = `fragment ${STEP}`;
        step.setAttribute("aria-hidden", "true");
        // All charts of a slide take their first step together, then their second, …
        step.dataset.fragmentIndex = index;
        step.dataset.stepOf = position;
        step.dataset.series = names.join(" + ");
        // Keep the notes as the slide's last element, where reveal put them.
        place.insertBefore(step, place.querySelector(":scope > aside.notes"));
      });
    });
  }
}

/**
 * The series of a chart whose step has not been taken yet. Read from the slide each time: reveal may replace a slide by a
 * copy, and relies on the fragments itself.
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

function steppedCanvases(slide) {
  return [...slide.querySelectorAll("canvas[data-chart-steps]")];
}
