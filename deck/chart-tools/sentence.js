/**
 * A chart in one sentence, computed from what it draws, for people who hear the chart instead of seeing it. The wording
 * comes from the chart plugin; this module adds what only the deck knows. Pure.
 */

import { formatValue, summarize, withSeries } from "chartjs-plugin-csv";
import { marginWords } from "../data/margin.js";
import { medianOf } from "../data/median.js";
import { STRIP, chartedAs } from "./charted.js";

/**
 * @param {object} chart
 * @param {string} chart.kind   line, bar, scatter or strip
 * @param {string|null} chart.heading   the heading above it
 * @param {string|null} chart.quantity   what its y axis measures, in words
 * @param {import("chartjs-plugin-csv").Model} chart.model
 * @param {string[]} chart.shown   the series that are shown
 * @param {{xLabel: string|null, xUnit: string|null, yUnit: string|null}} chart.axes
 * @param {{low: number, high: number}|null} [chart.margin]   what counts as no difference
 * @param {string|null} chart.dataSet
 * @param {string|null} [chart.compared]   the data set that is drawn beside it
 */
export function sentenceOf({ margin = null, dataSet, compared = null, axes, ...chart }) {
  const model = withSeries(chart.model, chart.shown);
  const title = [chart.heading, chart.quantity].filter(Boolean).join(", ");
  const notes = [margin && `shaded, ${marginWords(margin)}`, dataSet && `data set ${dataSet}`];
  if (chart.kind === STRIP)
    return trialsInWords(model, { title, axes, notes: [...notes, compared && `compared with ${compared}`] });
  const { kind: type } = chart;
  return summarize(model, { ...axes, type, title, xTitle: axes.xLabel, second: compared, notes });
}

/** What a strip shows: the order of its trials means nothing, and the worst one counts. */
function trialsInWords({ series }, { title, axes, notes }) {
  const say = (value) => formatValue(value, axes.yUnit);
  const told = series.map(({ name, points }) => {
    const values = points.flatMap(({ y }) => (y === null ? [] : [y]));
    if (values.length === 0) return `${name} not measured`;
    if (values.length === 1) return `${name} ${say(values[0])} in the only trial`;
    return `${name} median ${say(medianOf(values))}, worst ${say(Math.max(...values))} of ${values.length} trials`;
  });
  if (told.length === 0) told.push("no series shown yet");
  return `Trials${title ? ` of ${title}` : ""}: ${[...told, ...notes.filter(Boolean)].join("; ")}.`;
}

/**
 * The spoken name of each chart, for the plugin's option `summaryFor`.
 * @param {{data: object, compare?: string|null}} given   compare: the data set that is drawn beside the one on show
 * @returns {(slot: object) => string|null} null if the chart has no data yet
 */
export function chartSummary({ data, compare = null }) {
  return (slot) => {
    if (!slot.model) return null;
    const compared = slot.state?.overlay ? compare : null;
    return sentenceOf({ ...chartedAs(slot, data), compared });
  };
}
