import { describeX } from "./tooltip.js";
import { formatValue } from "./units.js";

const KINDS = { line: "Line chart", bar: "Bar chart", scatter: "Scatter chart" };
const NAMED_SERIES = 6;

/**
 * A model in one sentence, for `aria-label` and a spoken summary: what is drawn, over which range, and each
 * series' first and last value. Pure.
 *
 * @param {import("./table.js").Model} model
 * @param {{type?: string, title?: string|null, xUnit?: string|null, yUnit?: string|null, yTitle?: string|null, prefix?: string}} [options]
 */
export function summarize(model, options = {}) {
  const { type = "line", title = null, yTitle = null, yUnit = null, prefix = "si" } = options;
  const settings = { ...options, prefix };
  const subject = title ?? yTitle ?? null;
  const count = model.series.length;
  const x = (value) => describeX(value, model, settings);
  const axis = model.kind === "wide" ? model.xLabel : (options.xTitle ?? "x");
  const range =
    model.xs.length > 1
      ? `${axis} from ${x(model.xs[0])} to ${x(model.xs.at(-1))}`
      : `${axis} ${x(model.xs[0])}`;
  const head = `${KINDS[type] ?? "Chart"}${subject ? ` of ${subject}` : ""}: ${count} series over ${range}`;
  const parts = model.series.slice(0, NAMED_SERIES).map((series) => describeSeries(series, x, yUnit, prefix));
  if (count > NAMED_SERIES) parts.push(`and ${count - NAMED_SERIES} more`);
  return `${head}: ${parts.join("; ")}.`;
}

function describeSeries({ name, points }, x, yUnit, prefix) {
  const measured = points.filter(({ y }) => y !== null);
  if (measured.length === 0) return `${name} not measured`;
  const value = ({ y }) => formatValue(y, yUnit, { prefix });
  const missing = points.length - measured.length;
  const gap = missing ? ` (${missing} of ${points.length} not measured)` : "";
  const [first, last] = [measured[0], measured.at(-1)];
  if (measured.length === 1) return `${name} ${value(first)} at ${x(first.x)}${gap}`;
  return `${name} ${value(first)} at ${x(first.x)}, ${value(last)} at ${x(last.x)}${gap}`;
}
