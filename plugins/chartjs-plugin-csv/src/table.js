import { CsvError } from "./error.js";
import { parseCsv } from "./parse.js";

/**
 * @typedef {{x: number|string, y: number|null, low: number|null, high: number|null, n: number|null}} Point
 * @typedef {{name: string, points: Point[]}} Series
 * @typedef {{kind: "wide"|"long", xLabel: string, xs: (number|string)[], series: Series[]}} Model
 */

/** The header that marks the long form. */
export const LONG_HEADER = ["series", "x", "y", "low", "high", "n"];

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/**
 * Reads CSV text, wide or long (told apart by the header), into a model.
 *
 * An empty field is null. Values are base units, as written. In the wide form `low`, `high` and `n` are null
 * until companions are joined (see `joinCompanions`). x values are numbers when all are, else strings.
 *
 * @param {string} text
 * @returns {Model}
 * @throws {CsvError} naming row, column and the offending text
 */
export function readModel(text) {
  const rows = parseCsv(text);
  if (rows.length === 0) throw new CsvError("the file is empty", { kind: "empty" });
  const header = rows[0];
  const isLong = header.length === LONG_HEADER.length && LONG_HEADER.every((name, i) => header[i] === name);
  if (rows.length === 1) throw new CsvError("a header, but no data row", { kind: "empty" });
  return isLong ? readLong(rows) : readWide(rows);
}

function readWide([header, ...body]) {
  if (header.length < 2) {
    throw new CsvError("the header names no x value (expected: axis title, then one column per x)", {
      row: 1,
      column: 1,
      kind: "header",
    });
  }
  const xs = readXs(header.slice(1));
  const seen = new Map();
  xs.forEach((x, i) => {
    const at = { row: 1, column: i + 2, kind: "header" };
    if (x === "") throw new CsvError("an empty x value in the header", at);
    if (seen.has(x)) throw new CsvError(`x value "${header[i + 1]}" twice in the header`, at);
    seen.set(x, i);
  });
  const names = new Set();
  const series = body.map(([name, ...fields], index) => {
    const row = index + 2;
    if (name === "") throw new CsvError("a series without a name", { row, column: 1, kind: "header" });
    if (names.has(name)) throw new CsvError(`series "${name}" twice`, { row, column: 1, kind: "header" });
    names.add(name);
    const points = fields.map((text, i) => ({
      x: xs[i],
      y: toNumber(text, row, i + 2, header[i + 1]),
      low: null,
      high: null,
      n: null,
    }));
    return { name, points };
  });
  return { kind: "wide", xLabel: header[0], xs, series };
}

function readLong([, ...body]) {
  const byName = new Map();
  const xs = readXs(body.map((fields) => fields[1]));
  body.forEach((fields, index) => {
    const row = index + 2;
    const name = fields[0];
    if (name === "") throw new CsvError("a point without a series name", { row, column: 1, kind: "header" });
    if (fields[1] === "")
      throw new CsvError("a point without an x value", { row, column: 2, kind: "number" });
    const [y, low, high, n] = [2, 3, 4, 5].map((i) => toNumber(fields[i], row, i + 1, LONG_HEADER[i]));
    if (low !== null && high !== null && low > high) {
      throw new CsvError(`low ${fields[3]} is above high ${fields[4]}`, { row, column: 4, kind: "number" });
    }
    if (!byName.has(name)) byName.set(name, []);
    byName.get(name).push({ x: xs[index], y, low, high, n });
  });
  const distinct = [...new Set(xs)];
  if (typeof distinct[0] === "number") distinct.sort((a, b) => a - b);
  const series = [...byName].map(([name, points]) => ({ name, points }));
  return { kind: "long", xLabel: "x", xs: distinct, series };
}

function readXs(texts) {
  return texts.every((text) => isNumber(text)) ? texts.map(Number) : texts;
}

function isNumber(text) {
  return NUMBER.test(text) && Number.isFinite(Number(text));
}

function toNumber(text, row, column, title) {
  if (text === "") return null;
  if (!isNumber(text)) {
    throw new CsvError(`"${text}" is not a number (under "${title}")`, { row, column, kind: "number" });
  }
  return Number(text);
}

/**
 * A new model with `low`, `high` and `n` taken from companion models, point by point, by series name and x.
 * A point that a companion does not have keeps null. `model` itself and its y values are left as they are.
 *
 * @param {Model} model
 * @param {{low?: Model|null, high?: Model|null, n?: Model|null}} companions
 * @returns {Model}
 */
export function joinCompanions(model, companions) {
  const lookups = Object.fromEntries(
    Object.entries(companions)
      .filter(([, companion]) => companion)
      .map(([key, companion]) => [key, lookup(companion)]),
  );
  const series = model.series.map(({ name, points }) => ({
    name,
    points: points.map((point) => {
      const joined = { ...point };
      for (const [key, find] of Object.entries(lookups)) joined[key] = find(name, point.x) ?? point[key];
      return joined;
    }),
  }));
  return { ...model, series };
}

function lookup(companion) {
  const bySeries = new Map(
    companion.series.map(({ name, points }) => [name, new Map(points.map((p) => [p.x, p.y]))]),
  );
  return (name, x) => bySeries.get(name)?.get(x);
}
