/** Reads a chart's CSV and its spread with another parser than the deck's: the oracle of the canvas tests. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";

import { parse } from "csv-parse/sync";

const LONG = "series,x,y,low,high,n";
const number = (cell) => (cell === "" ? null : Number(cell));
/** x values are numbers if all of them are, else labels. */
const axis = (cells) =>
  cells.every((cell) => cell !== "" && Number.isFinite(Number(cell))) ? cells.map(Number) : cells;

/**
 * Reads one chart.
 * @param {string} file   path of `X.csv`, wide or long
 * @returns {Promise<{long: boolean, columns: (number|string)[], series: Record<string, (number|null)[]>,
 *                    bounds: Record<string, {low: number|null, high: number|null, n: number|null}[]>}>}
 *   `bounds`: for each value of `series`, the bounds in the spread file or in the long file itself
 */
export async function readChart(file) {
  const [header, ...rows] = parse(await readFile(file, "utf8"));
  return header.join() === LONG ? longChart(rows) : wideChart(file, header, rows);
}

/** The runs behind a chart, from `runs.csv` beside it: each `{series, x, y, block, attempt}`; null if it has none. */
export async function readRuns(file) {
  const name = path.join(path.dirname(file), "runs.csv");
  if (!existsSync(name)) return null;
  const rows = parse(await readFile(name, "utf8"), { columns: true });
  const runs = rows
    .filter(({ chart }) => chart === path.basename(file, ".csv"))
    .map(({ chart: _, ...row }) => ({ ...row, x: axis([row.x])[0], y: number(row.y) }));
  return runs.length > 0 ? runs : null;
}

function longChart(rows) {
  const xs = axis(rows.map(([, x]) => x));
  const series = {};
  const bounds = {};
  for (const [label, , y, low, high, n] of rows) {
    (series[label] ??= []).push(number(y));
    (bounds[label] ??= []).push({ low: number(low), high: number(high), n: number(n) });
  }
  return { long: true, columns: [...new Set(xs)], series, bounds };
}

async function wideChart(file, header, rows) {
  const columns = axis(header.slice(1));
  const ratio = /(?:^|\/)ratio-[^/]*$/.test(file);
  const names = ratio ? ["low", "high", "n"] : ["min", "max", "n"];
  const spread = await spreadIn(file.replace(/\.csv$/, ".spread.csv"));
  const [lows, highs, counts] = names.map(
    (name) => (label, x) => spread.get(`${label}\0${x}`)?.[name] ?? null,
  );
  const series = Object.fromEntries(rows.map(([label, ...cells]) => [label, cells.map(number)]));
  const bounds = Object.fromEntries(
    Object.keys(series).map((label) => [
      label,
      columns.map((x) => ({ low: lows(label, x), high: highs(label, x), n: counts(label, x) })),
    ]),
  );
  return { long: false, columns, series, bounds };
}

/** The statistics of each series and x; none if there is no such file. */
async function spreadIn(file) {
  if (!existsSync(file)) return new Map();
  const rows = parse(await readFile(file, "utf8"), { columns: true });
  return new Map(
    rows.map(({ series, x, ...fields }) => [
      `${series}\0${axis([x])[0]}`,
      Object.fromEntries(Object.entries(fields).map(([name, cell]) => [name, number(cell)])),
    ]),
  );
}
