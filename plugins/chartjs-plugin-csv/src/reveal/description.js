import { csvOf } from "../plugin.js";
import { summarize } from "../summary.js";

/** A chart of more points is shown before it is described, which takes longer than a frame may. */
const MANY_POINTS = 10_000;
/** Longest wait for that, ms. */
const TIMEOUT = 250;

/**
 * Writes the label of a chart for screen readers.
 * @param {import("./slot.js").Slot} slot
 * @param {{summaryFor: Function|null}} context   the page's own text
 */
export async function describe(slot, { summaryFor }) {
  const { model } = slot;
  if (model?.series.some(({ points }) => points.length > MANY_POINTS)) {
    await whenIdle();
    if (slot.model !== model) return;
  }
  if (model) slot.canvas.setAttribute("aria-label", summaryOf(slot, summaryFor));
}

function summaryOf(slot, summaryFor) {
  try {
    const summary = summaryFor?.(slot);
    if (summary) return summary;
  } catch (error) {
    // The page's own summary failed: its author sees the error, and the chart still gets a summary.
    console.error(error);
  }
  const { overlaid } = csvOf(slot.chart);
  return summarize(slot.shownModel, {
    ...slot.settings,
    type: slot.kind,
    title: slot.canvas.dataset.chartLabel ?? null,
    second: overlaid ? slot.state.overlay.label : null,
  });
}

function whenIdle() {
  return new Promise((resolve) => {
    // Safari has no idle callbacks.
    if (globalThis.requestIdleCallback) requestIdleCallback(() => resolve(), { timeout: TIMEOUT });
    else setTimeout(resolve, 0);
  });
}
