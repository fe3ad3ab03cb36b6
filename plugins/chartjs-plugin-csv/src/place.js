/**
 * Places labels so that none lies on another. Pure.
 *
 * @typedef {{left: number, top: number, right: number, bottom: number}} Box   px
 * @typedef {{left: number, top: number, cost?: number, align?: string, at?: {x: number, y: number}}} Place
 * @typedef {{width: number, height: number, places: Place[], at?: {x: number, y: number}}} Wanted   at: what it belongs to,
 *   if a place names nothing nearer
 */

import { isInside, overlap } from "./labels-layout.js";

/** How often each label gets a better place among the others. */
const PASSES = 3;
/** With more labels than this, only one order of choosing is tried. */
const FEW = 8;

/**
 * @param {Wanted[]} wanted   the most important first; each with the places that it may have
 * @param {{area: Box, obstacles?: (Box & {cost: number})[]}} given   area: labels stay within it; obstacles: what they
 *   had better not cover, with what that costs
 * @returns {(Place & Box | null)[]} in the order of `wanted`; null for a label that has no free place: a label is left out
 *   rather than written over another
 */
export function placeBoxes(wanted, { area, obstacles = [] }) {
  const choices = wanted.map(({ width, height, places, at }) =>
    places
      .map((place) => ({ ...place, right: place.left + width, bottom: place.top + height }))
      .filter((box) => isInside(box, area))
      .map((box) => ({
        ...box,
        cost: (box.cost ?? 0) + covered(box, obstacles) + between(box.at ?? at, box, obstacles),
      }))
      .sort((a, b) => a.cost - b.cost),
  );
  const all = choices.map((_, index) => index);
  const starts = all.length <= FEW ? all : all.slice(0, 1);
  const results = (starts.length ? starts : [0]).map((first) =>
    settle(choices, [...all.slice(first), ...all.slice(0, first)]),
  );
  return results.reduce((best, result) => (result.cost < best.cost ? result : best)).chosen;
}

/** Each label takes the best place that is free, then a better one if others have moved. */
function settle(choices, order) {
  const chosen = choices.map(() => null);
  for (let pass = 0; pass < PASSES; pass += 1) {
    for (const index of order) {
      const others = chosen.filter((box, at) => box !== null && at !== index);
      chosen[index] = choices[index].find((box) => !others.some((other) => overlap(box, other))) ?? null;
    }
  }
  // A label without a place costs more than any place; the less important one should be it.
  const cost = chosen.reduce((sum, box, index) => sum + (box?.cost ?? 1e6 / (index + 1)), 0);
  return { chosen, cost };
}

function covered(box, obstacles) {
  return obstacles.reduce((sum, obstacle) => sum + (overlap(box, obstacle) ? obstacle.cost : 0), 0);
}

/** What lies between a point, if there is one, and its label, as if the label covered it. */
function between(at, box, obstacles) {
  if (!at) return 0;
  const near = {
    x: Math.max(box.left, Math.min(at.x, box.right)),
    y: Math.max(box.top, Math.min(at.y, box.bottom)),
  };
  const way = {
    left: Math.min(at.x, near.x) - 1,
    right: Math.max(at.x, near.x) + 1,
    top: Math.min(at.y, near.y) - 1,
    bottom: Math.max(at.y, near.y) + 1,
  };
  const point = { left: at.x - 4, right: at.x + 4, top: at.y - 4, bottom: at.y + 4 };
  return covered(
    way,
    obstacles.filter((obstacle) => !overlap(obstacle, point) && !overlap(obstacle, box)),
  );
}

/**
 * The places around a point, the nearest first on each side.
 * @param {{x: number, y: number, reach: number}} point   reach: half of its size, px
 * @param {{width: number, height: number}} label
 * @param {{sides?: ("right"|"left"|"above"|"below")[], gap?: number, far?: number}} [options]   sides: the best first;
 *   far: how many further steps away from the point are tried
 * @returns {Place[]}
 */
export function placesAround({ x, y, reach }, { width, height }, options = {}) {
  const { sides = ["right", "above", "below", "left"], gap = 6, far = 3 } = options;
  return sides.flatMap((side, rank) => {
    const steps = Array.from({ length: 2 * far + 1 }, (_, i) => (i % 2 ? -1 : 1) * Math.ceil(i / 2) * 0.5);
    return steps.flatMap((step) => {
      const cost = rank * height * 0.6 + Math.abs(step) * height;
      if (side === "right" || side === "left") {
        const left = side === "right" ? x + reach + gap : x - reach - gap - width;
        return [
          { left, top: y - height / 2 + step * height, cost, align: side === "right" ? "left" : "right" },
        ];
      }
      const away = Math.abs(step) * height;
      const top = side === "above" ? y - reach - gap - height - away : y + reach + gap + away;
      return [
        { left: x - width / 2, top, cost, align: "center" },
        { left: x - reach, top, cost: cost + height * 0.2, align: "left" },
        { left: x + reach - width, top, cost: cost + height * 0.2, align: "right" },
      ];
    });
  });
}
