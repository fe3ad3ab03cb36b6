import { POINT_RADIUS, bandOf, isBand, isPoint, pixelOf } from "./marks-draw.js";
import { placeNames } from "./marks-layout.js";
import { csvOf } from "./plugin.js";
import { linePixels } from "./runs.js";

/** Between a mark and its name, px. */
const GAP = 5;
const INDENT = 10;
const HALO_WIDTH = 5;
const LINE_HEIGHT = 1.2;
/** How many points of a series a name's place is weighed against, at most, and how far apart they are on a line, px. */
const WEIGHED_POINTS = 400;
const BETWEEN_POINTS = 10;

/**
 * Writes the names of marks so that they do not cover each other or, if possible, the data.
 * @param {import("chart.js").Chart} chart
 * @param {object[]} items   the marks that are drawn
 * @param {{font: object, halo: string}} options
 * @returns {{label: string, left: number, top: number, width: number, height: number}[]} where they are, px
 */
export function writeNames(chart, items, { font, halo }) {
  const { ctx } = chart;
  ctx.save();
  ctx.font = `${font.weight} ${font.size}px ${font.family ?? getComputedStyle(chart.canvas).fontFamily}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  ctx.lineJoin = "round";
  const step = font.size * LINE_HEIGHT;
  // From the top down, so that names that have to give way keep the order of their marks.
  const wanted = items
    .filter(({ label }) => label)
    .map(({ label, color, ...item }) => {
      const lines = label.split("\n");
      const width = Math.max(...lines.map((line) => ctx.measureText(line).width));
      const height = step * lines.length;
      const fits = isPoint(item) || width <= chart.chartArea.width;
      return { label, lines, color, width, height, fits, places: placesFor(chart, item, width, height) };
    })
    // Wider than a narrow plot, the name of a line would cover the names beside it.
    .filter(({ fits }) => fits)
    .sort((a, b) => a.places[0].top - b.places[0].top);
  const places = placeNames(wanted, chart.chartArea, drawnPoints(chart));
  const placed = wanted.map((name, i) => ({ ...name, ...places[i] }));
  for (const { lines, color, left, top } of placed) {
    // An outline in the page's colour, so that the name can be read over lines and bands.
    ctx.strokeStyle = halo;
    ctx.lineWidth = HALO_WIDTH;
    lines.forEach((line, row) => ctx.strokeText(line, left, top + row * step));
    ctx.fillStyle = color;
    lines.forEach((line, row) => ctx.fillText(line, left, top + row * step));
  }
  ctx.restore();
  return placed.map(({ label, left, top, width, height }) => ({ label, left, top, width, height }));
}

/** Where the name of a mark may be written, the best place first. */
function placesFor(chart, item, width, height) {
  const { left, right, top, bottom } = chart.chartArea;
  const columns = [left + INDENT, right - INDENT - width, (left + right - width) / 2];
  const rows = [top + GAP, bottom - GAP - height];
  if (isPoint(item)) {
    const [x, y] = [pixelOf(chart, "x", item.x), pixelOf(chart, "y", item.y)];
    const beside = POINT_RADIUS + GAP;
    const sides = [x + beside, x - beside - width].map((side) => ({ left: side, top: y - height / 2 }));
    // At the end of the plot, the name would be pushed back over its point.
    if (x + beside + width > right) sides.reverse();
    const above = (away) => y - beside - away * height;
    const below = (away) => y + beside + (away - 1) * height;
    const centred = [above(1), below(1)].map((row) => ({ left: x - width / 2, top: row }));
    // A sentence is long, and beside its point it would lie on the line: above or below it is as near.
    const from = [x, x - width].flatMap((column) =>
      [above(1), below(1), above(1.5), below(1.5), above(2), below(2)].map((row) => ({
        left: column,
        top: row,
      })),
    );
    return item.shape === "none" ? [...centred, ...from, ...sides] : [...sides, ...centred];
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
  const { lines, entries } = csvOf(chart) ?? {};
  const drawn = lines ? linePixels(chart, entries, lines) : lists;
  return drawn.flatMap((points) => (isLine ? alongLine(points) : points.slice(0, WEIGHED_POINTS)));
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
