/** Says something to who does not see it. */

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
    // The same words twice are said twice only when they were gone in between.
    line.textContent = "";
    requestAnimationFrame(() => {
      line.textContent = text;
    });
  };
}
