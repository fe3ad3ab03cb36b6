import { clipped, pixelX, pixelY } from "./draw.js";
import { CsvError } from "./error.js";
import { isLogarithmic } from "./range.js";
import { parseCsv } from "./parse.js";
import { numberAt, readXs } from "./table.js";
import { loadText } from "./load.js";

/** The header of `runs.csv`, which has one row for each run behind a point of the charts beside it. */
export const RUNS_HEADER = ["chart", "series", "x", "y", "block", "attempt"];

const RADIUS = 3;
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
  const rows = body.map((fields, index) => ({ fields, row: index + 2 }));
  return new Map([...by(rows, 0)].map(([chart, all]) => [chart, readChart(all)]));
}

/** The runs of one chart by series: whether its x are numbers does not depend on other charts. */
function readChart(rows) {
  const xs = readXs(rows.map(({ fields: [, , x] }) => x));
  const placed = rows.map((one, index) => ({ ...one, x: xs[index] }));
  return new Map(
    [...by(placed, 1)].map(([series, all]) => [
      series,
      all.map(({ fields: [, , , y, block, attempt], x, row }) => ({
        x,
        y: numberAt(y, row, 4, "y"),
        block,
        attempt,
      })),
    ]),
  );
}

function by(rows, column) {
  const groups = new Map();
  for (const row of rows) {
    const key = row.fields[column];
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return groups;
}

/** The runs of the entries that are drawn; the axis makes room for them. */
export function runsOf(entries, runs) {
  return entries.filter(({ second }) => !second).map(({ name }) => runs.get(name) ?? []);
}

/**
 * Draws the runs of all visible series as faint dots, those of one point side by side.
 * @param {import("chart.js").Chart} chart
 * @param {import("./entries.js").Entry[]} entries
 * @param {Map<string, object[]>} runs
 */
export function drawRuns(chart, entries, runs) {
  const { y } = chart.scales;
  const positive = isLogarithmic(y.type);
  clipped(chart, { across: SPREAD * COLUMNS, down: RADIUS + 1 }, (ctx) => {
    ctx.globalAlpha = ALPHA;
    entries.forEach(({ name, second, points }, index) => {
      if (second || !chart.isDatasetVisible(index)) return;
      const dataset = chart.data.datasets[index];
      ctx.fillStyle = dataset.csvColor ?? dataset.borderColor;
      const centreOf = centres(chart, index, points);
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
function centres(chart, index, points) {
  const { x } = chart.scales;
  if (chart.config.type !== "bar") return (value) => pixelX(x, value);
  const elements = chart.getDatasetMeta(index).data;
  const at = new Map(points.map((point, position) => [point.x, position]));
  return (value) => elements[at.get(value)]?.x ?? pixelX(x, value);
}

/** By address: a file of runs as it was last read, or is being read. */
const files = new Map();

/**
 * Reads a file of runs once for all charts that ask for it.
 * @param {string} url
 * @param {{fresh?: boolean, maxBytes?: number, fetch?: typeof fetch}} options   fresh: read it again, unless another
 *   chart has just asked for that too: charts that are refreshed together share one request
 * @returns {Promise<ReturnType<typeof readRuns>>}
 * @throws {CsvError}
 */
export function sharedRuns(url, { fresh = false, maxBytes, fetch }) {
  const known = files.get(url);
  if (known?.fetch === fetch && known?.maxBytes === maxBytes && (known?.isNew || !fresh)) return known.runs;
  const file = { fetch, maxBytes, isNew: true, runs: read(url, { maxBytes, ...(fetch ? { fetch } : {}) }) };
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
  try {
    return readRuns(text);
  } catch (error) {
    throw error instanceof CsvError ? error.in(url) : error;
  }
}
