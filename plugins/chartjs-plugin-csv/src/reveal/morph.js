/**
 * reveal.js's auto-animate for charts: of two neighbouring slides with `data-auto-animate`, a chart whose canvas has the same
 * `data-id` on both begins where its predecessor stands, and moves from there, series by series.
 */

const MOTION = { duration: 700, easing: "easeInOutCubic" };

/**
 * Moves charts from what the slide before shows to what theirs does, unless the viewer wants no motion.
 * @param {import("./slot.js").Slot[]} from
 * @param {import("./slot.js").Slot[]} to
 */
export function morph(from, to) {
  if (globalThis.matchMedia?.("(prefers-reduced-motion: reduce), print").matches) return;
  for (const { canvas, chart } of to) {
    const { id } = canvas.dataset;
    const before = id && from.find((slot) => slot.canvas.dataset.id === id)?.chart;
    if (chart && before && chart.config.type === before.config.type) move(before, chart);
  }
}

function move(before, chart) {
  const metas = new Map(before.getSortedVisibleDatasetMetas().map((meta) => [meta.label, meta]));
  for (const { label, data } of chart.getSortedVisibleDatasetMetas())
    data.forEach((element, index) => {
      const old = metas.get(label)?.data[index];
      if (old && !old.skip && !element.skip) Object.assign(element, placeOf(old));
    });
  const { animation } = chart.options;
  chart.options.animation = MOTION;
  chart.update();
  chart.options.animation = animation;
}

/** Where a mark stands and how large it is, px: what Chart.js moves. */
function placeOf(mark) {
  const names = ["x", "y", "base", "width", "height"].filter((name) => Number.isFinite(mark[name]));
  return Object.fromEntries(names.map((name) => [name, mark[name]]));
}
