/** Addresses of chart files. Pure. */

import { ownerOf } from "chartjs-plugin-csv";

const CHART_FILE = /\/benchmarks\/([^/]+)\/([^/]+)\/aggregate\/([^/]+)\.csv$/;

/**
 * The parts of a chart file's address.
 * @param {string} address
 * @param {string} base   the page's address
 * @returns {{dataSet: string, experiment: string, chart: string, suffix: string, key: string, folder: string}|null}
 *   suffix: "" of the chart's own file; key: `<experiment>/<chart>`; folder: absolute address; null for other files
 */
export function chartFileIn(address, base) {
  const { href, pathname } = new URL(address, base);
  const { url, suffix } = ownerOf(pathname);
  const match = CHART_FILE.exec(url);
  if (!match) return null;
  const [, dataSet, experiment, chart] = match;
  const folder = href.slice(0, href.indexOf(pathname)) + pathname.slice(0, pathname.lastIndexOf("/"));
  return { dataSet, experiment, chart, suffix, key: `${experiment}/${chart}`, folder };
}
