/**
 * A chart in one sentence, computed from what it draws: for who hears it instead of seeing it. Pure.
 */

import { counts, figure, place, range } from "./figures.js";
import { marginWords } from "../data/margin.js";

const KINDS = { line: "Line chart", bar: "Bar chart", scatter: "Dots" };
/** So many series are told; a longer sentence is not listened to. */
const MOST_SERIES = 6;

/**
 * @param {object} chart
 * @param {string} chart.kind   line, bar or scatter
 * @param {string|null} chart.heading   what stands over it
 * @param {string|null} chart.quantity   what its y axis measures, in words
 * @param {import("chartjs-plugin-csv").Model} chart.model
 * @param {string[]} chart.shown   the series that are shown
 * @param {{xLabel: string|null, xUnit: string|null, yUnit: string|null}} chart.axes
 * @param {{low: number, high: number}|null} [chart.margin]   what counts as no difference
 * @param {string|null} chart.dataSet
 * @param {string|null} [chart.compared]   the data set that is drawn beside it
 */
export function sentenceOf({
  kind,
  heading,
  quantity,
  model,
  shown,
  axes,
  margin = null,
  dataSet,
  compared = null,
}) {
  const series = model.series.filter(({ name }) => shown.includes(name));
  const subject = [heading, quantity].filter(Boolean).join(", ");
  const head = [KINDS[kind] ?? "Chart", subject && ` of ${subject}`, `: ${span(model, axes)}`].join("");
  const told = series.slice(0, MOST_SERIES).map((one) => describeSeries(one, axes));
  if (series.length === 0) told.push("no series shown yet");
  if (series.length > MOST_SERIES) told.push(`and ${series.length - MOST_SERIES} more`);
  const origin = [
    margin && `shaded, ${marginWords(margin)}`,
    counts(series.flatMap(({ points }) => points)),
    dataSet && `data set ${dataSet}`,
    compared && `compared with ${compared}`,
  ].filter(Boolean);
  return `${[head, ...told, ...origin].join("; ")}.`;
}

function span(model, { xLabel, xUnit }) {
  const label = model.kind === "wide" ? model.xLabel : (xLabel ?? "x");
  const [first, last] = [model.xs[0], model.xs.at(-1)];
  if (model.xs.length < 2) return `${label} ${place(first, xUnit)}`;
  return `${label} from ${place(first, xUnit)} to ${place(last, xUnit)}`;
}

function describeSeries({ name, points }, { xUnit, yUnit }) {
  const measured = points.filter(({ y }) => y !== null);
  if (measured.length === 0) return `${name} not measured`;
  const say = (point, word = "") => {
    const bounds = range(point, yUnit);
    return `${word}${figure(point.y, yUnit)}${bounds ? ` (${bounds})` : ""} at ${place(point.x, xUnit)}`;
  };
  const [first, last] = [measured[0], measured.at(-1)];
  const parts = [say(first)];
  if (last !== first) parts.push(say(last));
  const least = measured.reduce((a, b) => (b.y < a.y ? b : a));
  const greatest = measured.reduce((a, b) => (b.y > a.y ? b : a));
  for (const [word, point] of [
    ["lowest ", least],
    ["highest ", greatest],
  ]) {
    if (point !== first && point !== last) parts.push(say(point, word));
  }
  const missing = points.length - measured.length;
  if (missing) parts.push(`not measured at ${missing} of ${points.length}`);
  return `${name} ${parts.join(", ")}`;
}
