/** What the charts of a talk draw: the numbers of their files as the chart plugin reads them, and the marks of a slide. */

import { readFile } from "node:fs/promises";
import path from "node:path";

import {
  companionUrl,
  joinSpread,
  medianOf,
  readModel,
  readRuns,
  readSpread,
  runsUrl,
  seriesNames,
} from "chartjs-plugin-csv";

import { answerModel } from "../../../deck/data/answer.js";
import { wantedClaims } from "../../../deck/data/claim-charts.js";
import { claimsModel } from "../../../deck/data/claims-model.js";
import { partsOf } from "../../../deck/data/data-set.js";
import { chartEntry } from "../../../deck/data/provenance.js";
import { readingOf } from "../../../deck/stage/chart-styles.js";
import { parseMarks } from "../../../deck/chart-tools/marks.js";
import { elementsWith } from "../text/segments.js";
import { addressesOf } from "./charts-of.js";

/** A line of more points has no marks: only its lowest and its highest can be read. */
const MOST_POINTS = 40;

/**
 * Reads the files of charts. Of those whose runs are drawn as lines, it reads the runs.
 * @param {string} benchmarks   folder of data sets
 * @param {ReturnType<typeof import("./charts-of.js").chartsOf>} charts
 * @param {Map<string, string>} files   what there is below benchmarks
 * @returns {Promise<Map<string, import("chartjs-plugin-csv").Model>>} by address; a missing file is another rule's
 * @throws {Error} naming a file that cannot be read
 */
export async function readDrawn(benchmarks, charts, files) {
  const inLines = new Set(
    charts.filter(({ element }) => "data-chart-lines" in element.attributes).map(({ src }) => src),
  );
  const isThere = (src) => files.has(below(src));
  const read = (src) => readFile(path.join(benchmarks, below(src)), "utf8");
  const modelOf = async (src) => {
    const model = readModel(await read(src), readingOf(src));
    const [runs, spread] = [runsUrl(src), companionUrl(src, "spread")];
    if (inLines.has(src) && isThere(runs))
      return withRuns(model, readRuns(await read(runs)).get(partsOf(src).chart));
    return isThere(spread) ? joinSpread(model, readSpread(await read(spread)), "both") : model;
  };
  const wanted = [...new Set(charts.flatMap(addressesOf))].filter(
    (src) => partsOf(src)?.chart && isThere(src),
  );
  return new Map(
    await Promise.all(
      wanted.map(async (src) => {
        try {
          return [src, await modelOf(src)];
        } catch (error) {
          throw new Error(`${src}: ${error.message}`, { cause: error });
        }
      }),
    ),
  );
}

function below(src) {
  return src.replace(/^(?:\.\/)?benchmarks\//, "");
}

/** A model whose series are the highest points of their runs: what can be read of a bundle of lines. */
function withRuns(model, runs = new Map()) {
  const series = model.series.map(({ name, points }) => {
    const tops = new Map();
    for (const { x, y, block, attempt } of runs.get(name) ?? []) {
      const run = `${block} ${attempt}`;
      if (!(tops.get(run)?.y >= y)) tops.set(run, { x, y, n: 1 });
    }
    return { name, points: tops.size > 0 ? [...tops.values()] : points };
  });
  return { ...model, series };
}

/**
 * Everything that the charts and the tables of claims of a slide show.
 * @param {ReturnType<typeof import("./charts-of.js").chartsOf>} charts   those that the verdicts show
 * @returns {{y: number, unit: string|null, x: string, series: string}[]} unit: null if nobody recorded it
 */
export function marksOf(slide, charts, { shipped, drawn }) {
  const tables = [...elementsWith(slide, "data-claims")].flatMap(({ attributes }) =>
    attributes["data-claims"].split(/\s+/).flatMap((id) => {
      const conditions = Object.values(shipped.claims?.claims?.[id]?.conditions ?? {});
      return conditions.map(({ estimate }) => ({ y: estimate, unit: "ratio", x: id, series: id }));
    }),
  );
  return [...tables, ...charts.flatMap((chart) => marksOfChart(chart, { shipped, drawn }))].filter(({ y }) =>
    Number.isFinite(y),
  );
}

function marksOfChart({ src, parts, element }, { shipped, drawn }) {
  const { attributes } = element;
  const marksIn = (model, unit) => pointsIn(model, attributes).map((point) => ({ ...point, unit }));
  if (parts?.document === "answer.csv" && shipped.answer) {
    const { "data-chart": kind, "data-chart-loss": loss, "data-chart-seconds": seconds } = attributes;
    const asked = { loss, ...(seconds && { seconds: Number(seconds) }) };
    return marksIn(answerModel(kind, shipped.answer, asked), "seconds");
  }
  if (parts?.document === "claims.json" && parts.dataSet === shipped.name && shipped.claims) {
    const { "data-chart-claims": chartClaims, "data-release-claims": releaseClaims } = attributes;
    return marksIn(claimsModel(shipped.claims, wantedClaims({ chartClaims, releaseClaims })), "ratio");
  }
  return addressesOf({ src, element }).flatMap((address) => {
    const unit = unitOf(address, shipped.manifest);
    const published = parseMarks(attributes["data-chart-marks"]).marks;
    return [
      ...marksIn(drawn.get(address) ?? { series: [] }, unit),
      ...published.map(({ label, value, at }) => ({ y: value, unit, x: String(at), series: label })),
    ];
  });
}

/** The unit of a chart's values; null if nobody recorded it. */
export function unitOf(src, manifest) {
  const isRatio = partsOf(src)?.chart?.startsWith("ratio-");
  return chartEntry(src, manifest)?.y?.unit ?? (isRatio ? "ratio" : null);
}

/** The points of a model that a chart shows, with the ends of their bands; of trials, also the one in the middle. */
function pointsIn({ series }, attributes) {
  const names = seriesNames(attributes["data-chart-series"]);
  const places = seriesNames(attributes["data-chart-at"]);
  return series
    .filter(({ name }) => names?.includes(name) ?? true)
    .flatMap(({ name, points }) => {
      const here = points.filter(({ x, y }) => y !== null && (places?.includes(String(x)) ?? true));
      const areTrials = here.length > 0 && here.every(({ n }) => n === 1);
      const middle = areTrials ? [{ y: medianOf(here.map(({ y }) => y)) }] : [];
      return [...legible(here), ...middle].flatMap(({ x, y, low, high, min, max }) =>
        [y, low, high, min, max].map((value) => ({ y: value, x: String(x), series: name })),
      );
    });
}

function legible(points) {
  if (points.length <= MOST_POINTS) return points;
  const sorted = [...points].sort((a, b) => a.y - b.y);
  return [sorted[0], sorted.at(-1)];
}
