/**
 * Reads the reader's page: its own Markdown, and the slides from which it copies parts. The deck's Markdown plugin reads
 * both, so that authors write them the same way.
 */

import { loadChapters } from "../text/chapters.js";
import { filesTaken, fillPlaces } from "./taken.js";

/**
 * @param {{template: HTMLTemplateElement, root: Element, makeMarkdown: () => object}} given
 *   template: holds the page's chapter element; root: the deck, whose chapter elements say how a file is split into
 *   slides; makeMarkdown: makes reveal's Markdown plugin
 * @returns {Promise<Element[]>} the sections of the page; if a file could not be read, one of them says so
 */
export async function readPage({ template, root, makeMarkdown }) {
  const page = await converted([...template.content.cloneNode(true).children], makeMarkdown);
  const chapters = filesTaken(page)
    .map((file) => root.querySelector(`section[data-markdown="${file}"]`))
    .filter((chapter) => chapter !== null)
    .map((chapter) => chapter.cloneNode(false));
  fillPlaces(page, await converted(chapters, makeMarkdown));
  return [...page.children];
}

/** Fills chapter elements from their files. */
async function converted(chapters, makeMarkdown) {
  const box = document.createElement("div");
  box.append(...chapters);
  await loadChapters(box);
  // The only part of a deck that the plugin needs.
  await makeMarkdown().init({ getRevealElement: () => box, getConfig: () => ({}) });
  return box;
}
