/** Announces a text to screen readers. */

import { element } from "../page/elements.js";

/** @returns {(text: string) => void} */
export function announcer() {
  const line = element(document, "div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  document.body.append(line);
  return (text) => {
    // Screen readers repeat the same words only if they were removed in between.
    line.textContent = "";
    requestAnimationFrame(() => {
      line.textContent = text;
    });
  };
}
