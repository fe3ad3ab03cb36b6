/**
 * The line in the margin above the slide that identifies a recorded run while it plays, and shows its progress. Screen
 * readers do not read it: they get one announcement at the start and one at the end.
 */

export class Badge {
  #element;
  #title;
  #progress;
  #position;

  /** @param {HTMLElement} viewport   of the deck */
  constructor(viewport) {
    const page = viewport.ownerDocument;
    this.#element = page.createElement("div");
    this.#element.className = "recorded-run";
    this.#element.setAttribute("role", "group");
    this.#element.setAttribute("aria-label", "Recorded run");
    this.#title = page.createElement("strong");
    this.#progress = page.createElement("progress");
    this.#progress.max = 1;
    this.#progress.setAttribute("aria-label", "Progress of the recorded run");
    this.#position = page.createElement("span");
    this.#element.append(this.#title, this.#progress, this.#position);
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
