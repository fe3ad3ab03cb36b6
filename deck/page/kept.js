/** A reader's choices, kept for the next visit. A browser may refuse its storage to a page: then nothing is kept. */

export function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // It lasts until the page is closed.
  }
}

/** @returns {string|null} */
export function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}
