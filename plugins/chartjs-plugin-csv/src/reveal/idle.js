/** Longest wait, ms: a chart of the next slide must not wait for a page that is never idle. */
const TIMEOUT = 250;

/** A queue whose items are handled one by one while the browser is idle. */
export class IdleQueue {
  #work;
  #items = new Set();
  #handle = null;

  /** @param {(item: unknown) => void} work */
  constructor(work) {
    this.#work = work;
  }

  add(item) {
    this.#items.add(item);
    this.#schedule();
  }

  delete(item) {
    this.#items.delete(item);
  }

  /** Handles all remaining items now. */
  flush() {
    this.#cancel();
    const items = [...this.#items];
    this.#items.clear();
    for (const item of items) this.#work(item);
  }

  clear() {
    this.#cancel();
    this.#items.clear();
  }

  #schedule() {
    if (this.#handle !== null || this.#items.size === 0) return;
    const next = () => {
      this.#handle = null;
      const [item] = this.#items;
      if (item === undefined) return;
      this.#items.delete(item);
      this.#work(item);
      this.#schedule();
    };
    // Safari has no idle callbacks.
    this.#handle = globalThis.requestIdleCallback
      ? { idle: requestIdleCallback(next, { timeout: TIMEOUT }) }
      : { timer: setTimeout(next, 0) };
  }

  #cancel() {
    if (this.#handle?.idle !== undefined) cancelIdleCallback(this.#handle.idle);
    else if (this.#handle) clearTimeout(this.#handle.timer);
    this.#handle = null;
  }
}
