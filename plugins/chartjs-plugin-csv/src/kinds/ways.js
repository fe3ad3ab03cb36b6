/** From the columns of a way, by what they are (`roles`), to its points in a quadrant. */

const ROLES = ["x", "y", "tail", "to"];

/** What each column is. */
export function rolesOf({ roles }) {
  return roles ?? ROLES;
}

/** The columns of a way, by their roles. */
export function columnsOf({ points }, settings) {
  const roles = rolesOf(settings);
  return Object.fromEntries(ROLES.map((role) => [role, points[roles.indexOf(role)]]));
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

/** The points of a way: its typical, its tail above that, and the tip of its arrow; none of a way without a place. */
export function pointsOf(way, settings) {
  const { x, y, tail, to } = columnsOf(way, settings);
  if (!hasPlace({ x, y })) return [];
  const middle = isThere(tail) ? Math.sqrt(Math.max(y.y, 0) * tail.y) || tail.y / 2 : y.y;
  return [
    { ...y, x: x.y, role: "y", xBound: x.low ?? null },
    ...(isThere(tail) ? [{ ...tail, x: x.y, role: "tail" }] : []),
    ...(isThere(to) ? [{ ...to, x: to.y, y: middle, low: null, high: null, role: "to" }] : []),
  ];
}
