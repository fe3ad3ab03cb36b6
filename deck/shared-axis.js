/**
 * Charts in `<div class="panels shared-y">` are compared by eye, so they get one y axis: the one that holds
 * the data of all of them.
 */

/** What says that a chart's own range may be another one. */
const CHANGES = ["chart-csv:ready", "chart-csv:updated"];

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
    if (!group || !detail.chart?.scales?.y) return;
    own.set(target, ownRange(detail.chart));
    const members = [...group.querySelectorAll("canvas[data-chart]")]
      .map((canvas) => own.get(canvas))
      // A chart that was given up because it is far from the current slide has no canvas any more.
      .filter((member) => member?.chart.ctx && isAlike(member.chart, detail.chart));
    const range = union(members.map((member) => member.range));
    for (const { chart } of members) setRange(chart, range);
  };
  for (const type of CHANGES) root.addEventListener(type, apply);
}

/** While a reader changes views, one panel may measure something else than its neighbour, or on another kind of axis. */
function isAlike(a, b) {
  const unit = (chart) => chart.config.options.plugins?.csv?.yUnit ?? null;
  return unit(a) === unit(b) && a.scales.y.type === b.scales.y.type;
}

/** The range that a chart takes by itself. */
function ownRange(chart) {
  setRange(chart, { min: undefined, max: undefined });
  const { min, max } = chart.scales.y;
  return { chart, range: { min, max } };
}

function setRange(chart, { min, max }) {
  if (!chart.ctx) return;
  Object.assign(chart.options.scales.y, { min, max });
  chart.update("none");
}
