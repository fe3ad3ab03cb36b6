/** Addresses of chart files. Pure. */

/** The file with the runs of all charts of a folder. */
export const RUNS = "runs.csv";
const CHART_FILE = /\/benchmarks\/([^/]+)\/([^/]+)\/aggregate\/([^/]+?)(?:\.(spread))?\.csv$/;

/**
 * The parts of a chart file's address.
 * @param {string} address
 * @param {string} base   the page's address
 * @returns {{dataSet: string, experiment: string, chart: string|null, suffix: string, key: string|null,
 *            folder: string}|null}
 *   suffix: "" of the chart's own file, "spread" of its bounds; key: `<experiment>/<chart>`; folder: absolute address; null for other files. The
 *   file of the runs of all charts, `runs.csv`, has the suffix "runs", and neither chart nor key
 */
export function chartFileIn(address, base) {
  const { href, pathname } = new URL(address, base);
  const match = CHART_FILE.exec(pathname);
  if (!match) return null;
  const [, dataSet, experiment, chart, suffix = ""] = match;
  const folder = href.slice(0, href.indexOf(pathname)) + pathname.slice(0, pathname.lastIndexOf("/"));
  if (`${chart}.csv` === RUNS && suffix === "")
    return { dataSet, experiment, chart: null, suffix: "runs", key: null, folder };
  return { dataSet, experiment, chart, suffix, key: `${experiment}/${chart}`, folder };
}
