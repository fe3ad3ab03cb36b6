/** The data of one chart of a built site: of tables, documents and runs no more than the chart draws and its texts say. */

import { parseCsv, runsUrl, seriesNames } from "chartjs-plugin-csv";

import { partsOf } from "../../deck/data/data-set.js";
import { isOwnFile } from "../../deck/data/own-file.js";
import { fileName } from "../../deck/text/canvases.js";
import { placeWithin, textIfThere } from "./data-sets.js";

/**
 * @param {string} root   the site's folder
 * @param {{section: string, canvas: HTMLCanvasElement, usual: string}} shown   section: the slide's HTML with the chart; usual:
 *   the data set that the talk is told with
 * @returns {Promise<Record<string, string>|null>} the text of each file by its address; null if the chart's own is not
 *   published
 */
export async function filesOfChart(root, { section, canvas, usual }) {
  const textOf = (address) => textIn(root, address);
  const { chartSrc, chartMore, chartSeries, chartRows, chartLines } = canvas.dataset;
  const addresses = [chartSrc, ...(seriesNames(chartMore) ?? [])];
  const names = seriesNames(chartSeries);
  const files = {};
  for (const address of addresses)
    for (const name of [address, address.replace(/\.csv$/, ".spread.csv")]) {
      const text = await textOf(name);
      const parts = partsOf(name);
      if (text !== null) files[name] = parts?.chart ? rowsOf(text, { series: names }) : text;
    }
  if (!Object.hasOwn(files, chartSrc)) return null;
  if (chartRows || chartLines)
    for (const file of new Set(addresses.map(runsUrl))) {
      const charts = addresses.filter((address) => runsUrl(address) === file).map(fileName);
      const text = await textOf(file);
      if (text !== null) files[file] = rowsOf(text, { charts, series: chartRows ? [chartRows] : names });
    }
  // The texts around a file of the author's own are of the slide's data set.
  const around = canvas.closest("section[data-set]")?.dataset.set ?? usual;
  const dataSetOf = (address) => (isOwnFile(address) ? around : partsOf(address)?.dataSet);
  const dataSets = [...new Set(addresses.map(dataSetOf).filter(Boolean))];
  for (const name of dataSets) Object.assign(files, await documentsOf(root, name, { section, addresses }));
  const listed = dataSets.map((name) => [
    name,
    Object.keys(files)
      .filter((file) => file.startsWith(`benchmarks/${name}/`))
      .map((file) => file.slice(`benchmarks/${name}/`.length)),
  ]);
  const { altered, own } = JSON.parse(await textOf("benchmarks/index.json"));
  files["benchmarks/index.json"] = JSON.stringify({
    data_sets: dataSets,
    files: Object.fromEntries(listed),
    altered: partOf(altered, dataSets),
    own: partOf(own, addresses),
  });
  return files;
}

/** The documents of a data set, with the claims that the section names and the entries of its charts alone. */
async function documentsOf(root, name, { section, addresses }) {
  const [manifest, claims] = await Promise.all([
    documentOf(root, name, "manifest.json"),
    documentOf(root, name, "claims.json"),
  ]);
  const files = {};
  const put = (file, document) => (files[`benchmarks/${name}/${file}`] = JSON.stringify(document));
  const words = new Set(section.split(/[^\w-]+/));
  const named = Object.entries(claims?.claims ?? {}).filter(([id]) => words.has(id));
  const answerFile = `benchmarks/${name}/answer.csv`;
  const answer = section.includes("answer.") ? await textIn(root, answerFile) : null;
  if (manifest) {
    const { experiments } = manifest;
    const charts = addresses.map(partsOf).filter((parts) => parts?.dataSet === name);
    // A document rests on charts and experiments that others name.
    const judged = named.flatMap(([, { chart }]) => (chart ? [chart.split("/")] : []));
    const behind = [
      ...judged.map(([experiment, chart]) => ({ experiment, chart })),
      ...Object.keys(experiments).flatMap((id) => (answer?.includes(id) ? [{ experiment: id }] : [])),
    ];
    const wanted = charts.some(({ document }) => document) ? [...charts, ...behind] : charts;
    put("manifest.json", { ...manifest, experiments: entriesOf(experiments, wanted) });
  }
  if (claims) put("claims.json", { ...claims, claims: Object.fromEntries(named) });
  if (answer !== null) files[answerFile] = answer;
  return files;
}

/** A document of a data set; null if the site lacks it. */
export async function documentOf(root, name, file) {
  return JSON.parse((await textIn(root, `benchmarks/${name}/${file}`)) ?? "null");
}

/** The text of a file of the site; null if it has none at this address: a slide may name one outside, which stays there. */
async function textIn(root, address) {
  const place = await placeWithin(root, address);
  return place === null ? null : textIfThere(place);
}

/**
 * The rows of a table that are of these series, or of a file of runs that are also of these charts, below its header. Pure.
 * @param {string} text   CSV; the series is in the first column, in a file of runs in the second
 * @param {{charts?: string[]|null, series: string[]|null}} wanted   null for all
 */
export function rowsOf(text, { charts = null, series }) {
  const [head, ...rows] = text.trimEnd().split("\n");
  const kept = rows.filter((row) => {
    const [fields] = parseCsv(row);
    const isOfChart = charts === null || charts.includes(fields[0]);
    return isOfChart && (series === null || series.includes(fields[charts === null ? 0 : 1]));
  });
  return [head, ...kept, ""].join("\n");
}

/** An object with no more than these keys. */
function partOf(object, keys) {
  return Object.fromEntries(Object.entries(object).filter(([key]) => keys.includes(key)));
}

/** What the manifest says of experiments, with the entries of these charts; the limits of each point are not drawn. */
function entriesOf(experiments, charts) {
  const wanted = (name) => charts.filter(({ experiment }) => experiment === name).map(({ chart }) => chart);
  return Object.fromEntries(
    Object.entries(experiments)
      .filter(([name]) => charts.some(({ experiment }) => experiment === name))
      .map(([name, { limits: _, charts: all, ...entry }]) => {
        const own = Object.entries(all ?? {}).filter(([chart]) => wanted(name).includes(chart));
        return [name, { ...entry, charts: Object.fromEntries(own) }];
      }),
  );
}
