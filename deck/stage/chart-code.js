/**
 * The code that draws charts, in one chunk that is fetched while the first slide or page is shown: Chart.js is larger than
 * everything else, and a title slide does not need it.
 */

import { Chart } from "chart.js";
import { merge } from "chart.js/helpers";
import { PALETTE } from "chartjs-plugin-csv";
import { RevealChartCsv } from "chartjs-plugin-csv/reveal";

import { CeilingMarks } from "../data/ceilings.js";
import { CHART_OPTIONS, optionsFor, optionsOfSlide, seriesStyles } from "./chart-styles.js";
import { marksOf, notesOf } from "../chart-tools/marks.js";
import { chartSummary } from "../chart-tools/sentence.js";
import { colorOf } from "../page/theme.js";
import { StripController, StripNames } from "./strip-chart.js";

Chart.register(StripController, StripNames);

export { ChartTools } from "../chart-tools/index.js";

/**
 * The chart plugin of every page of the talk.
 * @param {object} given
 * @param {object} given.data   data on show
 * @param {string|null} given.compare   the data set that is drawn beside it
 * @param {Record<string, string[]>} given.series   names of series, by their look
 * @param {(canvas: Element) => {resolve: (value: string) => string|null}} given.numbersAt   the bound values of its slide
 * @param {(src: string) => object|null} given.manifestOf   the manifest of a chart's data set
 * @param {(src: string) => object|null} given.entryOf   what that manifest says of the chart
 * @param {object} [options]   Chart.js options over those of the stage
 */
export function makeCharts({ data, compare, series, numbersAt, manifestOf, entryOf }, options = {}) {
  const ceilings = CeilingMarks({ manifestOf, entryOf });
  return RevealChartCsv({
    resolve: (src) => data.resolve(src),
    fetch: data.fetch,
    styles: seriesStyles(series),
    palette: PALETTE.map((look) => ({ ...look, dash: [] })),
    options: merge({}, [CHART_OPTIONS, options]),
    chartOptions(kind, src, { canvas }) {
      const entry = src && entryOf(src);
      return merge(optionsFor(kind, src, colorOf, entry), {
        plugins: { csv: optionsOfSlide(canvas, entry) },
      });
    },
    marks: (slot) => [...ceilings(slot), ...marksOf(slot, entryOf), ...notesOf(slot, numbersAt(slot.canvas))],
    summaryFor: chartSummary({ data, compare }),
    // Viewers compare panels below each other, so their plots start and end at the same place.
    alignIn: ".panels",
    shareIn: ".panels.shared-y",
  });
}
