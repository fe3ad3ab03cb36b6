/**
 * Thins a line of very many points to as many as a screen can tell apart. The points that are kept come from the file
 * and are never computed, so tooltips stay true. Each column keeps its first, last, lowest and highest point, so no
 * peak is lost.
 */

/** A line with at most this many points is drawn as it is. */
export const THIN_ABOVE = 4000;
/** The number of columns of the x range, and that for points with bounds, of which each column keeps two more. */
const COLUMNS = 960;
const COLUMNS_WITH_BOUNDS = 640;

/**
 * @param {import("./table.js").Point[]} points
 * @param {{logarithmic?: boolean, min?: number, max?: number, above?: number}} [options]
 *   min and max: the part of the x axis that is drawn, by default all; logarithmic: columns have equal width in log x
 * @returns {import("./table.js").Point[]} the same array if there is nothing to thin
 */
export function thin(points, { logarithmic = false, min, max, above = THIN_ABOVE } = {}) {
  if (points.length <= above || typeof points[0].x !== "number") return points;
  const hasBounds = points.some(({ low, high }) => low !== null && high !== null);
  const columns = hasBounds ? COLUMNS_WITH_BOUNDS : COLUMNS;
  const place = logarithmic ? Math.log2 : (x) => x;
  const [first, last] = extentOf(points);
  const from = place(min ?? first);
  const width = (place(max ?? last) - from) / columns;
  if (!(width > 0) || !Number.isFinite(width)) return points;

  const kept = [];
  let column = new Column(hasBounds);
  let at = null;
  points.forEach((point, index) => {
    const number = Math.min(columns, Math.max(-1, Math.floor((place(point.x) - from) / width)));
    if (number !== at) {
      column.flush(kept);
      column = new Column(hasBounds);
      at = number;
    }
    column.add(point, index);
  });
  column.flush(kept);
  return kept.map((index) => points[index]);
}

/** The points that one column keeps, by index. */
class Column {
  #hasBounds;
  #first = null;
  #last = null;
  #gaps = [];
  #lastWasGap = false;
  #extremes = { y: [null, null], low: [null, null], high: [null, null] };
  #values = { y: [Infinity, -Infinity], low: [Infinity, -Infinity], high: [Infinity, -Infinity] };

  constructor(hasBounds) {
    this.#hasBounds = hasBounds;
  }

  add(point, index) {
    this.#first ??= index;
    this.#last = index;
    // A gap in the file stays a gap in the line.
    if (point.y === null && !this.#lastWasGap) this.#gaps.push(index);
    this.#lastWasGap = point.y === null;
    this.#note("y", point.y, index);
    if (!this.#hasBounds) return;
    this.#note("low", point.low, index);
    this.#note("high", point.high, index);
  }

  #note(key, value, index) {
    if (value === null) return;
    const values = this.#values[key];
    if (value < values[0]) [values[0], this.#extremes[key][0]] = [value, index];
    if (value > values[1]) [values[1], this.#extremes[key][1]] = [value, index];
  }

  flush(kept) {
    if (this.#first === null) return;
    const { y, low, high } = this.#extremes;
    const indices = new Set([this.#first, ...y, low[0], high[1], ...this.#gaps.slice(0, 2), this.#last]);
    indices.delete(null);
    kept.push(...[...indices].sort((a, b) => a - b));
  }
}

function extentOf(points) {
  let low = Infinity;
  let high = -Infinity;
  for (const { x } of points) {
    if (x < low) low = x;
    if (x > high) high = x;
  }
  return [low, high];
}
