/**
 * The code that draws charts, in one chunk that is fetched while the first slide or page is shown: Chart.js is larger than
 * everything else, and a title slide does not need it.
 */

import { merge } from "chart.js/helpers";
import { PALETTE } from "chartjs-plugin-csv";
import { RevealChartCsv } from "chartjs-plugin-csv/reveal";

import { ceilingMarks } from "../data/ceilings.js";
import { kindsOf } from "./own-kinds.js";
import { rowsAddress, runRows } from "./run-rows.js";
import {
  CHART_OPTIONS,
  movingOptions,
  optionsFor,
  optionsOfSlide,
  readingOf,
  seriesStyles,
} from "./chart-styles.js";
import { placeOf } from "../chart-tools/charted.js";
import { marksOf, notesOf } from "../chart-tools/marks.js";
import { chartSummary } from "../chart-tools/sentence.js";
import { colorOf } from "../page/theme.js";
import { BoundNumbers } from "../text/bound-numbers.js";
import { namedDataSet } from "../text/slide-data.js";
import { optionsOfDocument } from "./document-charts.js";

export { ChartTools } from "../chart-tools/index.js";

/** Kinds of chart of all talks of the checkout. */
const KINDS = import.meta.glob("../../slides/*/kinds/*.js");

/** How a chart is read whose rows are runs. */
function rowsOf({ dataset: { chartRows, chartSrc } }) {
  return chartRows ? { read: (text) => runRows(text, { src: chartSrc, series: chartRows }) } : {};
}

/**
 * The chart plugin of every page of the talk.
 * @param {object} given
 * @param {object} given.data   data on show
 * @param {string|null} given.compare   the data set that is drawn beside it
 * @param {{name: string, series: Record<string, string[]>}} given.talk   series: their names, by their look
 * @param {object} [options]   Chart.js options over those of the stage
 */
export function makeCharts({ data, compare, talk }, options = {}) {
  return RevealChartCsv({
    resolve: (src, canvas) => rowsAddress(data.resolve(src, canvas), canvas.dataset),
    kinds: kindsOf(KINDS, talk.name),
    fetch: data.fetch,
    styles: seriesStyles(talk.series),
    palette: PALETTE.map((look) => ({ ...look, dash: [] })),
    options: merge({}, [CHART_OPTIONS, options]),
    async chartOptions(kind, src, { canvas, url }) {
      const { entry } = placeOf(src, data, canvas);
      return merge(optionsFor(kind, src, colorOf, entry), [
        movingOptions(kind),
        { plugins: { csv: { ...readingOf(src), ...optionsOfSlide(canvas, entry), ...rowsOf(canvas) } } },
        await optionsOfDocument({ src: url, kind, canvas, data }),
      ]);
    },
    marks(slot) {
      const { src, canvas } = slot;
      const place = placeOf(src, data, canvas);
      const numbers = BoundNumbers(data.about(data.nameFor(namedDataSet(canvas))));
      return [...ceilingMarks(canvas, place), ...marksOf(slot, place.entry), ...notesOf(slot, numbers)];
    },
    summaryFor: chartSummary({ data, compare }),
    // Viewers compare panels below each other, so their plots start and end at the same place.
    alignIn: ".panels",
    shareIn: ".panels.shared-y",
  });
}
