/**
 * Reads slides into the page: fetches the chapters, and where they are Markdown, makes HTML of them. The code for that is
 * as large as reveal.js, so a page whose slides are HTML already does not fetch it.
 */

import { loadChapters } from "./chapters.js";

/**
 * @param {{rendered: boolean}} page   rendered: whether the page's chapters lie beside it as HTML
 * @returns {(root: Element) => Promise<void>} fills every chapter element below `root`; a chapter that could not be read
 *   says so itself
 */
export function SlideReader({ rendered }) {
  if (rendered) return (root) => loadChapters(root, { rendered });
  const code = import("./safe-markdown.js");
  return async function readSlides(root) {
    const [{ makeSlides }] = await Promise.all([code, loadChapters(root)]);
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
