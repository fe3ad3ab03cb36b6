/**
 * Fetches the chapters that index.html names: their Markdown, for reveal's Markdown plugin, or on a published site the HTML
 * that was made of it while building (scripts/deck/text/rendered.js).
 *
 * The plugin could fetch them itself, but would then report a missing chapter as "fetch undefined failed", and turn a file
 * with CRLF line ends into one endless slide.
 */

import { withOwnFiles } from "../data/own-file.js";
import { element } from "../page/elements.js";

/** The file that holds a chapter's HTML on a published site: `slides/rpo/00-loss.html` for `slides/rpo/00-loss.md`. */
export function renderedFile(file) {
  return file.replace(/\.md$/, ".html");
}

/**
 * Fills every `<section data-markdown="FILE">` below `root`. Chapters are fetched together.
 * @param {Element} root
 * @param {{rendered?: boolean, fetchFile?: typeof fetch}} [options]   rendered: whether to fetch HTML, whose slides replace
 *   the section
 * @returns {Promise<string[]>} the files that could not be read
 */
export async function loadChapters(root, { rendered = false, fetchFile = (...args) => fetch(...args) } = {}) {
  const sections = [...root.querySelectorAll("section[data-markdown]")].filter((section) =>
    section.getAttribute("data-markdown"),
  );
  const outcomes = await Promise.all(
    sections.map((section) => fillChapter(section, { rendered, fetchFile })),
  );
  return outcomes.filter((file) => file !== null);
}

async function fillChapter(section, { rendered, fetchFile }) {
  const named = section.getAttribute("data-markdown");
  const file = rendered ? renderedFile(named) : named;
  try {
    const text = await readChapter(file, { rendered, fetchFile });
    // The page's own slides, from where its code is, and cleaned when they were made.
    if (rendered) section.outerHTML = text;
    else fillWithMarkdown(section, text, file);
    return null;
  } catch (error) {
    section.replaceChildren(errorSlide(file, error, section.ownerDocument));
    section.removeAttribute("data-markdown");
    return file;
  }
}

/** Puts the Markdown of a chapter, read from `file`, where reveal's plugin looks for it. */
export function fillWithMarkdown(section, text, file) {
  const template = section.ownerDocument.createElement("textarea");
  template.setAttribute("data-template", "");
  template.textContent = withOwnFiles(text, file);
  section.replaceChildren(template);
  section.setAttribute("data-markdown", "");
}

async function readChapter(file, { rendered, fetchFile }) {
  let response;
  try {
    response = await fetchFile(file, { cache: "no-cache" });
  } catch {
    throw new Error("the server did not answer");
  }
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  const text = normaliseChapter(await response.text());
  if (text.trim() === "") throw new Error("the file is empty");
  const isPage = (response.headers.get("content-type") ?? "").includes("text/html");
  if (rendered ? !text.startsWith("<section") : isPage)
    throw new Error("the server answered with a page instead of the file");
  return text;
}

/**
 * Normalises a chapter: LF line ends, no byte order mark, no blank lines at either end (they would become empty slides), and
 * script end tags as the Markdown plugin expects them: it keeps each slide in a script element, which another spelling would
 * end.
 */
export function normaliseChapter(text) {
  return text
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .replace(/<\/script(?:>|[\s/][^>]*(?:>|$))/gi, "</script>")
    .replace(/^\n+|\s+$/g, "");
}

function errorSlide(file, error, page) {
  return element(
    page,
    "div",
    { class: "chapter-error", role: "alert" },
    element(page, "h2", {}, "A chapter is missing"),
    element(page, "p", {}, `${file}: ${error.message}.`),
  );
}
