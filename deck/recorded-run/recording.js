/** The recording of a data set: when each part arrived, and the frames of each chart. Reads files; plays nothing. */

import { loadText, parseCsv } from "chartjs-plugin-csv";

import { partsOf } from "../data/data-set.js";
import { arrivedRuns, csv, Film } from "./film.js";
import { groupsOf, timelineOf } from "./timeline.js";

/** The file with the runs of all charts of a folder. */
const RUNS = "runs.csv";

/**
 * @param {string} dataSet
 * @param {object} document   its recording.json
 */
export function Recording(dataSet, document) {
  /** By chart: when its parts arrive. */
  const groups = groupsOf(document);
  /** Charts whose files could not be read. */
  const lacking = new Set();
  const films = new Map();
  /** By folder: the runs of all of its charts. */
  const runs = new Map();

  /**
   * What an address names, if it is a chart's file of the recorded data set.
   * @returns {{folder: string, experiment: string, chart: string, suffix: string, key: string, isOfRuns: boolean}|null}
   *   suffix: "" of the chart's own file, "spread" of its bounds; key: `<experiment>/<chart>`; isOfRuns: the file has the runs of
   *   all charts of its folder, and is no chart's
   */
  function fileAt(address) {
    const parts = address === null ? null : partsOf(address);
    if (!parts?.chart || parts.dataSet !== dataSet) return null;
    const { experiment } = parts;
    const [, chart, suffix = ""] = /^(.+?)(?:\.(spread))?$/.exec(parts.chart);
    const [path] = address.split(/[?#]/, 1);
    const folder = path.slice(0, path.lastIndexOf("/"));
    const key = `${experiment}/${chart}`;
    return { folder, experiment, chart, suffix, key, isOfRuns: `${parts.chart}.csv` === RUNS };
  }

  /** A chart's frames; null if one of its files cannot be read, and then the chart is shown complete. */
  function filmOf(file) {
    if (!films.has(file.key)) films.set(file.key, makeFilm(file));
    return films.get(file.key);
  }

  /**
   * The content of a folder's `runs.csv` at a moment.
   * @param {{folder: string, experiment: string}} file
   * @param {(key: string) => number} momentOf   seconds since the experiment began, by a chart's key; Infinity if the
   *   chart is complete
   */
  async function runsAt({ folder, experiment }, momentOf) {
    const { header, charts } = await runsIn(folder);
    const rows = [...charts].flatMap(([chart, all]) => {
      const key = `${experiment}/${chart}`;
      const at = momentOf(key);
      const arrived = at === Infinity ? all : arrivedRuns(all, groups.get(key), at);
      return arrived.map((fields) => [chart, ...fields]);
    });
    return csv([header, ...rows]);
  }

  async function makeFilm({ folder, chart, key }) {
    const group = groups.get(key);
    try {
      const [text, own] = await Promise.all([
        loadText(`${folder}/${chart}.csv`),
        ["run", "block"].includes(group.arrives) ? runsOf(folder, chart) : null,
      ]);
      const { t_quantiles: quantiles } = document;
      return Film({ text, runs: own, group, ratio: chart.startsWith("ratio-"), quantiles });
    } catch (error) {
      console.error(error);
      lacking.add(key);
      return null;
    }
  }

  async function runsOf(folder, chart) {
    const own = (await runsIn(folder)).charts.get(chart);
    if (!own) throw new Error(`${folder}/${RUNS} has no run of ${chart}`);
    return own;
  }

  /** Reads a folder's runs once for all of its charts. */
  function runsIn(folder) {
    if (!runs.has(folder)) runs.set(folder, readRuns(`${folder}/${RUNS}`));
    return runs.get(folder);
  }

  return {
    groups,
    lacking,
    /** The order in which the cells of these experiments arrived; null if none was recorded. */
    timelineOf: (experiments) => timelineOf(document, experiments),
    fileAt,
    filmOf,
    runsAt,
  };
}

/** @returns {Promise<{header: string[], charts: Map<string, string[][]>}>} charts: rows by chart, without its name */
async function readRuns(url) {
  const [header, ...rows] = parseCsv(await loadText(url));
  const charts = new Map();
  for (const [chart, ...fields] of rows) {
    if (!charts.has(chart)) charts.set(chart, []);
    charts.get(chart).push(fields);
  }
  return { header, charts };
}

/** @throws {Error} that says what to do if there is no recording */
export async function readRecording(dataSet) {
  const address = `benchmarks/${dataSet}/recording.json`;
  const anew = `./replay derive --data ${dataSet} writes it`;
  const response = await fetch(address, { cache: "no-cache" }).catch(() => null);
  if (!response?.ok) throw new Error(`there is no ${address}; ${anew}`);
  const document = await response.json().catch(() => null);
  if (document?.schema_version !== 1 || !document.experiments)
    throw new Error(`this deck cannot read the recording ${address}; ${anew}`);
  return Recording(dataSet, document);
}
