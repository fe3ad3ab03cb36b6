/**
 * Tables of what charts draw. Charts with the same x axis share a table, so that a row reads across four panels; a
 * chart of many points becomes a list. Pure: no page.
 */

import { counts, medianOf, place, range, shortRange, value, valuesOf } from "./figures.js";
import { kindOf } from "./kinds.js";
import { distinctXs, pointOf } from "./table.js";

/** A table with more columns than this cannot be read from a seat. */
const MOST_COLUMNS = 8;
const MOST_ROWS = 40;

/**
 * @typedef {{kind?: string, heading: string|null, quantity: string|null, model: import("./table.js").Model, shown: string[],
 *            axes: {xLabel: string|null, xUnit: string|null, yUnit: string|null, prefix?: string}, settings?: object|null}} Shown
 *   a chart as people see it
 * @typedef {{value: number|null, text: string, detail: string|null}} Cell
 * @typedef {{caption: string, valuesCaption: string, groups: {title: string, columns: string[]}[], xLabel: string,
 *            rows: {title: string, cells: Cell[]}[]}} Table   `groups`: the columns of each chart;
 *   `valuesCaption`: for a table without the details of its cells
 */

/** What kinds make their tables with. They get it from here, so that a chart is drawn without this code. */
const MAKE = { crossTable, figureCell, rowTable, seriesOf, textCell, valueCell, valueColumns };

/** @typedef {typeof MAKE} TableMaker */

/**
 * @param {Shown[]} charts
 * @returns {Table[]}
 */
export function tablesOf(charts) {
  const sheaves = [];
  for (const chart of charts) {
    const last = sheaves.at(-1);
    if (last && canJoin(last, chart)) last.push(chart);
    else sheaves.push([chart]);
  }
  return sheaves.map((sheaf) => {
    const kind = kindOf(sheaf[0].kind);
    if (kind) return kind.table(sheaf[0], MAKE);
    if (isPivot(sheaf[0])) return crossTable(sheaf);
    const points = seriesOf(sheaf[0]).reduce((sum, series) => sum + series.points.length, 0);
    return points > MOST_ROWS ? extremes(sheaf[0], points) : list(sheaf[0]);
  });
}

/**
 * A table with a row for each series, or for each part of one.
 * @param {Shown} chart
 * @param {{title: string, cell: (series: import("./table.js").Series) => Cell}[]} columns
 * @param {{rows?: {title: string, series: import("./table.js").Series}[], xLabel?: string, n?: boolean}} [options]
 *   rows: instead of the series; n: false where each point is one observation, so that its count says nothing
 * @returns {Table}
 */
export function rowTable(chart, columns, { rows, xLabel = "", n = true } = {}) {
  const series = seriesOf(chart);
  const caption = captionOf([chart], { n: n ? countsOf([chart]) : null });
  return {
    caption,
    valuesCaption: caption,
    groups: [{ title: chart.heading ?? "", columns: columns.map(({ title }) => title) }],
    xLabel,
    rows: (rows ?? series.map((oneSeries) => ({ title: oneSeries.name, series: oneSeries }))).map((row) => ({
      title: row.title,
      cells: columns.map(({ cell }) => cell(row.series)),
    })),
  };
}

/** A column for each x of a chart, with the values of the series there; unitAt: their unit, by the position of x. */
function valueColumns({ model, axes }, unitAt = () => axes.yUnit) {
  return model.xs.map((x, index) => ({
    title: String(x),
    cell: ({ points }) => valueCell(points[index], { ...axes, yUnit: unitAt(index) }),
  }));
}

/** A value of a table in its unit, with its bounds. */
export function valueCell(point, axes) {
  return cellOf(point ?? null, axes, true);
}

/** A figure that no point of the file has, in the unit of the values; of none, a dash. */
function figureCell(figure, axes) {
  return valueCell(pointOf("", Number.isFinite(figure) ? figure : null), axes);
}

/** A cell of words, or of a figure that is no value of the file. */
export function textCell(text, value = null) {
  return { value, text, detail: null };
}

function seriesOf({ model, shown }) {
  return model.series.filter(({ name }) => shown.includes(name));
}

/** Whether each series has at most one point at an x, and there are few x values: then each x gets a row. */
function isPivot({ model }) {
  if (model.xs.length > MOST_ROWS) return false;
  return model.series.every(({ points }) => new Set(points.map(({ x }) => x)).size === points.length);
}

function canJoin(sheaf, chart) {
  const columns = [...sheaf, chart].reduce((sum, member) => sum + seriesOf(member).length, 0);
  if ([...sheaf, chart].some(({ kind }) => kindOf(kind))) return false;
  const key = (member) => JSON.stringify([xLabelOf(member), member.axes.xUnit, typeof member.model.xs[0]]);
  return isPivot(chart) && isPivot(sheaf[0]) && key(sheaf[0]) === key(chart) && columns <= MOST_COLUMNS;
}

function xLabelOf({ model, axes }) {
  return model.kind === "wide" ? model.xLabel : (axes.xLabel ?? "x");
}

function crossTable(sheaf) {
  const xs = distinctXs(sheaf.flatMap(({ model }) => model.xs));
  const points = sheaf.flatMap((chart) => seriesOf(chart).flatMap((series) => series.points));
  const n = countsOf(sheaf);
  const oneCount = n !== null && !n.includes("–");
  const columns = sheaf.flatMap((chart) => {
    return seriesOf(chart).map((series) => {
      const byX = new Map(series.points.map((point) => [point.x, point]));
      return (x) => cellOf(byX.get(x) ?? null, chart.axes, oneCount);
    });
  });
  const names = new Set(sheaf.flatMap((chart) => seriesOf(chart).map(({ name }) => name)));
  const titled = sheaf.every(({ heading }) => heading);
  // If all panels show the same line, its name is said once, and their headings are the columns.
  const only = names.size === 1 && titled && sheaf.length > 1 ? [...names][0] : null;
  return {
    caption: captionOf(sheaf, { only, bounded: isBounded(points), n: oneCount ? n : null }),
    valuesCaption: captionOf(sheaf, { only, n: oneCount ? n : null }),
    groups: only
      ? [{ title: "", columns: sheaf.map(({ heading }) => heading) }]
      : sheaf.map((chart) => ({
          title: chart.heading ?? "",
          columns: seriesOf(chart).map(({ name }) => name),
        })),
    xLabel: xLabelOf(sheaf[0]),
    rows: xs.map((x) => ({
      title: place(x, sheaf[0].axes.xUnit, sheaf[0].axes),
      cells: columns.map((column) => column(x)),
    })),
  };
}

/** How many observations the points of some charts have behind them. */
function countsOf(charts) {
  return counts(charts.flatMap((chart) => seriesOf(chart).map(({ points }) => points)));
}

function cellOf(point, { yUnit, prefix }, countIsSaid) {
  if (point === null) return { value: null, text: "–", detail: null };
  const count = countIsSaid || !Number.isFinite(point.n) ? null : `n = ${point.n}`;
  const detail = [shortRange(point, yUnit, { prefix }), count].filter(Boolean).join(", ");
  return { value: point.y, text: value(point, yUnit, { prefix }), detail: detail || null };
}

function isBounded(points) {
  return points.some(({ low, high }) => low !== null && high !== null);
}

function captionOf(sheaf, { only = null, bounded = false, n = null }) {
  const quantities = [...new Set(sheaf.map(({ quantity }) => quantity).filter(Boolean))];
  const bounds = bounded && `${boundsOf(sheaf)} beside it`;
  return [only, quantities.join("; ") || "Values", bounds, n].filter(Boolean).join(" · ");
}

/** What the bounds of values are: what their files say, or the option `bands`, or what goes with their unit. */
function boundsOf(charts) {
  const [{ model, settings }] = charts;
  const asked = { interval: true, both: true, "min-max": false }[settings?.bands];
  const isInterval = asked ?? charts.every(({ axes }) => axes.yUnit === "ratio");
  return model.bounds ?? (isInterval ? "interval" : "least to greatest run");
}

/** Of many points people ask for the lowest, the median and the highest. */
function extremes(chart, count) {
  const column = (title, valueIn) => ({
    title,
    cell: (series) => figureCell(valueIn(valuesOf(series)), chart.axes),
  });
  const table = rowTable(chart, [
    column("Lowest", (values) => values.reduce((least, number) => Math.min(least, number), Infinity)),
    column("Median", medianOf),
    column("Highest", (values) => values.reduce((most, number) => Math.max(most, number), -Infinity)),
    { title: "Points", cell: (series) => textCell(String(valuesOf(series).length)) },
  ]);
  const caption = `${table.caption} · the CSV has all ${count} points`;
  return { ...table, caption, valuesCaption: caption, xLabel: "Series" };
}

function list(chart) {
  const { xUnit, yUnit, prefix } = chart.axes;
  const bounds = boundsOf([chart]);
  const column = (title, cellAt) => ({ title, cell: ({ points: [point] }) => cellAt(point) });
  const columns = [
    column(xLabelOf(chart), ({ x }) => textCell(place(x, xUnit, { prefix }))),
    column("Value", (point) => textCell(value(point, yUnit, { prefix }), point.y)),
    column(bounds[0].toUpperCase() + bounds.slice(1), (point) =>
      textCell(range(point, yUnit, { prefix }) ?? "–"),
    ),
  ];
  const rows = seriesOf(chart).flatMap(({ name, points }) =>
    points.map((point) => ({ title: name, series: { name, points: [point] } })),
  );
  return rowTable(chart, columns, { rows, xLabel: "Series" });
}
