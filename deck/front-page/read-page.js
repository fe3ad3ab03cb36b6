/**
 * Reads the reader's page: its own Markdown, and the slides from which it copies parts. Both are read as the
 * deck's slides are, so that authors write them the same way.
 */

import { filesTaken, fillPlaces } from "./taken.js";

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
