/**
 * The line in the margin above the slide that identifies a recorded run while it plays, and shows its progress. Screen
 * readers do not read it: they get one announcement at the start and one at the end.
 */

import { element } from "../page/elements.js";

export class Badge {
  #element;
  #title;
  #progress;
  #position;

  /** @param {HTMLElement} viewport   of the deck */
  constructor(viewport) {
    const make = (...given) => element(viewport.ownerDocument, ...given);
    this.#title = make("strong");
    this.#progress = make("progress", { max: 1, "aria-label": "Progress of the recorded run" });
    this.#position = make("span");
    this.#element = make(
      "div",
      { class: "recorded-run", role: "group", "aria-label": "Recorded run" },
      ...[this.#title, this.#progress, this.#position],
    );
    viewport.append(this.#element);
  }

  /** @param {{title: string, share?: number|null, position?: string}} said   share: null hides the bar */
  show({ title, share = null, position = "" }) {
    this.#title.textContent = title;
    this.#progress.hidden = share === null;
    if (share !== null) this.#progress.value = share;
    this.#position.textContent = position;
  }

  remove() {
    this.#element.remove();
  }
}
