import { CsvError, ambiguous, quoted } from "./error.js";
import { readRows } from "./dialect.js";
import { LONG_HEADER, MAX_NAME, MAX_SERIES } from "./forms.js";
import { Values, notNumber, sizeIn, toNumber } from "./numbers.js";
import { unitOfAxis } from "./units.js";

/**
 * @typedef {object} Point
 * @property {number|string} x
 * @property {number|null} y   in base units; null where the field is empty
 * @property {number|null} low
 * @property {number|null} high
 * @property {number|null} n
 * @property {number|null} [min]   the smallest and the greatest run, or the ends of a prediction, beside an interval
 * @property {number|null} [max]
 *
 * @typedef {import("./plugin.js").Unit|null} FileUnit
 * @typedef {{name: string, points: Point[]}} Series
 * @typedef {{kind: "wide"|"long", xLabel: string, xs: (number|string)[], series: Series[], all?: Series[],
 *            lacking?: string[], xUnit?: FileUnit, yUnit?: FileUnit, bounds?: string}} Model
 *   all: its series, if `series` are only some; lacking: further files that were not there; xUnit, yUnit: what the file
 *   itself says after its numbers; bounds: what the bounds of its points are, if they come from a further file
 */

/** Layouts of a file with a shared x axis: a row for each series, or a column for each series. */
const ORIENTATIONS = ["auto", "rows", "columns"];

/**
 * Reads CSV text into a model: long if the header says so, else wide, with a row or a column for each series.
 *
 * A missing field is null. Values are in base units. In the wide form `low`, `high` and `n` are null until a spread file is
 * joined (see spread.js). x values are numbers if all of them are, else strings.
 *
 * @param {string} text
 * @param {import("./dialect.js").Dialect & {orientation?: "auto"|"rows"|"columns", yUnit?: FileUnit}} [options]
 *   orientation: "auto" finds out, and refuses a file that could be either; yUnit: what the values are, where a file has 4k
 * @returns {Model}
 * @throws {CsvError} naming row, column and the offending text
 */
export function readModel(text, options = {}) {
  return readTable(text, options).model;
}

/** Like `readModel`, but also returns how the file is laid out: `{model, orientation}`. */
export function readTable(text, { orientation = "auto", yUnit = null, ...dialect } = {}) {
  if (!ORIENTATIONS.includes(orientation)) {
    throw new CsvError(`option orientation is "${orientation}"; expected ${ORIENTATIONS.join(", ")}`, {
      kind: "options",
    });
  }
  const table = readRows(text, dialect);
  const { rows } = table;
  if (rows.length === 0) throw new CsvError("the file is empty", { kind: "empty" });
  const header = rows[0];
  // Bounds and counts may be left out.
  const isLong = [LONG_HEADER, LONG_HEADER.slice(0, 3)].some((form) => isHeader(header, form));
  if (rows.length === 1) throw new CsvError("a header, but no data row", { kind: "empty" });
  const values = new Values(table, yUnit);
  const withUnit = (model) => (values.unit === null ? model : { ...model, yUnit: values.unit });
  if (isLong) return { model: withUnit(readLong(table, values)), orientation };
  if (header.length < 2) {
    throw new CsvError("the header names no x value (expected: axis title, then one column per x)", {
      row: 1,
      column: 1,
      kind: "header",
    });
  }
  const laid = orientation === "auto" ? orientationOf(table) : orientation;
  const read = laid === "rows" ? readRowsOfSeries : readColumnsOfSeries;
  return { model: withUnit(read(table, values)), orientation: laid };
}

/**
 * x values are numbers or moments; names of series are words. Sizes are x values, or name series over numbers: 4K, 64K over
 * queue depths.
 */
function orientationOf({ rows, places, isPlace, isAmount }) {
  const [header, ...body] = rows;
  const along = (isOne) => ({
    above: areAlong(header.slice(1), isOne),
    beside: areAlong(
      body.map(([first]) => first),
      isOne,
    ),
  });
  const [sure, may] = [along(isPlace), along(isAmount)];
  const isWithoutWords = may.above && may.beside && isAmount(header[0]);
  if (sure.above !== sure.beside && !isWithoutWords) return sure.above ? "rows" : "columns";
  if (may.above !== may.beside) return may.above ? "rows" : "columns";
  // By rows, each label beside a single column would be a series of one point.
  if (!may.above && header.length === 2 && rows.length > 2) return "columns";
  const reason = isWithoutWords
    ? "the first row has only numbers and could be data: put a row of names above it. If it is the header, each row or each column could be a series"
    : `each row or each column could be a series: there are ${may.above ? "numbers" : "words"} in the header and in the first column`;
  throw ambiguous(reason, "orientation", ["rows", "columns"], { row: places[0] });
}

/** Whether texts are x values. A missing one is an error in the file, and says nothing about its layout. */
function areAlong(texts, isOne) {
  const there = texts.filter((text) => text !== "");
  return there.length > 0 && there.every(isOne);
}

function readRowsOfSeries(table, values) {
  const {
    rows: [header, ...body],
    places,
  } = table;
  const { xs, ...unit } = xsOf(header.slice(1), table, header[0]);
  const seen = new Set();
  header.forEach((text, i) => checkName(text, { row: places[0], column: i + 1 }));
  xs.forEach((x, i) => {
    const at = { row: places[0], column: i + 2, kind: "header" };
    if (x === "") throw new CsvError("an empty x value in the header", at);
    if (seen.has(x)) throw new CsvError(`x value ${quoted(header[i + 1])} twice in the header`, at);
    seen.add(x);
  });
  const names = new Set();
  const series = [];
  for (const [index, [name, ...fields]] of body.entries()) {
    const row = places[index + 1];
    addSeries(names, name, { row, column: 1, kind: "header" });
    const valueOf = (text, i) => values.at(text, { row, column: i + 2 }, header[i + 1]);
    series.push({ name, points: fields.map((text, i) => pointOf(xs[i], valueOf(text, i))) });
  }
  return { kind: "wide", xLabel: header[0], xs, series, ...unit };
}

function readColumnsOfSeries(table, values) {
  const {
    rows: [header, ...body],
    places,
  } = table;
  const names = new Set();
  header
    .slice(1)
    .forEach((name, i) => addSeries(names, name, { row: places[0], column: i + 2, kind: "header" }));
  const { xs, ...unit } = xsOf(
    body.map(([x]) => x),
    table,
    header[0],
  );
  xs.forEach((x, index) => {
    const at = { row: places[index + 1], column: 1 };
    if (x === "") throw new CsvError("a row without an x value", { ...at, kind: "number" });
    if (typeof x === "string") checkName(x, at);
  });
  const series = [...names].map((name, i) => ({
    name,
    points: body.map((fields, index) => {
      const at = { row: places[index + 1], column: i + 2 };
      return pointOf(xs[index], values.at(fields[i + 1], at, name));
    }),
  }));
  const distinct = distinctXs(xs);
  if (distinct.length === xs.length) return { kind: "wide", xLabel: header[0], xs, series, ...unit };
  // Several values at one x: points, as in the long form.
  return { kind: "long", xLabel: header[0], xs: distinct, series, ...unit };
}

/** Each x value once: numbers from the least to the greatest, words as they come. */
export function distinctXs(xs) {
  const distinct = [...new Set(xs)];
  return typeof distinct[0] === "number" ? distinct.sort((a, b) => a - b) : distinct;
}

/** A point of which nothing is known but its value, or not even that. */
export function pointOf(x, y = null) {
  return { x, y, low: null, high: null, n: null };
}

function addSeries(names, name, at) {
  if (name === "") throw new CsvError("a series without a name", at);
  if (names.has(name)) throw new CsvError(`series ${quoted(name)} twice`, at);
  addName(names, name, at);
}

/** Whether a file's first row is this header, and nothing else. */
export function isHeader(row, header) {
  return row.length === header.length && header.every((name, i) => row[i] === name);
}

function readLong(table, values) {
  const { rows, places } = table;
  const body = rows.slice(1);
  const byName = new Map();
  const names = new Set();
  const { xs, ...unit } = xsOf(
    body.map((fields) => fields[1]),
    table,
  );
  body.forEach((fields, index) => {
    const row = places[index + 1];
    const name = fields[0];
    if (name === "") throw new CsvError("a point without a series name", { row, column: 1, kind: "header" });
    if (fields[1] === "")
      throw new CsvError("a point without an x value", { row, column: 2, kind: "number" });
    const y = values.at(fields[2], { row, column: 3 }, "y");
    const low = values.at(fields[3] ?? "", { row, column: 4 }, "low");
    const high = values.at(fields[4] ?? "", { row, column: 5 }, "high");
    const n = countAt(fields[5] ?? "", table, { row, column: 6 });
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
  const series = [...byName].map(([name, points]) => ({ name, points }));
  return { kind: "long", xLabel: "x", xs: distinctXs(xs), series, ...unit };
}

/** How many observations a point has behind it; null where the file does not say. */
export function countAt(text, { isMissing, numberOf }, at) {
  if (isMissing(text)) return null;
  const count = numberOf(text);
  if (count === null) throw notNumber(text, at, "n");
  return count;
}

/** Adds the name of a series; throws if a chart cannot show it. */
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

/** The results of a function for all texts; null if there is none for one of them. */
function allOf(texts, read) {
  const results = [];
  for (const text of texts) {
    const result = read(text);
    if (result === null) return null;
    results.push(result);
  }
  return results;
}

/**
 * x values are numbers if all of them are, also with one unit (10 ms), or as sizes (64k) if the axis is titled so; else they
 * stay words.
 * @param {string[]} texts
 * @param {{numberOf: (text: string) => number|null, quantityOf?: import("./dialect.js").Table["quantityOf"]}} [table]
 * @param {string} [title]
 * @returns {{xs: (number|string)[], xUnit?: FileUnit}}
 */
export function xsOf(texts, { numberOf, quantityOf = () => null } = { numberOf: toNumber }, title = "") {
  const numbers = allOf(texts, numberOf);
  if (numbers) return { xs: numbers };
  const sizes = unitOfAxis(title) === "bytes" && allOf(texts, sizeIn);
  if (sizes) return { xs: sizes, xUnit: "bytes" };
  const quantities = allOf(texts, quantityOf);
  const [{ unit: xUnit } = {}] = quantities ?? [];
  if (!quantities?.every(({ unit }) => unit === xUnit)) return { xs: texts };
  return { xs: quantities.map(({ value }) => value), xUnit };
}

/** The number in a field, null for an empty one. */
export function numberAt(text, row, column, title) {
  const number = toNumber(text);
  if (number === null && text !== "") throw notNumber(text, { row, column }, title);
  return number;
}
