import { indexAxisOf, turned } from "./axes.js";
import { clippedUpright, lastPoint, pixelX, pixelY } from "./draw.js";
import { CsvError } from "./error.js";
import { groupBy } from "./group.js";
import { isLogarithmic } from "./range.js";
import { parseCsv } from "./parse.js";
import { naming } from "./source.js";
import { numberAt, xsOf } from "./table.js";
import { loadText } from "./load.js";

/** The header of `runs.csv`, which has one row for each run behind a point of the charts beside it. */
const RUNS_HEADER = ["chart", "series", "x", "y", "block", "attempt"];

const RADIUS = 3;
/** Of single runs as lines, and of the one that is named; px. */
const THIN = { width: 1.5, alpha: 0.45 };
const NAMED = { width: 3.5, radius: 6 };
const ALPHA = 0.5;
/** The distance between the runs of one point, px, so that equal runs can be told apart. */
const SPREAD = 3;
const COLUMNS = 5;

/**
 * Reads a file of runs.
 * @param {string} text
 * @returns {Map<string, Map<string, {x: number|string, y: number|null, block: string, attempt: string}[]>>} runs by the
 *   chart's name and the series' name
 * @throws {CsvError} naming row and column
 */
export function readRuns(text) {
  const [header = [], ...body] = parseCsv(text);
  if (header.join() !== RUNS_HEADER.join()) {
    throw new CsvError(`the header of a file of runs is ${RUNS_HEADER.join(",")}`, {
      row: 1,
      column: 1,
      kind: "header",
    });
  }
  const places = groupBy(body.keys(), (place) => body[place][0]);
  return new Map([...places].map(([chart, own]) => [chart, readChart(body, own)]));
}

/** The runs of one chart by series: whether its x are numbers does not depend on other charts. */
function readChart(rows, places) {
  const { xs } = xsOf(places.map((place) => rows[place][2]));
  const runs = places.map((place, index) => {
    const [, name, , y, block, attempt] = rows[place];
    // Errors count the header as the first row.
    return { name, run: { x: xs[index], y: numberAt(y, place + 2, 4, "y"), block, attempt } };
  });
  const bySeries = groupBy(runs, ({ name }) => name);
  return new Map([...bySeries].map(([name, own]) => [name, own.map(({ run }) => run)]));
}

/** The runs of the entries that are drawn; the axis makes room for them. */
export function runsOf(entries, runs) {
  return entries.filter(({ second }) => !second).map(({ name }) => runs.get(name) ?? []);
}

/**
 * The runs of a chart in which each run is a line: those of one series, block by block. Pure.
 * @param {{x: number|string, y: number|null, block: string, attempt: string}[]} runs   of one series
 * @returns {{block: string, attempt: string, points: {x: number|string, y: number}[]}[]}
 */
export function linesOf(runs) {
  const lines = groupBy(
    runs.filter(({ y }) => y !== null),
    ({ block, attempt }) => `${block} ${attempt}`,
  );
  return [...lines.values()].map((points) => {
    const [{ block, attempt }] = points;
    return { block, attempt, points: points.map(({ x, y }) => ({ x, y })) };
  });
}

/**
 * The line that reaches furthest, and its point there. Pure.
 * @param {ReturnType<typeof linesOf>} lines
 * @param {"high"|"low"} end
 * @param {{from?: number, to?: number}} [part]   of the x axis
 * @returns {{line: object, point: {x: number|string, y: number}}|null} null if there is no point in that part
 */
export function furthest(lines, end, { from = -Infinity, to = Infinity } = {}) {
  const sign = end === "low" ? -1 : 1;
  let best = null;
  for (const line of lines) {
    for (const point of line.points) {
      if (typeof point.x === "number" && (point.x < from || point.x > to)) continue;
      if (best === null || sign * point.y > sign * best.point.y) best = { line, point };
    }
  }
  return best;
}

/** The series that are drawn from their runs now: dataset, colour, lines, and the one that is named. */
function drawnLines(chart, entries, runs, end) {
  const { min: from, max: to } = chart.scales[indexAxisOf(chart)];
  return entries.flatMap(({ name, second }, index) => {
    if (second || !chart.isDatasetVisible(index)) return [];
    const lines = linesOf(runs.get(name) ?? []);
    const { csvColor, borderColor } = chart.data.datasets[index];
    const named = end ? furthest(lines, end, { from, to }) : null;
    return [{ index, color: csvColor ?? borderColor, lines, named }];
  });
}

/**
 * Draws each run of all visible series as a thin line and, with `end`, the one that reaches furthest as a thick one.
 * @param {import("chart.js").Chart} chart
 * @param {import("./entries.js").Entry[]} entries
 * @param {Map<string, object[]>} runs
 * @param {"high"|"low"|null} [end]
 */
export function drawLines(chart, entries, runs, end = null) {
  const drawn = drawnLines(chart, entries, runs, end);
  clippedUpright(chart, { across: NAMED.radius, down: NAMED.radius }, (ctx, { x, y }) => {
    const positive = isLogarithmic(y.type);
    ctx.lineJoin = "round";
    const stroke = ({ points }) => {
      ctx.beginPath();
      for (const { x: at, y: value } of points)
        if (!positive || value > 0) ctx.lineTo(pixelX(x, at), pixelY(y, value));
      ctx.stroke();
    };
    Object.assign(ctx, { lineWidth: THIN.width, globalAlpha: THIN.alpha });
    for (const { color, lines, named } of drawn) {
      ctx.strokeStyle = color;
      for (const line of lines) if (line !== named?.line) stroke(line);
    }
    Object.assign(ctx, { lineWidth: NAMED.width, globalAlpha: 1 });
    for (const { color, named } of drawn) {
      if (!named) continue;
      ctx.strokeStyle = color;
      stroke(named.line);
    }
  });
}

/**
 * What is written beside the named runs: the figure of each, and the name at the one that reaches furthest of all.
 * @returns {{x: number|string, y: number, label: string, color: string, shape: "dot"}[]} as marks
 */
export function namesOfLines(chart, entries, runs, { end, name }, format) {
  const named = drawnLines(chart, entries, runs, end).filter(({ named: run }) => run !== null);
  const { min: from, max: to } = chart.scales[indexAxisOf(chart)];
  const best = furthest(
    named.map(({ named: { line } }) => line),
    end,
    { from, to },
  );
  return named.map(({ color, named: { line, point } }) => ({
    ...(indexAxisOf(chart) === "y" ? turned(point) : point),
    label: line === best.line ? `${name}: ${format(point.y)}` : format(point.y),
    color,
    shape: "dot",
  }));
}

/** Where the named run of a dataset ends, px; null if the dataset has none. */
export function endOfLine(chart, entries, runs, end, index) {
  const drawn = drawnLines(chart, entries, runs, end).find((dataset) => dataset.index === index);
  return drawn?.named ? lastPoint({ data: pixelsOf(chart, drawn.named.line) }, chart.chartArea) : null;
}

/** All lines of the visible series as points, px. */
export function linePixels(chart, entries, runs) {
  return drawnLines(chart, entries, runs, null).flatMap(({ lines }) =>
    lines.map((line) => pixelsOf(chart, line)),
  );
}

function pixelsOf(chart, { points }) {
  const isLying = indexAxisOf(chart) === "y";
  const { x, y } = isLying ? turned(chart.scales) : chart.scales;
  const pixels = points.map((point) => ({ x: pixelX(x, point.x), y: pixelY(y, point.y) }));
  return isLying ? pixels.map(turned) : pixels;
}

/**
 * Draws the runs of all visible series as faint dots, those of one point side by side.
 * @param {import("chart.js").Chart} chart
 * @param {import("./entries.js").Entry[]} entries
 * @param {Map<string, object[]>} runs
 */
export function drawRuns(chart, entries, runs) {
  clippedUpright(chart, { across: SPREAD * COLUMNS, down: RADIUS + 1 }, (ctx, { x: along, y }) => {
    const positive = isLogarithmic(y.type);
    ctx.globalAlpha = ALPHA;
    entries.forEach(({ name, second, points }, index) => {
      if (second || !chart.isDatasetVisible(index)) return;
      const dataset = chart.data.datasets[index];
      ctx.fillStyle = dataset.csvColor ?? dataset.borderColor;
      const centreOf = centres(chart, along, index, points);
      const seen = new Map();
      for (const { x, y: value } of runs.get(name) ?? []) {
        if (value === null || (positive && value <= 0)) continue;
        const rank = seen.get(x) ?? 0;
        seen.set(x, rank + 1);
        const centre = centreOf(x) + ((rank % COLUMNS) - (COLUMNS - 1) / 2) * SPREAD;
        ctx.beginPath();
        ctx.arc(centre, pixelY(y, value), RADIUS, 0, 2 * Math.PI);
        ctx.fill();
      }
    });
  });
}

/** Where the runs of an x value are drawn: at its bar, or at the value if there are no bars. */
function centres(chart, x, index, points) {
  if (chart.config.type !== "bar") return (value) => pixelX(x, value);
  const elements = chart.getDatasetMeta(index).data;
  const at = new Map(points.map((point, position) => [point.x, position]));
  return (value) => elements[at.get(value)]?.[x.axis] ?? pixelX(x, value);
}

/** By address: a file of runs as it was last read, or is being read. */
const files = new Map();

/**
 * Reads a file of runs once for all charts that ask for it.
 * @param {string} url
 * @param {{fresh?: boolean, maxBytes?: number, fetch?: typeof fetch|null}} options   fresh: read it again, unless another
 *   chart has just asked for that too: charts that are refreshed together share one request
 * @returns {Promise<ReturnType<typeof readRuns>>}
 * @throws {CsvError}
 */
export function sharedRuns(url, { fresh = false, maxBytes, fetch }) {
  const known = files.get(url);
  if (known?.fetch === fetch && known?.maxBytes === maxBytes && (known?.isNew || !fresh)) return known.runs;
  const file = { fetch, maxBytes, isNew: true, runs: read(url, { maxBytes, fetch }) };
  files.set(url, file);
  setTimeout(() => {
    file.isNew = false;
  });
  // What failed is asked for again the next time.
  file.runs.catch(() => files.get(url) === file && files.delete(url));
  return file.runs;
}

async function read(url, options) {
  const text = await loadText(url, options);
  return naming(url, () => readRuns(text));
}
