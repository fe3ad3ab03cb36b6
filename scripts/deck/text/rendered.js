/**
 * Slides of a published site as HTML: reveal's Markdown plugin and the cleaner that the stage uses, run while building. A
 * reader's browser then fetches neither.
 */

import { JSDOM } from "jsdom";

import { fillWithMarkdown, normaliseChapter, renderedFile } from "../../../deck/text/chapters.js";
import { makeSlides } from "../../../deck/text/safe-markdown.js";
import { chapterElement, readerElement } from "../talk-page.js";

/**
 * @param {Map<string, string>} chapters   Markdown by file, such as `slides/rpo/00-loss.md`
 * @param {{readerPage?: string|null}} [talk]   readerPage: the file that is no chapter, but the reader's page
 * @returns {Promise<Map<string, string>>} HTML by file, such as `slides/rpo/00-loss.html`; empty where a chapter is
 * @throws {Error} naming the file, and what in it the stage would remove
 */
export async function renderChapters(chapters, { readerPage = null } = {}) {
  const { window } = new JSDOM("<!doctype html><body></body>");
  const rendered = new Map();
  try {
    for (const [file, text] of chapters) {
      const element = file === readerPage ? readerElement(file) : chapterElement(file);
      rendered.set(renderedFile(file), await render(window, { file, text, element }));
    }
  } finally {
    window.close();
  }
  return rendered;
}

async function render(window, { file, text, element }) {
  const { document } = window;
  const chapter = normaliseChapter(text);
  // reveal's plugin would make an empty slide of it; so that the page can say what is wrong, it stays empty.
  if (chapter.trim() === "") return "";
  const box = document.createElement("div");
  box.innerHTML = element;
  fillWithMarkdown(box.firstElementChild, chapter, file);
  const refused = await asInBrowser(window, () => makeSlides(box, window));
  if (refused.length > 0) {
    throw new Error(
      `${file}: slides must not run scripts or load anything, and this one has ${refused.join(", ")}. Remove that, then build again.`,
    );
  }
  return `${box.innerHTML}\n`;
}

/** reveal's plugin reads one name of the browser's. */
async function asInBrowser(window, task) {
  const before = Object.getOwnPropertyDescriptor(globalThis, "Node");
  globalThis.Node = window.Node;
  try {
    return await task();
  } finally {
    if (before) Object.defineProperty(globalThis, "Node", before);
    else delete globalThis.Node;
  }
}
