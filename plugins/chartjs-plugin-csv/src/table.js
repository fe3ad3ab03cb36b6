import { CsvError } from "./error.js";
import { parseCsv } from "./parse.js";

/**
 * @typedef {{x: number|string, y: number|null, low: number|null, high: number|null, n: number|null}} Point
 * @typedef {{name: string, points: Point[]}} Series
 * @typedef {{kind: "wide"|"long", xLabel: string, xs: (number|string)[], series: Series[]}} Model
 */

/** The header that marks the long form. */
export const LONG_HEADER = ["series", "x", "y", "low", "high", "n"];

/** More than anybody can tell apart; a file that holds more is not meant to be drawn. */
export const MAX_SERIES = 100;
/** Of names and of x values that are words, in characters. */
export const MAX_NAME = 200;
/** How much of a wrong field an error quotes, in characters. */
const QUOTED = 60;

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
  const seen = new Set();
  header.forEach((text, i) => checkName(text, { row: 1, column: i + 1 }));
  xs.forEach((x, i) => {
    const at = { row: 1, column: i + 2, kind: "header" };
    if (x === "") throw new CsvError("an empty x value in the header", at);
    if (seen.has(x)) throw new CsvError(`x value ${quoted(header[i + 1])} twice in the header`, at);
    seen.add(x);
  });
  const names = new Set();
  const series = body.map(([name, ...fields], index) => {
    const row = index + 2;
    const at = { row, column: 1, kind: "header" };
    if (name === "") throw new CsvError("a series without a name", at);
    if (names.has(name)) throw new CsvError(`series ${quoted(name)} twice`, at);
    addName(names, name, at);
    const points = fields.map((text, i) => ({
      x: xs[i],
      y: numberAt(text, row, i + 2, header[i + 1]),
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
  const names = new Set();
  const xs = readXs(body.map((fields) => fields[1]));
  body.forEach((fields, index) => {
    const row = index + 2;
    const name = fields[0];
    if (name === "") throw new CsvError("a point without a series name", { row, column: 1, kind: "header" });
    if (fields[1] === "")
      throw new CsvError("a point without an x value", { row, column: 2, kind: "number" });
    const y = numberAt(fields[2], row, 3, "y");
    const low = numberAt(fields[3], row, 4, "low");
    const high = numberAt(fields[4], row, 5, "high");
    const n = numberAt(fields[5], row, 6, "n");
    if (low !== null && high !== null && low > high) {
      throw new CsvError(`low ${low} is above high ${high}`, {
        row,
        column: 4,
        kind: "number",
      });
    }
    let points = byName.get(name);
    if (!points) {
      addName(names, name, { row, column: 1, kind: "header" });
      byName.set(name, (points = []));
    }
    if (typeof xs[index] === "string") checkName(xs[index], { row, column: 2 });
    points.push({ x: xs[index], y, low, high, n });
  });
  const distinct = [...new Set(xs)];
  if (typeof distinct[0] === "number") distinct.sort((a, b) => a - b);
  const series = [...byName].map(([name, points]) => ({ name, points }));
  return { kind: "long", xLabel: "x", xs: distinct, series };
}

/** Notes one more series name, as far as a chart can bear it. */
function addName(names, name, at) {
  checkName(name, at);
  names.add(name);
  if (names.size > MAX_SERIES) {
    throw new CsvError(`more than ${MAX_SERIES} series, the limit of a chart`, { ...at, kind: "size" });
  }
}

function checkName(name, at) {
  if (name.length <= MAX_NAME) return;
  throw new CsvError(`a name of ${name.length} characters, the limit is ${MAX_NAME}`, {
    ...at,
    kind: "size",
  });
}

/** x values are numbers when all of them are, else they stay words. */
export function readXs(texts) {
  const numbers = [];
  for (const text of texts) {
    const number = toNumber(text);
    if (number === null) return texts;
    numbers.push(number);
  }
  return numbers;
}

/** The number that a text is, null where it is none. */
function toNumber(text) {
  if (!NUMBER.test(text)) return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}

/** The number in a field, null for an empty one. */
export function numberAt(text, row, column, title) {
  if (text === "") return null;
  const number = toNumber(text);
  if (number !== null) return number;
  throw new CsvError(`${quoted(text)} is not a number (under ${quoted(title)})`, {
    row,
    column,
    kind: "number",
  });
}

function quoted(text) {
  return text.length > QUOTED ? `"${text.slice(0, QUOTED)}…"` : `"${text}"`;
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
