import { csvOf } from "../plugin.js";
import { summarize } from "../summary.js";
import { whenIdle } from "./idle.js";

/** A chart of more points is shown before it is described, which takes longer than a frame may. */
const MANY_POINTS = 10_000;

/**
 * Writes the text of a chart: its label for screen readers, and its caption.
 * @param {import("./slot.js").Slot} slot
 * @param {{labelFor: Function|null, summaryFor: Function|null}} context   the page's own texts
 */
export async function describe(slot, { labelFor, summaryFor }) {
  const { model, canvas, caption } = slot;
  if (model?.series.some(({ points }) => points.length > MANY_POINTS)) {
    await new Promise((resolve) => whenIdle(resolve));
    if (slot.model !== model) return;
  }
  if (model) canvas.setAttribute("aria-label", summaryOf(slot, summaryFor));
  if (!caption) return;
  let label;
  try {
    label = model ? await labelFor(slot.src, model) : null;
  } catch (error) {
    console.error(error);
    label = `No caption: ${error.message}`;
  }
  if (slot.model === model) caption.replaceChildren(label ?? "\u00a0");
}

function summaryOf(slot, summaryFor) {
  try {
    const summary = summaryFor?.(slot);
    if (summary) return summary;
  } catch (error) {
    // The page's own summary failed: its author sees the error, and the chart still gets a summary.
    console.error(error);
  }
  const { overlaid, settings } = csvOf(slot.chart);
  return summarize(slot.shownModel, {
    ...settings,
    type: slot.kind,
    title: slot.canvas.dataset.chartLabel ?? null,
    second: overlaid ? (settings.overlay.label ?? settings.overlay.url) : null,
  });
}
