import { readRows } from "./dialect.js";
import { CsvError, quoted } from "./error.js";
import { SPREAD_HEADER } from "./forms.js";
import { Values, quantityIn, sizeIn } from "./numbers.js";
import { countAt, isHeader } from "./table.js";

/**
 * The statistics behind the values of a wide file, from files beside it.
 *
 * @typedef {import("./table.js").Model} Model
 * @typedef {{low: number|null, high: number|null, min: number|null, max: number|null, n: number|null}} Spread
 */

/** An x value as both files have it: 4096 of a header, and "4096" or "4k" of a row. */
function placeOf(x, quantityOf = quantityIn) {
  return typeof x === "number" ? x : (quantityOf(x)?.value ?? sizeIn(x) ?? x);
}

/**
 * Reads `X.spread.csv`, the statistics behind the values of `X.csv`.
 *
 * @param {string} text
 * @param {import("./dialect.js").Dialect & {yUnit?: import("./table.js").FileUnit}} [dialect]
 * @returns {Map<string, Map<number|string, Spread>>} by series and x; an empty field is null: no such statistic
 * @throws {CsvError} naming row and column
 */
export function readSpread(text, { yUnit = null, ...dialect } = {}) {
  const table = readRows(text, dialect);
  const values = new Values(table, yUnit);
  const [header = [], ...body] = table.rows;
  if (!isHeader(header, SPREAD_HEADER)) {
    throw new CsvError(`the header of a spread file is ${SPREAD_HEADER.join(",")}`, {
      row: 1,
      column: 1,
      kind: "header",
    });
  }
  const bySeries = new Map();
  body.forEach(([name, x, ...fields], index) => {
    const row = table.places[index + 1];
    const at = (i) => values.at(fields[i], { row, column: i + 3 }, SPREAD_HEADER[i + 2]);
    const statistics = bySeries.get(name) ?? new Map();
    bySeries.set(name, statistics);
    const place = placeOf(x, table.quantityOf);
    if (statistics.has(place))
      throw new CsvError(`series ${quoted(name)} twice at ${quoted(x)}`, { row, column: 2, kind: "header" });
    statistics.set(place, {
      low: at(0),
      high: at(1),
      min: at(2),
      max: at(3),
      n: countAt(fields[4], table, { row, column: 7 }),
    });
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
    const statistics = spread.get(name)?.get(placeOf(point.x));
    return statistics ? { ...point, ...boundsOf(statistics) } : point;
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

/**
 * A model whose points reach to their values in further files: a line with a band from the median to a high percentile. Pure.
 * @param {Model[]} models   the first is the line
 * @param {string[]} names   of the files
 * @returns {Model}
 */
export function withBand([model, ...others], names) {
  if (others.length === 0) return model;
  const finds = others.map(lookup);
  return withPoints({ ...model, bounds: `to ${names.slice(1).join(" and ")}` }, (name, point) => {
    const values = [point.y, ...finds.map((find) => find(name, point.x) ?? null)];
    const isWhole = values.every((value) => value !== null);
    return {
      ...point,
      low: isWhole ? Math.min(...values) : null,
      high: isWhole ? Math.max(...values) : null,
    };
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
