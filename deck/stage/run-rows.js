/** The runs of one series as rows of a chart, from `runs.csv` beside its file: `data-chart-rows="SERIES"`. Pure. */

import { CsvError, readRuns, runsUrl } from "chartjs-plugin-csv";

import { fileName } from "../text/canvases.js";

/** The address from which such a chart is read. */
export function rowsAddress(src, { chartRows }) {
  return chartRows ? runsUrl(src) : src;
}

/**
 * A series for each run, by its block, over all places that any run has; where a run has none, nothing was counted.
 * @param {string} text   runs.csv
 * @param {{src: string, series: string}} wanted   src: of the chart
 * @returns {import("chartjs-plugin-csv").Model}
 * @throws {CsvError} if the file has no such runs
 */
export function runRows(text, { src, series }) {
  const chart = fileName(src);
  const runs = readRuns(text).get(chart)?.get(series);
  if (!runs) throw new CsvError(`it has no run of ${series} in ${chart}`, { kind: "empty" });
  const xs = [...new Set(runs.map(({ x }) => x))].sort((a, b) => Number(a) - Number(b));
  const blocks = [...new Set(runs.map(({ block }) => block))];
  return {
    kind: "wide",
    xLabel: "",
    xs,
    series: blocks.map((block) => ({
      name: `run ${block}`,
      points: xs.map((x) => {
        const y = runs.find((run) => run.block === block && run.x === x)?.y ?? null;
        return { x, y, low: null, high: null, n: null };
      }),
    })),
  };
}
