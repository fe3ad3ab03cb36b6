/**
 * A chart in one sentence, computed from what it draws, for people who hear the chart instead of seeing it. The wording
 * comes from the chart plugin; this module adds what only the deck knows. Pure.
 */

import { summarize, withSeries } from "chartjs-plugin-csv";
import { marginWords } from "../data/margin.js";
import { chartedAs } from "./charted.js";

/**
 * @param {object} chart
 * @param {string} chart.kind   line, bar, scatter, or another kind of the plugin
 * @param {string|null} chart.heading   the heading above it
 * @param {string|null} chart.quantity   what its y axis measures, in words
 * @param {import("chartjs-plugin-csv").Model} chart.model
 * @param {string[]} chart.shown   the series that are shown
 * @param {{xLabel: string|null, xUnit: string|null, yUnit: string|null}} chart.axes
 * @param {object|null} [chart.settings]   options of the plugin for this chart
 * @param {{low: number, high: number}|null} [chart.margin]   what counts as no difference
 * @param {string|null} chart.dataSet
 * @param {string|null} [chart.compared]   the data set that is drawn beside it
 */
export function sentenceOf({ margin = null, dataSet, compared = null, axes, settings = null, ...chart }) {
  const model = withSeries(chart.model, chart.shown);
  const title = [chart.heading, chart.quantity].filter(Boolean).join(", ");
  const notes = [margin && `shaded, ${marginWords(margin)}`, dataSet && `data set ${dataSet}`];
  const { kind: type } = chart;
  return summarize(model, {
    ...settings,
    ...axes,
    type,
    title,
    xTitle: axes.xLabel,
    second: compared,
    notes,
  });
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
