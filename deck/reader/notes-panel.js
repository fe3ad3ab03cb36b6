/** The speaker's notes next to the slide, for people who read it alone. */

import { element } from "../page/elements.js";

/**
 * @param {object} deck   reveal
 * @returns {{toggle: () => boolean, write: () => void}} toggle says whether the notes are shown now
 */
export function NotesPanel(deck) {
  const title = element(document, "h2", {}, "Notes");
  const words = element(document, "div", { class: "words" });
  const panel = element(
    document,
    "aside",
    { class: "reader-notes", "aria-label": "Notes of the slide", tabindex: "0", hidden: "" },
    title,
    words,
  );
  deck.getRevealElement().after(panel);

  function write() {
    if (panel.hidden) return;
    const notes = [...(deck.getCurrentSlide()?.querySelectorAll("aside.notes") ?? [])];
    const copies = notes.flatMap((note) => [...note.childNodes].map((node) => node.cloneNode(true)));
    words.replaceChildren(...(copies.length ? copies : ["This slide has no notes."]));
    panel.scrollTop = 0;
  }

  return {
    toggle() {
      panel.hidden = !panel.hidden;
      document.documentElement.classList.toggle("with-notes", !panel.hidden);
      write();
      return !panel.hidden;
    },
    write,
  };
}
