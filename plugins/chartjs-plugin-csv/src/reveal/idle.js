/** Longest wait, ms: a chart of the next slide must not wait for a page that is never idle. */
const TIMEOUT = 250;
/** After this time, ms, work that has not ended no longer keeps the next from its turn: its file may never arrive. */
export const PATIENCE = 1000;

/** @param {() => void} work   runs when the browser is idle */
export function whenIdle(work) {
  // Safari has no idle callbacks.
  if (globalThis.requestIdleCallback) requestIdleCallback(work, { timeout: TIMEOUT });
  else setTimeout(work, 0);
}

/**
 * A queue whose items are handled one by one while the browser is idle. Work that takes a while, as its promise says, ends
 * before the next begins, so that no frame has to bear two of them.
 */
export class IdleQueue {
  #work;
  #items = new Set();
  /** The turn that the next item waits for, or null. */
  #turn = null;
  #busy = null;

  /** @param {(item: unknown) => unknown} work   what it returns is awaited if it is a promise, which must not reject */
  constructor(work) {
    this.#work = work;
  }

  add(item) {
    this.#items.add(item);
    this.#schedule();
  }

  /** Begins nothing before this work has ended, or has taken too long. @param {unknown} work   a promise must not reject */
  after(work) {
    if (typeof work?.then !== "function") return;
    this.#turn = null;
    const turn = (this.#busy = {});
    const over = () => {
      if (this.#busy !== turn) return;
      this.#busy = null;
      this.#schedule();
    };
    const timer = setTimeout(over, PATIENCE);
    work.then(() => {
      clearTimeout(timer);
      over();
    });
  }

  /** @returns {boolean} whether it was waiting */
  delete(item) {
    return this.#items.delete(item);
  }

  /** Handles all remaining items now. */
  flush() {
    this.#turn = null;
    const items = [...this.#items];
    this.#items.clear();
    for (const item of items) this.#work(item);
  }

  clear() {
    this.#turn = null;
    this.#items.clear();
    this.#busy = null;
  }

  #schedule() {
    if (this.#turn !== null || this.#busy !== null || this.#items.size === 0) return;
    const turn = (this.#turn = {});
    whenIdle(() => {
      if (this.#turn !== turn) return;
      this.#turn = null;
      const [item] = this.#items;
      if (item === undefined) return;
      this.#items.delete(item);
      this.after(this.#work(item));
      this.#schedule();
    });
  }
}
