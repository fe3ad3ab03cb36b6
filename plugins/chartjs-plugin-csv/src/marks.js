import { clipped, pixelX } from "./draw.js";
import { placeNames } from "./marks-layout.js";
import { isLogarithmic } from "./range.js";
import { resolveColor } from "./style.js";

const DEFAULTS = {
  items: [],
  font: { size: 20, weight: 600 },
  color: "var(--chart-text, currentcolor)",
  halo: "var(--page, canvas)",
};

const BAND_ALPHA = 0.12;
const LINE_WIDTH = 2;
const DASH = [14, 8];
const POINT_RADIUS = 7;
/** Between a mark and its name, px. */
const GAP = 5;
const INDENT = 10;
const HALO_WIDTH = 5;
const LINE_HEIGHT = 1.2;
/** Of the greatest value that an axis has to show, so that a line is no part of the frame. */
const HEADROOM = 1.06;
/** How many points of a series a name's place is weighed against, at most, and how far apart they are on a line, px. */
const WEIGHED_POINTS = 400;
const BETWEEN_POINTS = 10;

const current = new WeakMap();

/**
 * Chart.js plugin `csvMarks`: what a chart is read against. Shaded bands, lines and single points, with names that
 * cover neither each other nor, where there is a choice, the data.
 *
 * `options.plugins.csvMarks.items`: a list, or a function of the chart that gives one, asked at each update:
 *
 * - `{axis: "y"|"x", value, label?, color?, dash?}` a line; `dash: []` is a solid one
 * - `{axis: "y"|"x", low, high, label?, color?}` a band; without `low` or `high` it reaches to the plot's edge
 * - `{x, y, label?, color?}` a point
 *
 * The y axis reaches as far as its marks, unless its end is set or the mark says `reach: false`.
 */
export const Marks = {
  id: "csvMarks",
  defaults: DEFAULTS,
  descriptors: { _scriptable: false, _indexable: false },

  beforeUpdate(chart) {
    current.set(chart, marksOf(chart));
  },

  afterDataLimits(chart, { scale }) {
    if (scale.axis !== "y") return;
    const { items = [] } = current.get(chart) ?? {};
    const values = items
      .filter((item) => item.reach !== false)
      .flatMap((item) => (item.axis === "y" ? [item.value, item.low, item.high] : [item.y]))
      .filter((value) => Number.isFinite(value));
    reach(scale, values);
  },

  beforeDatasetsDraw(chart) {
    const { items = [] } = current.get(chart) ?? {};
    for (const item of items) if (isBand(item)) drawBand(chart, item);
  },

  afterDatasetsDraw(chart) {
    const { items = [], options } = current.get(chart) ?? {};
    if (items.length === 0) return;
    const drawn = items.filter((item) => isBand(item) || isInSight(chart, item));
    for (const item of drawn) {
      if (isPoint(item)) drawPointMark(chart, item);
      else if (!isBand(item)) drawLine(chart, item);
    }
    writeNames(chart, drawn, options);
  },
};

/** Where the names of a chart's marks stand: label, left, top, width, height in px (for tests). */
export function placedMarks(chart) {
  return current.get(chart)?.placed ?? [];
}

function isPoint({ x, y }) {
  return x !== undefined && y !== undefined;
}

function isBand({ axis, value, x }) {
  return axis !== undefined && value === undefined && x === undefined;
}

/** The marks with colours that a canvas understands; those that name no place at all are left out. */
function marksOf(chart) {
  const given = chart.config.options.plugins?.csvMarks;
  if (given === false) return { items: [] };
  const options = { ...DEFAULTS, ...given, font: { ...DEFAULTS.font, ...given?.font } };
  const { canvas } = chart;
  const list = typeof options.items === "function" ? options.items(chart) : options.items;
  const items = (list ?? []).filter(hasPlace).map((item) => ({
    ...item,
    color: resolveColor(canvas, item.color ?? options.color),
  }));
  return { items, options: { ...options, halo: resolveColor(canvas, options.halo) } };
}

function hasPlace(item) {
  if (isPoint(item)) return Number.isFinite(item.y);
  const { value, low, high } = item;
  return [value, low, high].some((one) => Number.isFinite(one) || typeof one === "string");
}

function reach(scale, values) {
  if (values.length === 0) return;
  const { minDefined, maxDefined } = scale.getUserBounds();
  const logarithmic = isLogarithmic(scale.type);
  const shown = logarithmic ? values.filter((value) => value > 0) : values;
  if (shown.length === 0) return;
  const [lowest, highest] = [Math.min(...shown), Math.max(...shown)];
  if (!maxDefined && highest > scale.max) scale.max = highest > 0 ? highest * HEADROOM : highest;
  if (!minDefined && lowest < scale.min) scale.min = logarithmic ? lowest / HEADROOM : lowest;
}

/** Where a value stands on its axis, px; NaN where it has no place. */
function pixelOf(chart, axis, value) {
  const scale = chart.scales[axis];
  if (!scale) return NaN;
  if (isLogarithmic(scale.type) && !(value > 0)) return NaN;
  return axis === "x" ? pixelX(scale, value) : scale.getPixelForValue(value);
}

function isInSight(chart, item) {
  const { left, right, top, bottom } = chart.chartArea;
  const inX = (x) => x >= left - 1 && x <= right + 1;
  const inY = (y) => y >= top - 1 && y <= bottom + 1;
  if (isPoint(item)) return inX(pixelOf(chart, "x", item.x)) && inY(pixelOf(chart, "y", item.y));
  const at = pixelOf(chart, item.axis, item.value);
  return item.axis === "x" ? inX(at) : inY(at);
}

/** The band's rectangle within the plot. */
function bandOf(chart, { axis, low, high }) {
  const { left, right, top, bottom } = chart.chartArea;
  const pixel = (value, edge) => {
    const at = Number.isFinite(value) ? pixelOf(chart, axis, value) : edge;
    return Number.isFinite(at) ? at : edge;
  };
  const clamp = (value, from, to) => Math.max(from, Math.min(to, value));
  if (axis === "x") {
    const [from, to] = [pixel(low, left), pixel(high, right)].map((value) => clamp(value, left, right));
    return { left: from, right: to, top, bottom };
  }
  const [from, to] = [pixel(high, top), pixel(low, bottom)].map((value) => clamp(value, top, bottom));
  return { left, right, top: from, bottom: to };
}

function drawBand(chart, item) {
  const { left, right, top, bottom } = bandOf(chart, item);
  const { ctx } = chart;
  ctx.save();
  ctx.globalAlpha = BAND_ALPHA;
  ctx.fillStyle = item.color;
  ctx.fillRect(left, top, right - left, bottom - top);
  ctx.restore();
}

function drawLine(chart, item) {
  const { left, right, top, bottom } = chart.chartArea;
  const at = pixelOf(chart, item.axis, item.value);
  const { ctx } = chart;
  ctx.save();
  ctx.strokeStyle = item.color;
  ctx.lineWidth = LINE_WIDTH;
  ctx.setLineDash(item.dash ?? DASH);
  ctx.beginPath();
  if (item.axis === "x") {
    ctx.moveTo(at, top);
    ctx.lineTo(at, bottom);
  } else {
    ctx.moveTo(left, at);
    ctx.lineTo(right, at);
  }
  ctx.stroke();
  ctx.restore();
}

/** A hollow diamond: no series has one, and what is measured shows through. */
function drawPointMark(chart, item) {
  const [x, y] = [pixelOf(chart, "x", item.x), pixelOf(chart, "y", item.y)];
  clipped(chart, { across: POINT_RADIUS, down: POINT_RADIUS }, (ctx) => {
    ctx.strokeStyle = item.color;
    ctx.lineWidth = LINE_WIDTH + 1;
    ctx.beginPath();
    ctx.moveTo(x, y - POINT_RADIUS);
    ctx.lineTo(x + POINT_RADIUS, y);
    ctx.lineTo(x, y + POINT_RADIUS);
    ctx.lineTo(x - POINT_RADIUS, y);
    ctx.closePath();
    ctx.stroke();
  });
}

function writeNames(chart, items, { font, halo }) {
  const { ctx } = chart;
  ctx.save();
  ctx.font = `${font.weight} ${font.size}px ${font.family ?? getComputedStyle(chart.canvas).fontFamily}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  ctx.lineJoin = "round";
  const height = font.size * LINE_HEIGHT;
  // From the top down, so that names that have to give way keep the order of their marks.
  const wanted = items
    .filter(({ label }) => label)
    .map(({ label, color, ...item }) => {
      const { width } = ctx.measureText(label);
      return { label, color, width, height, places: placesFor(chart, item, width, height) };
    })
    .sort((a, b) => a.places[0].top - b.places[0].top);
  const places = placeNames(wanted, chart.chartArea, drawnPoints(chart));
  const placed = wanted.map(({ label, color, width }, i) => ({ label, color, width, height, ...places[i] }));
  for (const { label, color, left, top } of placed) {
    // The colour of the page around it, so that it can be read over lines and bands.
    ctx.strokeStyle = halo;
    ctx.lineWidth = HALO_WIDTH;
    ctx.strokeText(label, left, top);
    ctx.fillStyle = color;
    ctx.fillText(label, left, top);
  }
  ctx.restore();
  current.get(chart).placed = placed;
}

/** Where the name of a mark may stand, the best place first. */
function placesFor(chart, item, width, height) {
  const { left, right, top, bottom } = chart.chartArea;
  const columns = [left + INDENT, right - INDENT - width, (left + right - width) / 2];
  const rows = [top + GAP, bottom - GAP - height];
  if (isPoint(item)) {
    const [x, y] = [pixelOf(chart, "x", item.x), pixelOf(chart, "y", item.y)];
    const beside = POINT_RADIUS + GAP;
    const sides = [x + beside, x - beside - width].map((side) => ({ left: side, top: y - height / 2 }));
    // At the plot's end the name would be pushed back over its point.
    if (x + beside + width > right) sides.reverse();
    return [
      ...sides,
      { left: x - width / 2, top: y - beside - height },
      { left: x - width / 2, top: y + beside },
    ];
  }
  if (isBand(item)) {
    const band = bandOf(chart, item);
    if (item.axis === "x")
      return rows.map((row) => ({ left: (band.left + band.right - width) / 2, top: row }));
    const inside = (band.top + band.bottom - height) / 2;
    const around = [band.top - GAP - height, band.bottom + GAP];
    const tops = band.bottom - band.top >= height ? [inside, ...around] : around;
    return columns.flatMap((column) => tops.map((top) => ({ left: column, top })));
  }
  const at = pixelOf(chart, item.axis, item.value);
  if (item.axis === "x") {
    return rows.flatMap((row) => [
      { left: at + GAP, top: row },
      { left: at - GAP - width, top: row },
    ]);
  }
  // Below its line, in the order of the lines; above it where the data are, or the plot ends.
  return [at + GAP, at - GAP - height].flatMap((row) =>
    columns.map((column) => ({ left: column, top: row })),
  );
}

/** Places that the data cover, for names to stay clear of: points, and between them the line. */
function drawnPoints(chart) {
  const isLine = chart.config.type === "line";
  const lists = chart.data.datasets
    .map((_, index) => index)
    .filter((index) => chart.isDatasetVisible(index))
    .map((index) => chart.getDatasetMeta(index).data.filter(({ skip, y }) => !skip && Number.isFinite(y)));
  return lists.flatMap((points) => (isLine ? alongLine(points) : points.slice(0, WEIGHED_POINTS)));
}

/** A line as points that are close to each other. */
function alongLine(points) {
  const stride = Math.max(1, Math.ceil(points.length / WEIGHED_POINTS));
  const kept = points.filter((_, i) => i % stride === 0);
  return kept.flatMap(({ x, y }, i) => {
    const next = kept[i + 1];
    if (!next) return [{ x, y }];
    const steps = Math.max(1, Math.ceil(Math.hypot(next.x - x, next.y - y) / BETWEEN_POINTS));
    return Array.from({ length: steps }, (_, k) => ({
      x: x + ((next.x - x) * k) / steps,
      y: y + ((next.y - y) * k) / steps,
    }));
  });
}
