/** From the columns of a way to its points in a quadrant. */

/** What each column is. */
export const ROLES = ["x", "y", "tail", "to"];

/** The columns of a way, by their roles. */
export function columnsOf({ points }) {
  return Object.fromEntries(ROLES.map((role, at) => [role, points[at]]));
}

/** Whether a column holds a value. */
export function isThere(point) {
  return point !== undefined && point !== null && point.y !== null && point.y !== undefined;
}

/** Whether a way has what gives it a place. */
export function hasPlace({ x, y }) {
  return isThere(x) && isThere(y);
}

/** The name of a way's arrow among what a slide reveals. */
export function arrowOf(name) {
  return `${name} →`;
}

/** Two arrows whose tips differ by less than this factor would end at one place. */
const ONE_PLACE = 1.1;

/** The ways to whose other state an arrow leads: of several that end at one place, the first. */
export function waysWithArrow(series) {
  const ways = [];
  for (const way of series) {
    const { to } = columnsOf(way);
    const near = (other) => Math.abs(Math.log(columnsOf(other).to.y / to.y)) < Math.log(ONE_PLACE);
    if (isThere(to) && !ways.some(near)) ways.push(way);
  }
  return ways;
}

/** The points of a way: its typical, its tail above that, and the tip of its arrow; none of a way without a place. */
export function pointsOf(way) {
  const { x, y, tail, to } = columnsOf(way);
  if (!hasPlace({ x, y })) return [];
  const middle = isThere(tail) ? Math.sqrt(Math.max(y.y, 0) * tail.y) || tail.y / 2 : y.y;
  return [
    { ...y, x: x.y, role: "y", xBound: x.low ?? null },
    ...(isThere(tail) ? [{ ...tail, x: x.y, role: "tail" }] : []),
    ...(isThere(to) ? [{ ...to, x: to.y, y: middle, low: null, high: null, role: "to" }] : []),
  ];
}
