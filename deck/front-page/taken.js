/**
 * Reads the reader's page: its own Markdown, and the slides from which it copies parts, so that a chart or a table is written
 * once: these elements of that slide replace `<div data-slide="slides/rpo/91-journal.md#journal-ratio" data-part="h2 .panels">`.
 * Both are read as the deck's slides are, so that authors write them the same way.
 */

import { element } from "../page/elements.js";

const PLACE = /^(slides\/[^#\s]+\.md)#([a-z0-9-]+)$/;
/** `h2` or `.panels`: one tag or one class. */
const SELECTOR = /^\.?[a-z][\w-]*$/;

/**
 * @param {{template: HTMLTemplateElement, root: Element, readSlides: (root: Element) => Promise<void>}} given
 *   template: holds the page's chapter element; root: the deck, whose chapter elements say how a file is split into
 *   slides; readSlides: as `SlideReader` makes it
 * @returns {Promise<Element[]>} the sections of the page; if a file could not be read, one of them says so
 */
export async function readPage({ template, root, readSlides }) {
  const page = await filled([...template.content.cloneNode(true).children], readSlides);
  const chapters = filesTaken(page)
    .map((file) => root.querySelector(`section[data-markdown="${file}"]`))
    .filter((chapter) => chapter !== null)
    .map((chapter) => chapter.cloneNode(false));
  fillPlaces(page, await filled(chapters, readSlides));
  return [...page.children];
}

/** Fills chapter elements from their files. */
async function filled(chapters, readSlides) {
  const box = document.createElement("div");
  box.append(...chapters);
  await readSlides(box);
  return box;
}

/**
 * What a placeholder asks for.
 * @param {string|null|undefined} slide   its `data-slide`
 * @param {string|null|undefined} part    its `data-part`
 * @returns {{file: string, id: string, selectors: string[]}|null} null if it does not have the form above
 */
export function parseTaken(slide, part) {
  const place = PLACE.exec((slide ?? "").trim());
  const selectors = (part ?? "").split(/\s+/).filter(Boolean);
  if (!place || selectors.length === 0 || !selectors.every((selector) => SELECTOR.test(selector)))
    return null;
  return { file: place[1], id: place[2], selectors };
}

/** The files that the placeholders below `page` need, each once. */
function filesTaken(page) {
  const taken = placesOf(page).map(({ taken: request }) => request?.file);
  return [...new Set(taken.filter(Boolean))];
}

/**
 * Replaces the placeholders by copies of what they ask for, or by a message if that does not exist.
 * @param {Element} page
 * @param {Element} slides   holds the slides of the files needed
 */
export function fillPlaces(page, slides) {
  for (const { place, taken } of placesOf(page)) {
    const parts = taken ? partsOf(slides, taken) : [];
    place.replaceWith(...(parts.length ? parts : [absent(place, slides)]));
  }
}

function placesOf(page) {
  return [...page.querySelectorAll("[data-slide]")].map((place) => ({
    place,
    taken: parseTaken(place.dataset.slide, place.dataset.part),
  }));
}

/** Copies of a slide's elements, in its order; an element inside another one is not copied twice. */
function partsOf(slides, { id, selectors }) {
  const slide = slides.querySelector(`section#${id}`);
  const elements = [...(slide?.querySelectorAll(selectors.join(", ")) ?? [])].filter(
    (element) => element.closest("aside.notes") === null,
  );
  return elements
    .filter((element) => !elements.some((other) => other !== element && other.contains(element)))
    .map((element) => {
      const copy = element.cloneNode(true);
      // Its charts are of the same data sets here.
      if (slide.dataset.compare) copy.dataset.compare = slide.dataset.compare;
      return copy;
    });
}

function absent(place, slides) {
  // A chapter that could not be read shows its own message.
  const error = slides.querySelector(".chapter-error")?.cloneNode(true);
  if (error) return error;
  const what = `Not found: ${place.dataset.part} of ${place.dataset.slide}.`;
  return element(place.ownerDocument, "p", { class: "chapter-error", role: "alert" }, what);
}
