/**
 * The slides of a deck in order of presentation. Not `deck.getSlides()`, which leaves out uncounted slides: an appendix
 * has charts, too. A section that contains sections is a stack, not a slide.
 * @param {ParentNode} root   the deck's slides element
 * @returns {Element[]}
 */
export function slidesOf(root) {
  return [...root.querySelectorAll("section")].filter((section) => !section.querySelector("section"));
}

/**
 * Which slides should have their charts: the current one, `ahead` after it, and the one before. Pure.
 * @template T
 * @param {T[]} slides in order of presentation
 * @param {T|null} current
 * @param {number} ahead
 * @returns {Set<T>}
 */
export function nearSlides(slides, current, ahead) {
  const at = Math.max(0, slides.indexOf(current));
  return new Set(slides.slice(Math.max(0, at - 1), at + ahead + 1));
}

/**
 * Which live charts to release so that at most `limit` remain: never a wanted one, the farthest first. Pure.
 * @template T
 * @param {{item: T, wanted: boolean, distance: number}[]} live
 * @returns {T[]}
 */
export function surplus(live, limit) {
  const excess = live.length - limit;
  if (excess <= 0) return [];
  return live
    .filter(({ wanted }) => !wanted)
    .sort((a, b) => b.distance - a.distance)
    .slice(0, excess)
    .map(({ item }) => item);
}

/** A key that a canvas shares with its copies: reveal.js replaces slides by copies. Null if the slide has no id. */
export function keyOf(canvas) {
  const slide = canvas.closest("section");
  if (!slide?.id) return null;
  return `${slide.id}/${[...slide.querySelectorAll("canvas[data-chart]")].indexOf(canvas)}`;
}
