/** Addresses of charts' files. Pure. */

const CHART_FILE =
  /\/benchmarks\/([^/]+)\/([^/]+)\/aggregate\/([^/]+?)(?:\.(min|max|n|low|high|runs))?\.csv$/;

/**
 * What the address of a chart's file names.
 * @param {string} address
 * @param {string} base   the page's address
 * @returns {{dataSet: string, experiment: string, chart: string, suffix: string, key: string, folder: string}|null}
 *   suffix: "" of the chart's own file; key: `<experiment>/<chart>`; folder: absolute address; null for other files
 */
export function chartFileIn(address, base) {
  const { href, pathname } = new URL(address, base);
  const match = CHART_FILE.exec(pathname);
  if (!match) return null;
  const [, dataSet, experiment, chart, suffix = ""] = match;
  const folder = href.slice(0, href.indexOf(pathname)) + pathname.slice(0, pathname.lastIndexOf("/"));
  return { dataSet, experiment, chart, suffix, key: `${experiment}/${chart}`, folder };
}
