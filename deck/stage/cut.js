/**
 * A talk in several lengths, which slides/<talk>/talk.yaml names: `?cut=20` shows the slides of the 20-minute cut, with their seconds
 * in that cut; the default is the first. `data-cut="40"` puts a slide into that cut only; `data-timing` and `data-timing-20`
 * say how many seconds it takes. The appendix is in every cut.
 */

import { slidesIn } from "../text/slide-data.js";
import { slideTitle } from "../text/verdict-text.js";

/**
 * Whether a slide is in a cut.
 * @param {string|null} attribute   its `data-cut`: the cuts that it is in, in minutes; none for all
 * @param {number} cut   in minutes
 */
export function isInCut(attribute, cut) {
  const named = cutsOf(attribute);
  return named.length === 0 || named.includes(String(cut));
}

function cutsOf(attribute) {
  return (attribute ?? "").split(/\s+/).filter(Boolean);
}

/**
 * Removes the slides of other cuts from the deck, and those without data, and sets the timings. Call it after texts are
 * chosen and before reveal counts the slides.
 * @param {Element} root
 * @param {number} cut   in minutes
 * @param {(slide: Element) => boolean} [lacksData]   whether the data on show have nothing for any chart of a slide
 * @returns {Map<string, {id: string, title: string, cut: number, seconds: number|null}>} for each slide taken out: the
 *   nearest one that stays, its own title, a cut that it is in, and how long it would take if this is one
 */
export function applyCut(root, cut, lacksData = () => false) {
  const slides = slidesIn(root);
  const isIn = slides.map((slide) => isInCut(slide.getAttribute("data-cut"), cut));
  const stays = slides.map((slide, at) => isIn[at] && !lacksData(slide));
  const moved = new Map();
  slides.forEach((slide, at) => {
    const timing = slide.getAttribute(`data-timing-${cut}`) ?? slide.getAttribute("data-timing");
    if (!stays[at]) {
      const near = nearest(stays, at);
      const title = slideTitle(slide) || slide.id;
      const [other] = isIn[at] ? [cut] : cutsOf(slide.getAttribute("data-cut"));
      const seconds = isIn[at] ? Number(timing ?? 0) : null;
      if (slide.id && near !== null)
        moved.set(slide.id, { id: slides[near].id, title, cut: Number(other), seconds });
      return;
    }
    if (timing !== null) slide.setAttribute("data-timing", timing);
  });
  passChaptersOn(slides, stays);
  removeSlides(slides.filter((_, at) => !stays[at]));
  return moved;
}

/** Removes slides, and a stack of slides with the last one in it. */
export function removeSlides(slides) {
  for (const slide of slides) {
    const stack = slide.parentElement;
    slide.remove();
    if (stack.localName === "section" && !stack.querySelector("section")) stack.remove();
  }
}

/** The ids of the slides that left for want of data. Pure. @param {ReturnType<typeof applyCut>} moved */
export function withoutData(moved) {
  return [...moved.keys()].filter((id) => moved.get(id).seconds !== null);
}

/** A chapter whose first slide goes begins with the first one that stays; the contents and the address bar read it there. */
function passChaptersOn(slides, stays) {
  let name = null;
  slides.forEach((slide, at) => {
    name = slide.getAttribute("data-chapter") ?? name;
    if (!stays[at]) return;
    if (name !== null) slide.setAttribute("data-chapter", name);
    name = null;
  });
}

/**
 * The position of the slide to show in place of a removed one: the last remaining one before it, else the first one after
 * it.
 * @param {boolean[]} stays
 * @param {number} at
 * @returns {number|null} null when none stays
 */
export function nearest(stays, at) {
  const before = stays.lastIndexOf(true, at);
  if (before >= 0) return before;
  const after = stays.indexOf(true, at);
  return after >= 0 ? after : null;
}

/**
 * Where the address of a removed slide leads.
 * @param {string} hash   `location.hash`
 * @param {Map<string, {id: string, title: string, cut: number}>} moved   from `applyCut`
 * @returns {{from: string, id: string, title: string, cut: number, hash: string}|null} null when its slide is there, or was never
 */
export function redirected(hash, moved) {
  const name = /^#\/([^/?]+)/.exec(hash)?.[1];
  if (name === undefined) return null;
  let from;
  try {
    from = decodeURIComponent(name);
  } catch {
    // Nobody can have copied this address from the deck.
    return null;
  }
  const near = moved.get(from);
  return near ? { from, ...near, hash: `#/${encodeURIComponent(near.id)}` } : null;
}
