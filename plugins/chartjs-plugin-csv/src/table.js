import { CsvError } from "./error.js";
import { ambiguous, readRows, toNumber } from "./dialect.js";
import { LONG_HEADER, MAX_NAME, MAX_SERIES, SPREAD_HEADER } from "./forms.js";

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
 * @typedef {{name: string, points: Point[]}} Series
 * @typedef {{kind: "wide"|"long", xLabel: string, xs: (number|string)[], series: Series[], lacking?: string[]}} Model
 *   lacking: further files that were not there
 * @typedef {{low: number|null, high: number|null, min: number|null, max: number|null, n: number|null}} Spread
 */

/** How much of a wrong field an error message quotes, in characters. */
const QUOTED = 60;

/** Layouts of a file with a shared x axis: a row for each series, or a column for each series. */
export const ORIENTATIONS = ["auto", "prefer-rows", "rows", "columns"];

/** Common forms of dates and times: 2026-11-22, 22.11.2026, 11/22/2026, 18:20:05. */
const MOMENT =
  /^(\d{4}-\d{1,2}(-\d{1,2}([T ]\d{1,2}:\d{2}.*)?)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)$/;

/**
 * Reads CSV text into a model: long if the header says so, else wide, with a row or a column for each series.
 *
 * A missing field is null. Values are in base units, as written. In the wide form `low`, `high` and `n` are null
 * until a spread file is joined (see `joinSpread`). x values are numbers if all of them are, else strings.
 *
 * @param {string} text
 * @param {import("./dialect.js").Dialect & {orientation?: "auto"|"prefer-rows"|"rows"|"columns"}} [options]
 *   orientation: "auto" finds out, and refuses a file that could be either; "prefer-rows" reads such a file as rows
 * @returns {Model}
 * @throws {CsvError} naming row, column and the offending text
 */
export function readModel(text, options = {}) {
  return readTable(text, options).model;
}

/** Like `readModel`, but also returns how the file is laid out: `{model, orientation}`. */
export function readTable(text, { orientation = "auto", ...dialect } = {}) {
  if (!ORIENTATIONS.includes(orientation)) {
    throw new CsvError(`option orientation is "${orientation}"; expected ${ORIENTATIONS.join(", ")}`, {
      kind: "options",
    });
  }
  const table = readRows(text, dialect);
  const { rows } = table;
  if (rows.length === 0) throw new CsvError("the file is empty", { kind: "empty" });
  const header = rows[0];
  const isLong = isHeader(header, LONG_HEADER);
  if (rows.length === 1) throw new CsvError("a header, but no data row", { kind: "empty" });
  if (isLong) return { model: readLong(table), orientation };
  if (header.length < 2) {
    throw new CsvError("the header names no x value (expected: axis title, then one column per x)", {
      row: 1,
      column: 1,
      kind: "header",
    });
  }
  const laid = ["rows", "columns"].includes(orientation) ? orientation : orientationOf(table, orientation);
  const model = laid === "rows" ? readRowsOfSeries(table) : readColumnsOfSeries(table);
  return { model, orientation: laid };
}

/** x values are numbers or moments; names of series are words. */
function orientationOf({ rows, numberOf }, wanted) {
  const isPlace = (text) => numberOf(text) !== null || MOMENT.test(text);
  const above = areAlong(rows[0].slice(1), (text) => text, isPlace);
  const beside = areAlong(rows.slice(1), ([first]) => first, isPlace);
  if (above !== beside) return above ? "rows" : "columns";
  if (wanted === "prefer-rows") return "rows";
  throw ambiguous(
    `each row or each column could be a series: there are ${above ? "numbers" : "words"} in the header and in the first column`,
    "orientation",
    1,
  );
}

/** Whether texts are x values. A missing one is an error in the file, and says nothing about its layout. */
function areAlong(items, textOf, isPlace) {
  let some = false;
  for (const item of items) {
    const text = textOf(item);
    if (isPlace(text)) some = true;
    else if (text !== "") return false;
  }
  return some;
}

function readRowsOfSeries({ rows: [header, ...body], places, numberOf, isMissing }) {
  const xs = xsOf(header.slice(1), numberOf);
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
    const valueOf = (text, i) =>
      valueAt(text, { numberOf, isMissing }, { row, column: i + 2 }, header[i + 1]);
    series.push({ name, points: fields.map((text, i) => pointOf(xs[i], valueOf(text, i))) });
  }
  return { kind: "wide", xLabel: header[0], xs, series };
}

function readColumnsOfSeries({ rows: [header, ...body], places, numberOf, isMissing }) {
  const names = new Set();
  header
    .slice(1)
    .forEach((name, i) => addSeries(names, name, { row: places[0], column: i + 2, kind: "header" }));
  const xs = xsOf(
    body.map(([x]) => x),
    numberOf,
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
      return pointOf(xs[index], valueAt(fields[i + 1], { numberOf, isMissing }, at, name));
    }),
  }));
  const distinct = [...new Set(xs)];
  if (distinct.length === xs.length) return { kind: "wide", xLabel: header[0], xs, series };
  // Several values at one x: points, as in the long form.
  if (typeof distinct[0] === "number") distinct.sort((a, b) => a - b);
  return { kind: "long", xLabel: header[0], xs: distinct, series };
}

function pointOf(x, y) {
  return { x, y, low: null, high: null, n: null };
}

function addSeries(names, name, at) {
  if (name === "") throw new CsvError("a series without a name", at);
  if (names.has(name)) throw new CsvError(`series ${quoted(name)} twice`, at);
  addName(names, name, at);
}

function valueAt(text, { numberOf, isMissing }, { row, column }, title) {
  if (isMissing(text)) return null;
  const number = numberOf(text);
  if (number !== null) return number;
  throw new CsvError(`${quoted(text)} is not a number (under ${quoted(title)})`, {
    row,
    column,
    kind: "number",
  });
}

/** Whether a file's first row is this header, and nothing else. */
function isHeader(row, header) {
  return row.length === header.length && header.every((name, i) => row[i] === name);
}

function readLong({ rows: [, ...body], places, numberOf, isMissing }) {
  const byName = new Map();
  const names = new Set();
  const xs = xsOf(
    body.map((fields) => fields[1]),
    numberOf,
  );
  body.forEach((fields, index) => {
    const row = places[index + 1];
    const name = fields[0];
    if (name === "") throw new CsvError("a point without a series name", { row, column: 1, kind: "header" });
    if (fields[1] === "")
      throw new CsvError("a point without an x value", { row, column: 2, kind: "number" });
    const y = valueAt(fields[2], { numberOf, isMissing }, { row, column: 3 }, "y");
    const low = valueAt(fields[3], { numberOf, isMissing }, { row, column: 4 }, "low");
    const high = valueAt(fields[4], { numberOf, isMissing }, { row, column: 5 }, "high");
    const n = valueAt(fields[5], { numberOf, isMissing }, { row, column: 6 }, "n");
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

/** x values are numbers if all of them are, else they stay words. */
export function xsOf(texts, numberOf = toNumber) {
  const numbers = [];
  for (const text of texts) {
    const number = numberOf(text);
    if (number === null) return texts;
    numbers.push(number);
  }
  return numbers;
}

/** The number in a field, null for an empty one. */
export function numberAt(text, row, column, title) {
  const strict = { numberOf: (field) => toNumber(field), isMissing: (field) => field === "" };
  return valueAt(text, strict, { row, column }, title);
}

function quoted(text) {
  return text.length > QUOTED ? `"${text.slice(0, QUOTED)}…"` : `"${text}"`;
}

/** An x value as both files have it: 4096 of a header, and "4096" of a row. */
function placeOf(x) {
  return typeof x === "number" ? x : (toNumber(x) ?? x);
}

/**
 * Reads `X.spread.csv`, the statistics behind the values of `X.csv`.
 *
 * @param {string} text
 * @param {import("./dialect.js").Dialect} [dialect]
 * @returns {Map<string, Map<number|string, Spread>>} by series and x; an empty field is null: no such statistic
 * @throws {CsvError} naming row and column
 */
export function readSpread(text, dialect = {}) {
  const { rows, places, numberOf, isMissing } = readRows(text, dialect);
  const [header = [], ...body] = rows;
  if (!isHeader(header, SPREAD_HEADER)) {
    throw new CsvError(`the header of a spread file is ${SPREAD_HEADER.join(",")}`, {
      row: 1,
      column: 1,
      kind: "header",
    });
  }
  const bySeries = new Map();
  body.forEach(([name, x, ...fields], index) => {
    const row = places[index + 1];
    const at = (i) =>
      valueAt(fields[i], { numberOf, isMissing }, { row, column: i + 3 }, SPREAD_HEADER[i + 2]);
    const statistics = bySeries.get(name) ?? new Map();
    bySeries.set(name, statistics);
    const place = placeOf(x);
    if (statistics.has(place))
      throw new CsvError(`series ${quoted(name)} twice at ${quoted(x)}`, { row, column: 2, kind: "header" });
    statistics.set(place, { low: at(0), high: at(1), min: at(2), max: at(3), n: at(4) });
  });
  return bySeries;
}

/**
 * A new model whose points have the bounds and counts of a spread file. A point that the file lacks keeps null.
 *
 * @param {Model} model
 * @param {ReturnType<typeof readSpread>} spread
 * @param {"min-max"|"interval"|"both"} bands   which statistics become `low` and `high`; with "both" these are the
 *   interval, and a point has `min` and `max` besides
 * @returns {Model}
 */
export function joinSpread(model, spread, bands) {
  const boundsOf = ({ low, high, min, max, n }) => {
    if (bands === "min-max") return { low: min, high: max, n };
    return bands === "both" ? { low, high, min, max, n } : { low, high, n };
  };
  return withPoints(model, (name, point) => {
    const found = spread.get(name)?.get(placeOf(point.x));
    return found ? { ...point, ...boundsOf(found) } : point;
  });
}

/**
 * The same for files of the older form, `X.low.csv` and the like: models of one statistic each.
 *
 * @param {Model} model
 * @param {{low?: Model|null, high?: Model|null, n?: Model|null}} companions
 * @returns {Model}
 */
export function joinCompanions(model, companions) {
  const lookups = Object.entries(companions)
    .filter(([, companion]) => companion)
    .map(([key, companion]) => [key, lookup(companion)]);
  return withPoints(model, (name, point) => {
    const joined = { ...point };
    for (const [key, find] of lookups) joined[key] = find(name, point.x) ?? point[key];
    return joined;
  });
}

function withPoints(model, joined) {
  const series = model.series.map(({ name, points }) => ({
    name,
    points: points.map((point) => joined(name, point)),
  }));
  return { ...model, series };
}

function lookup(companion) {
  const bySeries = new Map(
    companion.series.map(({ name, points }) => [name, new Map(points.map((p) => [p.x, p.y]))]),
  );
  return (name, x) => bySeries.get(name)?.get(x);
}
