/** Addresses of chart files. Pure. */

import { ownerOf } from "chartjs-plugin-csv";

/** The file with the runs of all charts of a folder. */
export const RUNS = "runs.csv";
const CHART_FILE = /\/benchmarks\/([^/]+)\/([^/]+)\/aggregate\/([^/]+)\.csv$/;

/**
 * The parts of a chart file's address.
 * @param {string} address
 * @param {string} base   the page's address
 * @returns {{dataSet: string, experiment: string, chart: string|null, suffix: string, key: string|null,
 *            folder: string}|null}
 *   suffix: "" of the chart's own file; key: `<experiment>/<chart>`; folder: absolute address; null for other files. The
 *   file of the runs of all charts, `runs.csv`, has the suffix "runs", and neither chart nor key
 */
export function chartFileIn(address, base) {
  const { href, pathname } = new URL(address, base);
  const { url, suffix } = ownerOf(pathname);
  const match = CHART_FILE.exec(url);
  if (!match) return null;
  const [, dataSet, experiment, chart] = match;
  const folder = href.slice(0, href.indexOf(pathname)) + pathname.slice(0, pathname.lastIndexOf("/"));
  if (`${chart}.csv` === RUNS && suffix === "")
    return { dataSet, experiment, chart: null, suffix: "runs", key: null, folder };
  return { dataSet, experiment, chart, suffix, key: `${experiment}/${chart}`, folder };
}
