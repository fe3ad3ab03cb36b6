import { hasAxes } from "./axes.js";
import { entriesOf, unitedXs } from "./entries.js";

/** A line with more points than this has no markers. */
const MARKERS_UP_TO = 60;
/** A line with more points than this is solid: its dashes would not be visible, and drawing them is slow. */
const DASHES_UP_TO = 1000;
/** Scattered points have no line between them, so they are large unless there are many. */
const SCATTERED = { radius: 8, upTo: 60, smaller: 5 };
/** Values in whose place something else is drawn; a tooltip still finds them. */
const UNSEEN = { borderWidth: 0, pointRadius: 0 };
/** Points that no line joins. Crosses and stars are only outlines, and without a line hardly to be seen. */
const ALONE = { pointRadius: 8, pointStyle: "circle" };
/** What makes markers hollow. */
const NO_FILL = "rgba(0, 0, 0, 0)";

/**
 * `chart.data` for a model. Pure.
 *
 * Wide: `labels` are the header's x values and every dataset's `data` is exactly the row's numbers, null for an
 * empty field. Long: `data` are `{x, y}` points in the file's order, labels only where x is a category. A second data
 * set comes as points at its own x values; where these are categories the first one's values become points, too.
 * Datasets that `existing` already holds under the same name are updated in place, so that what the page set on
 * them (colour, hidden, …) stays.
 *
 * @param {import("./table.js").Model} model
 * @param {string} chartType `line`, `bar` or `scatter`
 * @param {(name: string) => {color: string, dash: number[], pointStyle: string, faded?: string}} lookOf computed
 *   style by name; `faded` is the colour of a second data set's lines
 * @param {{existing?: object[], overrides?: object[]|Record<string, object>, entries?: import("./entries.js").Entry[],
 *   otherXs?: (number|string)[], positive?: boolean, isLying?: boolean}} [options] `overrides`: dataset properties by
 *   index or by series name, which win over everything but label and data; `entries`: what is drawn of the model, and
 *   beside it; `otherXs`: x values of the second data set; `positive`: the axis has no place for values of 0 and below;
 *   `isLying`: the values are along x
 */
export function dataFor(model, chartType, lookOf, options = {}) {
  const { existing = [], overrides = [], own = () => ({}), otherXs = [], positive = false } = options;
  const { lookOfPart = null, unseen = false, quiet = () => false, lineFrom = 2, isLying = false } = options;
  const { entries = entriesOf(model) } = options;
  const byLabel = new Map(existing.map((dataset) => [dataset.label, dataset]));
  const parted = ["pie", "doughnut", "polarArea"].includes(chartType);
  const categories = chartType === "bar" || !hasAxes(chartType) || typeof model.xs[0] === "string";
  const xs = categories ? unitedXs(model.xs, otherXs) : model.xs;
  const asRows = model.kind === "wide" && chartType !== "scatter" && xs.length === model.xs.length;
  const valueOf = ({ y }) => (positive && y !== null && y <= 0 ? null : y);

  const datasets = entries.map((entry, index) => {
    const { name, label, points, second } = entry;
    const dataset = byLabel.get(label) ?? {};
    const aligned = asRows && !second;
    const place = isLying ? (x, y) => ({ x: y, y: x }) : (x, y) => ({ x, y });
    const data = points.map((point) => (aligned ? valueOf(point) : place(point.x, valueOf(point))));
    const given = { ...(second ? {} : own(name, index)), ...overrideOf(overrides, entry, index) };
    const look = recoloured(lookOf(name), given, chartType);
    Object.assign(dataset, looks(look, chartType, points.length, second));
    if (chartType === "line") {
      if (quiet(name)) Object.assign(dataset, QUIET);
      dataset.showLine = points.filter(({ y }) => y !== null).length >= lineFrom;
      if (!dataset.showLine) Object.assign(dataset, ALONE);
      if (unseen && !second) Object.assign(dataset, UNSEEN);
    }
    if (parted) Object.assign(dataset, partLooks(points, lookOfPart));
    Object.assign(dataset, given, { label, data });
    // Without parsing, Chart.js uses {x, y} as they are, which is fast; x must not decrease.
    dataset.parsing = aligned || categories || !isSorted(points);
    return dataset;
  });
  return asRows || categories ? { labels: [...xs], datasets } : { datasets };
}

/**
 * `chart.data` for a kind with a controller of its own: a dataset for each series, an element for each of its points. Pure.
 * @param {(name: string) => {color: string, pointStyle: string, faded?: string}} lookOf
 * @param {{existing: object[], overrides: object[]|Record<string, object>, own: Function, entries: import("./entries.js").Entry[]}} given
 */
export function dataOfKind(lookOf, { existing, overrides, own, entries }) {
  const byLabel = new Map(existing.map((dataset) => [dataset.label, dataset]));
  const datasets = entries.map((entry, index) => {
    const { name, label, points, second } = entry;
    const given = { ...(second ? {} : own(name, index)), ...overrideOf(overrides, entry, index) };
    const { color, faded = color, pointStyle } = recoloured(lookOf(name), given);
    const line = second ? faded : color;
    const look = { borderColor: line, backgroundColor: line, csvColor: line, pointStyle };
    const data = points.map(({ x, y }) => ({ x, y }));
    return Object.assign(byLabel.get(label) ?? {}, look, given, { label, data, parsing: false });
  });
  return { datasets };
}

/** The options for one dataset. */
function overrideOf(overrides, { name, second }, index) {
  if (!Array.isArray(overrides)) return Object.hasOwn(overrides, name) ? overrides[name] : {};
  return (second ? null : overrides[index]) ?? {};
}

/** A dataset's colour is used for its line, its markers, its band and its name. */
function recoloured(look, { borderColor, backgroundColor }, chartType) {
  const color = [borderColor, chartType === "bar" ? backgroundColor : null].find(
    (candidate) => typeof candidate === "string",
  );
  return color === undefined ? look : { ...look, color, faded: color };
}

/** Every part of a pie has its own look. */
function partLooks(points, lookOfPart) {
  const colors = points.map(({ x }) => lookOfPart(String(x)).color);
  return { backgroundColor: colors, hoverBackgroundColor: colors, borderColor: "#fff", borderWidth: 1 };
}

function looks({ color, dash, pointStyle, faded = color }, chartType, count, second) {
  const line = second ? faded : color;
  // `csvColor` is the series' own colour, for text and drawings beside its line.
  const look = { borderColor: line, backgroundColor: line, hoverBackgroundColor: line, pointStyle };
  Object.assign(look, { csvColor: color });
  if (chartType === "radar") {
    return {
      ...look,
      borderDash: dash,
      borderWidth: 3,
      backgroundColor: NO_FILL,
      pointBackgroundColor: color,
      pointBorderColor: color,
    };
  }
  if (chartType === "bar") {
    return second
      ? { ...look, backgroundColor: NO_FILL, hoverBackgroundColor: NO_FILL, borderWidth: 2 }
      : { ...look, borderWidth: 0 };
  }
  const radius = chartType === "scatter" ? scatteredRadius(count) : count <= MARKERS_UP_TO ? 5 : 0;
  return {
    ...look,
    borderDash: count <= DASHES_UP_TO ? dash : [],
    borderWidth: second ? 2 : 3,
    pointRadius: radius,
    pointHoverRadius: Math.max(7, radius + 1),
    pointHitRadius: 12,
    pointBackgroundColor: second ? NO_FILL : color,
    pointBorderColor: color,
    pointBorderWidth: second ? 2 : 1,
    spanGaps: false,
    csvQuiet: false,
  };
}

/** A series that is there only for comparison: a thin line without markers, and a paler band. */
const QUIET = { borderWidth: 2, pointRadius: 0, csvQuiet: true };

function scatteredRadius(count) {
  return count <= SCATTERED.upTo ? SCATTERED.radius : SCATTERED.smaller;
}

function isSorted(points) {
  return points.every(({ x }, i) => i === 0 || points[i - 1].x <= x);
}
