import { isInside, overlap } from "./labels-layout.js";

/**
 * Places the names of marks inside a plot so that none covers another. Pure.
 *
 * Each name has a list of possible places, the best first. Of those that are inside the plot and free of earlier names,
 * it takes the one that covers the fewest points of the data, or the first of several such. If none is free, it moves
 * down or up from its best place to the nearest free one.
 *
 * @typedef {{left: number, top: number}} Place
 * @typedef {{width: number, height: number, places: Place[]}} Wanted
 * @param {Wanted[]} wanted
 * @param {{left: number, right: number, top: number, bottom: number}} area
 * @param {{x: number, y: number}[]} [points]   what is drawn there
 * @returns {Place[]} in the order of `wanted`
 */
export function placeNames(wanted, area, points = []) {
  const taken = [];
  return wanted.map(({ width, height, places }) => {
    const box = ({ left, top }) => ({ left, top, right: left + width, bottom: top + height });
    const free = (place) => !taken.some((other) => overlap(box(place), other));
    const whole = places.filter((place) => isInside(box(place), area));
    const possible = whole.length ? whole : places.map((place) => pushedInside(place, width, height, area));
    const candidates = possible.filter(free);
    const { left, top } = candidates.length
      ? leastCovering(candidates.map(box), points)
      : moved(possible[0], { height, area, free });
    taken.push(box({ left, top }));
    return { left, top };
  });
}

/** The nearest place that is inside the area, as far as there is room. */
function pushedInside({ left, top }, width, height, area) {
  return {
    left: Math.max(area.left, Math.min(left, area.right - width)),
    top: Math.max(area.top, Math.min(top, area.bottom - height)),
  };
}

function leastCovering(boxes, points) {
  const covered = boxes.map(
    ({ left, right, top, bottom }) =>
      points.filter(({ x, y }) => x >= left && x <= right && y >= top && y <= bottom).length,
  );
  return boxes[covered.indexOf(Math.min(...covered))];
}

/** Moves step by step away from the best place; stays there if nothing is free. */
function moved(place, { height, area, free }) {
  const step = height / 4;
  for (let distance = step; distance < area.bottom - area.top; distance += step) {
    for (const top of [place.top + distance, place.top - distance]) {
      const candidate = { left: place.left, top };
      if (top >= area.top && top + height <= area.bottom && free(candidate)) return candidate;
    }
  }
  return place;
}
