/**
 * Charts in `<div class="panels shared-y">` are compared by eye, so they get one y axis: the one that holds
 * the data of all of them.
 */

/** The smallest range that holds all given ones; null for none. */
export function union(ranges) {
  if (ranges.length === 0) return null;
  return {
    min: Math.min(...ranges.map((range) => range.min)),
    max: Math.max(...ranges.map((range) => range.max)),
  };
}

/** Keeps the axes of every such group below `root` equal, also when a file is read again. */
export function shareAxes(root) {
  const own = new WeakMap();
  const apply = ({ target, detail }) => {
    const group = target.closest(".panels.shared-y");
    if (!group || !detail.chart) return;
    own.set(target, ownRange(detail.chart));
    const members = [...group.querySelectorAll("canvas[data-chart]")].filter((canvas) => own.has(canvas));
    const range = union(members.map((canvas) => own.get(canvas).range));
    for (const canvas of members) setRange(own.get(canvas).chart, range);
  };
  root.addEventListener("chart-csv:ready", apply);
  root.addEventListener("chart-csv:updated", apply);
}

/** The range that a chart takes by itself. */
function ownRange(chart) {
  setRange(chart, { min: undefined, max: undefined });
  const { min, max } = chart.scales.y;
  return { chart, range: { min, max } };
}

function setRange(chart, { min, max }) {
  // A chart that was given up because it is far from the current slide has no canvas any more.
  if (!chart.ctx) return;
  Object.assign(chart.options.scales.y, { min, max });
  chart.update("none");
}
