/** A reader's choices, kept for the next visit, or until the tab is closed. A browser may refuse its storage to a page: then nothing is kept. */

/** @param {"localStorage"|"sessionStorage"} [storage] */
export function keep(name, value, storage = "localStorage") {
  try {
    globalThis[storage].setItem(name, value);
  } catch {
    // It lasts until the page is closed.
  }
}

/** @returns {string|null} */
export function kept(name, storage = "localStorage") {
  try {
    return globalThis[storage].getItem(name);
  } catch {
    return null;
  }
}
