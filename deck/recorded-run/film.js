/**
 * The content of one chart's files at each moment of its measurement: the frames of a recorded run. Pure.
 *
 * Nothing is invented between two moments. A value is computed from the runs that had arrived, as derive computes it for all
 * runs, or the field is empty, as in the files that derive writes during a measurement.
 */

import { medianOf, parseCsv } from "chartjs-plugin-csv";

const LONG = ["series", "x", "y", "low", "high", "n"];
const SPREAD = ["series", "x", "low", "high", "min", "max", "n"];
/** The columns of the spread file that the bounds of a ratio and of a median have. */
const RATIO_BOUNDS = ["low", "high"];
const MEDIAN_BOUNDS = ["min", "max"];

/**
 * When the last part of a chart arrives: from then on the data set's own files are shown.
 * @param {{seconds: number[]}} group   the chart's group in the recording
 */
export function lastMoment(group) {
  return Math.max(...group.seconds);
}

/** Whether any part of a chart arrives after `from` and up to `to`. */
export function changesBetween(group, from, to) {
  return group.seconds.some((at) => at > from && at <= to);
}

/**
 * @param {{text: string, runs: string[][]|null, group: object, ratio: boolean,
 *          quantiles: Record<string, number>}} given
 *   text: the finished `X.csv`; runs: its rows of `runs.csv`, needed if runs or blocks arrive; group: when what arrives
 *   (recording.json: `arrives, seconds, x, block`); ratio: whether `y` is a ratio with its interval
 * @throws {CsvError} when a file is no CSV
 */
export function Film({ text, runs, group, ratio, quantiles }) {
  const [header, ...rows] = parseCsv(text);
  const isLong = LONG.every((name, column) => header[column] === name);
  const known = runs === null ? null : timed(runs, group);

  /**
   * The smallest and largest value that these series, or their runs, will have; null if there are none.
   * @param {(series: string) => boolean} [isShown]
   */
  function rangeOf(isShown = () => true) {
    const values = known
      ? known.filter(({ series }) => isShown(series)).map(({ y }) => y)
      : finished(isShown);
    if (values.length === 0) return null;
    return values.reduce(({ low, high }, y) => ({ low: Math.min(low, y), high: Math.max(high, y) }), {
      low: Infinity,
      high: -Infinity,
    });
  }

  /**
   * The chart's files at a moment.
   * @param {number} seconds   of the recording
   * @returns {Record<string, string>} by the part before `.csv`: `""`, and of a wide chart `spread`
   */
  function filesAt(seconds) {
    if (seconds >= lastMoment(group)) throw new RangeError("the finished chart has its own files");
    const points = pointsOf(known?.filter(({ at }) => at <= seconds) ?? []);
    if (isLong) return { "": longFile(points, seconds) };
    return { "": wideFile(points), spread: spreadFile(points) };
  }

  function pointsOf(arrived) {
    const values = new Map();
    for (const { series, x, y } of arrived) {
      const key = keyOf(series, x);
      if (!values.has(key)) values.set(key, []);
      values.get(key).push(y);
    }
    const estimate = ratio ? (ys) => ratioOf(ys, quantiles) : spreadOf;
    return new Map([...values].map(([key, ys]) => [key, estimate(ys)]));
  }

  function wideFile(points) {
    const filled = rows.map(([series]) => [
      series,
      ...header.slice(1).map((x) => numberText(points.get(keyOf(series, Number(x)))?.y)),
    ]);
    return csv([header, ...filled]);
  }

  function spreadFile(points) {
    const [least, greatest] = ratio ? RATIO_BOUNDS : MEDIAN_BOUNDS;
    const filled = rows.flatMap(([series]) =>
      header.slice(1).map((x) => {
        const { low, high, n } = points.get(keyOf(series, Number(x))) ?? {};
        const there = { series, x, [least]: numberText(low), [greatest]: numberText(high), n: numberText(n) };
        return SPREAD.map((column) => there[column] ?? "");
      }),
    );
    return csv([SPREAD, ...filled]);
  }

  function longFile(points, seconds) {
    const filled = rows.map((fields) => {
      const [series, x] = fields;
      if (group.arrives === "row" && momentOfRow(group, Number(x)) <= seconds) return fields;
      const point = points.get(keyOf(series, Number(x)));
      return [series, x, ...["y", "low", "high", "n"].map((part) => numberText(point?.[part]))];
    });
    return csv([header, ...filled]);
  }

  function finished(isShown) {
    const fields = rows
      .filter(([series]) => isShown(series))
      .flatMap((row) => (isLong ? row.slice(2, 5) : row.slice(1)));
    return fields.filter((field) => field !== "").map(Number);
  }

  return { rangeOf, filesAt };
}

/**
 * The rows of `runs.csv` that had arrived at a moment.
 * @param {string[][]} runs   rows of one chart, without its name
 * @param {object} group   when what arrives
 * @param {number} seconds   of the recording
 */
export function arrivedRuns(runs, group, seconds) {
  return timed(runs, group)
    .filter(({ at }) => at <= seconds)
    .map(({ fields }) => fields);
}

/** Runs, each with the moment it arrived. A run that the recording does not know never arrives. */
function timed(runs, group) {
  const byBlock = group.arrives === "block";
  const moments = new Map(
    group.seconds.map((at, i) => [byBlock ? `${group.block[i]}` : `${group.x[i]} ${group.block[i]}`, at]),
  );
  return runs.map((fields) => {
    const [series, x, y, block] = fields;
    const at = moments.get(byBlock ? `${Number(block)}` : `${Number(x)} ${Number(block)}`) ?? Infinity;
    return { series, x: Number(x), y: Number(y), at, fields };
  });
}

function momentOfRow(group, x) {
  const index = group.x.indexOf(x);
  return index < 0 ? Infinity : group.seconds[index];
}

function keyOf(series, x) {
  return `${series}\u0000${x}`;
}

/** Nine significant digits, as derive writes them; a missing value is an empty field. */
function numberText(value) {
  return value === null || value === undefined ? "" : String(Number(value.toPrecision(9)));
}

/** Rows of fields as CSV. */
export function csv(rows) {
  const line = (fields) =>
    fields.map((field) => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(",");
  return `${rows.map(line).join("\n")}\n`;
}

/** Median, smallest, largest and number of runs. */
export function spreadOf(values) {
  return { y: medianOf(values), low: Math.min(...values), high: Math.max(...values), n: values.length };
}

/**
 * The geometric mean of paired ratios with its t-interval on the logarithm; one pair has no interval.
 * @param {number[]} values   all above 0
 * @param {Record<string, number>} quantiles   how many standard errors the interval reaches, by the number of pairs
 */
export function ratioOf(values, quantiles) {
  const logs = values.map(Math.log);
  const n = logs.length;
  const mean = sum(logs) / n;
  const quantile = quantiles[n];
  if (n < 2 || quantile === undefined) return { y: Math.exp(mean), low: null, high: null, n };
  const variance = sum(logs.map((value) => (value - mean) ** 2)) / (n - 1);
  const half = quantile * Math.sqrt(variance / n);
  return { y: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half), n };
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
