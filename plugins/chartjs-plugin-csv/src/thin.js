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
  for (let index = 0; index < points.length; index += 1) {
    const point = points[index];
    const number = Math.min(columns, Math.max(-1, Math.floor((place(point.x) - from) / width)));
    if (number !== at) {
      column.flush(kept);
      column = new Column(hasBounds);
      at = number;
    }
    column.add(point, index);
  }
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
  #least = { value: Infinity, index: null };
  #greatest = { value: -Infinity, index: null };
  #lowest = { value: Infinity, index: null };
  #highest = { value: -Infinity, index: null };

  constructor(hasBounds) {
    this.#hasBounds = hasBounds;
  }

  add({ y, low, high }, index) {
    if (this.#first === null) this.#first = index;
    this.#last = index;
    if (y === null) {
      // A gap in the file stays a gap in the line.
      if (!this.#lastWasGap) this.#gaps.push(index);
      this.#lastWasGap = true;
    } else {
      this.#lastWasGap = false;
      if (y < this.#least.value) set(this.#least, y, index);
      if (y > this.#greatest.value) set(this.#greatest, y, index);
    }
    if (!this.#hasBounds) return;
    if (low !== null && low < this.#lowest.value) set(this.#lowest, low, index);
    if (high !== null && high > this.#highest.value) set(this.#highest, high, index);
  }

  flush(kept) {
    if (this.#first === null) return;
    const extremes = [this.#least, this.#greatest, this.#lowest, this.#highest].map(({ index }) => index);
    const indices = new Set([this.#first, ...extremes, ...this.#gaps.slice(0, 2), this.#last]);
    indices.delete(null);
    kept.push(...[...indices].sort((a, b) => a - b));
  }
}

function set(extreme, value, index) {
  extreme.value = value;
  extreme.index = index;
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
