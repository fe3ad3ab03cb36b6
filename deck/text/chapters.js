/**
 * Reads slides into the page: fetches the chapters that index.html names, their Markdown, of which reveal's Markdown plugin
 * makes HTML, or on a published site the HTML that was made of it while building (scripts/deck/text/rendered.js).
 *
 * The plugin could fetch them itself, but would then report a missing chapter as "fetch undefined failed", and turn a file
 * with CRLF line ends into one endless slide.
 */

import { withOwnFiles } from "../data/own-file.js";
import { element } from "../page/elements.js";

/**
 * @param {{rendered: boolean}} page   rendered: whether the page's chapters lie beside it as HTML: then the code that makes it
 *   of Markdown, as large as reveal.js, is not fetched
 * @returns {(root: Element) => Promise<void>} fills every chapter element below `root`; a chapter that could not be read
 *   says so itself
 */
export function SlideReader({ rendered }) {
  if (rendered) return (root) => loadChapters(root, { rendered });
  const code = import("./safe-markdown.js");
  return async function readSlides(root) {
    const [{ makeSlides }] = await Promise.all([code, loadChapters(root, { rendered })]);
    const refused = await makeSlides(root);
    if (refused.length > 0) await tellRefused(refused);
  };
}

/** An author should notice at once, and a talk that was tampered with should not look complete. */
async function tellRefused(refused) {
  const what = refused.join(", ");
  console.warn(`Removed from the slides: ${what}`);
  const { showNotice } = await import("../page/notice.js");
  showNotice("Parts of the slides were removed:", [
    ` ${what}. Slides must not run scripts or load anything.`,
  ]);
}

/** The file that holds a chapter's HTML on a published site: `slides/rpo/00-loss.html` for `slides/rpo/00-loss.md`. */
export function renderedFile(file) {
  return file.replace(/\.md$/, ".html");
}

/** Fills every `<section data-markdown="FILE">` below `root`. Chapters are fetched together. HTML replaces the section. */
function loadChapters(root, { rendered }) {
  const sections = [...root.querySelectorAll("section[data-markdown]")].filter((section) =>
    section.getAttribute("data-markdown"),
  );
  return Promise.all(sections.map((section) => fillChapter(section, { rendered })));
}

async function fillChapter(section, { rendered }) {
  const named = section.getAttribute("data-markdown");
  const file = rendered ? renderedFile(named) : named;
  try {
    const text = await readChapter(file, { rendered });
    // The page's own slides, from where its code is, and cleaned when they were made.
    if (rendered) section.outerHTML = text;
    else fillWithMarkdown(section, text, file);
  } catch (error) {
    section.replaceChildren(errorSlide(file, error, section.ownerDocument));
    section.removeAttribute("data-markdown");
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

async function readChapter(file, { rendered }) {
  let response;
  try {
    response = await fetch(file, { cache: "no-cache" });
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
