/**
 * The line that says, as long as a recorded run plays, that it is one: in words, with its progress. It stands in the margin
 * above the slide, and says nothing aloud: what a screen reader has to know is announced once, at start and end.
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
