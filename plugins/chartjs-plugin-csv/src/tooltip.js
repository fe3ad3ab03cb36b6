import { range, value } from "./figures.js";
import { kindOf } from "./kinds.js";
import { sayIn } from "./summary.js";

/**
 * Text of one point for tooltips and tables: value, bounds and number of runs. Pure.
 * `30.7 MB/s (28.1 MB/s to 33 MB/s, n = 10)`
 * @param {import("./table.js").Point} point
 * @param {{yUnit?: string|null, prefix?: string}} [format]
 */
export function describePoint(point, { yUnit, prefix } = {}) {
  const count = point.n === null ? null : `n = ${point.n}`;
  const details = [range(point, yUnit, { prefix }), count].filter(Boolean).join(", ");
  return value(point, yUnit, { prefix }) + (details && ` (${details})`);
}

/**
 * Chart.js tooltip callbacks for the data that are drawn.
 * @param {() => {model: import("./table.js").Model|null, entries: import("./entries.js").Entry[], settings: object}} current
 */
export function tooltipCallbacks(current) {
  const entryOf = (item) => current().entries.find(({ label }) => label === item.dataset.label);
  const pointOf = (item) => {
    const points = entryOf(item)?.points ?? [];
    if (points.length === item.dataset.data.length) return points[item.dataIndex] ?? null;
    // Chart.js has left out points that a screen cannot show, and moved the others by less than a pixel.
    const distance = ({ x, y }) => (y === item.raw.y ? Math.abs(x - item.raw.x) : Infinity);
    return points.reduce((best, point) => (distance(point) < distance(best) ? point : best), points[0]);
  };
  const kind = (item) => kindOf(item.chart.config.type);
  const unitOf = (item) => {
    const { settings, entries } = current();
    const own = entryOf(item);
    const series = entries.filter(({ second }) => second === own.second).indexOf(own);
    return kind(item)?.unitOf?.(settings, { series, at: item.dataIndex }) ?? settings.yUnit;
  };
  return {
    title(items) {
      const { model, settings } = current();
      const point = items.length ? pointOf(items[0]) : null;
      // For data of the page's own Chart.js says what it says without the plugin.
      if (!point) return undefined;
      if (kind(items[0])?.tell) return "";
      const title = settings.xTitle || (model.kind === "wide" && !kind(items[0]) ? model.xLabel : "");
      return [title, sayIn(model, settings).x(point.x)].filter(Boolean).join(" ");
    },
    label(item) {
      const { settings, model } = current();
      const point = pointOf(item);
      if (!point) return undefined;
      const told =
        kind(item)?.tell?.(point, sayIn(model, settings)) ??
        describePoint(point, { ...settings, yUnit: unitOf(item) });
      return `${item.dataset.label}: ${told}`;
    },
  };
}
