import { describeX } from "./tooltip.js";
import { formatValue } from "./units.js";

const KINDS = { line: "Line chart", bar: "Bar chart", scatter: "Scatter chart" };
const NAMED_SERIES = 6;
/** By how much a value between must exceed both ends to be worth a word, as a share of it. */
const WORTH_A_WORD = 0.05;

/**
 * A model in one sentence, for `aria-label` and a spoken summary: what is drawn, over which range, each series' first
 * and last value, and the highest or lowest between them where it lies beyond both. Ratios are said with their
 * interval. Pure.
 *
 * @param {import("./table.js").Model} model
 * @param {{type?: string, title?: string|null, xUnit?: string|null, yUnit?: string|null, yTitle?: string|null, prefix?: string,
 *          second?: string|null}} [options]   second: the name of a second data set that is drawn beside
 */
export function summarize(model, options = {}) {
  const { type = "line", title = null, yTitle = null, prefix = "si", second = null } = options;
  const settings = { ...options, prefix };
  const subject = title || yTitle || null;
  const count = model.series.length;
  const x = (value) => describeX(value, model, settings);
  const axis = model.kind === "wide" ? model.xLabel : options.xTitle || "x";
  const range =
    model.xs.length > 1
      ? `${axis} from ${x(model.xs[0])} to ${x(model.xs.at(-1))}`
      : `${axis} ${x(model.xs[0])}`;
  const beside = second ? `, beside ${second}` : "";
  const head = `${KINDS[type] ?? "Chart"}${subject ? ` of ${subject}` : ""}: ${count} series over ${range}${beside}`;
  const parts = model.series.slice(0, NAMED_SERIES).map((series) => describeSeries(series, x, settings));
  if (count > NAMED_SERIES) parts.push(`and ${count - NAMED_SERIES} more`);
  return parts.length ? `${head}: ${parts.join("; ")}.` : `${head}.`;
}

function describeSeries({ name, points }, x, { yUnit = null, prefix }) {
  const measured = points.filter(({ y }) => y !== null);
  if (measured.length === 0) return `${name} not measured`;
  const format = (number) => formatValue(number, yUnit, { prefix });
  const value = ({ y, low, high }) =>
    yUnit === "ratio" && low !== null && high !== null
      ? `${format(y)} (${format(low)} to ${format(high)})`
      : format(y);
  const missing = points.length - measured.length;
  const gap = missing ? ` (${missing} of ${points.length} not measured)` : "";
  const [first, last] = [measured[0], measured.at(-1)];
  const said = [`${value(first)} at ${x(first.x)}`];
  const between = extremeBetween(measured);
  if (between) said.push(`${between.word} ${value(between.point)} at ${x(between.point.x)}`);
  if (measured.length > 1) said.push(`${value(last)} at ${x(last.x)}`);
  return `${name} ${said.join(", ")}${gap}`;
}

/** The highest or lowest value where it lies well beyond both ends; null where the ends say it all. */
function extremeBetween(points) {
  let [lowest, highest] = [points[0], points[0]];
  for (const point of points) {
    if (point.y < lowest.y) lowest = point;
    if (point.y > highest.y) highest = point;
  }
  const ends = [points[0].y, points.at(-1).y];
  if (highest.y - Math.max(...ends) > Math.abs(highest.y) * WORTH_A_WORD)
    return { word: "highest", point: highest };
  if (Math.min(...ends) - lowest.y > Math.abs(Math.min(...ends)) * WORTH_A_WORD)
    return { word: "lowest", point: lowest };
  return null;
}
