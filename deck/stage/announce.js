/** Announces a text to screen readers. */

const CLASS = "visually-hidden";

/**
 * @param {Document} [page]
 * @returns {(text: string) => void}
 */
export function announcer(page = document) {
  const line = page.createElement("div");
  line.className = CLASS;
  line.setAttribute("role", "status");
  line.setAttribute("aria-live", "polite");
  page.body.append(line);
  return (text) => {
    // Screen readers repeat the same words only if they were removed in between.
    line.textContent = "";
    requestAnimationFrame(() => {
      line.textContent = text;
    });
  };
}
