import { formatValue } from "./units.js";
import { xUnitOf } from "./axes.js";

/**
 * Text of one point for tooltips and tables: value, bounds and number of runs. Pure.
 * `30.7 MB/s (28.1 MB/s to 33 MB/s, n = 10)`
 */
export function describePoint(point, { yUnit, prefix } = {}) {
  const format = (value) => formatValue(value, yUnit, { prefix });
  const details = [];
  if (point.low !== null && point.high !== null)
    details.push(`${format(point.low)} to ${format(point.high)}`);
  if (point.n !== null) details.push(`n = ${point.n}`);
  return format(point.y) + (details.length ? ` (${details.join(", ")})` : "");
}

/** Text of an x value in its unit. Pure. */
export function describeX(x, model, settings) {
  return typeof x === "number" ? formatValue(x, xUnitOf(model, settings), settings) : x;
}

/**
 * Chart.js tooltip callbacks for the data that are drawn.
 * @param {() => {model: import("./table.js").Model|null, entries: import("./entries.js").Entry[], settings: object}} current
 */
export function tooltipCallbacks(current) {
  const pointOf = (item) => {
    const entry = current().entries.find(({ label }) => label === item.dataset.label);
    return entry?.points[item.dataIndex] ?? null;
  };
  return {
    title(items) {
      const { model, settings } = current();
      const point = items.length ? pointOf(items[0]) : null;
      if (!point) return "";
      const title = settings.xTitle || (model.kind === "wide" ? model.xLabel : "");
      return [title, describeX(point.x, model, settings)].filter(Boolean).join(" ");
    },
    label(item) {
      const point = pointOf(item);
      return point
        ? `${item.dataset.label}: ${describePoint(point, current().settings)}`
        : item.dataset.label;
    },
  };
}
