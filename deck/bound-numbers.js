/**
 * Numbers in slides and notes that come from data: `<data value="manifest.setup.osds">three</data>`.
 *
 * A value is `<source>.<path>`. Sources are registered by name; one that answers to every other first word
 * may be registered as the default. What no source knows keeps the text written on the slide, and is marked so.
 */

export const BOUND = "bound";
export const UNBOUND = "unbound";

/**
 * A registry of sources.
 * A source is a function `(path: string[]) => string | null`; null means "I do not know that".
 */
export class BoundNumbers {
  #sources = new Map();
  #usual = null;

  /** Registers a source under the first word of the values it answers. */
  addSource(name, lookUp) {
    this.#sources.set(name, lookUp);
    return this;
  }

  /** Registers the source that is asked when no other has the value's first word; it gets the whole path. */
  setDefaultSource(lookUp) {
    this.#usual = lookUp;
    return this;
  }

  /** @returns {string|null} the text for a value such as `manifest.setup.osds` */
  resolve(value) {
    const path = String(value).trim().split(".");
    if (path.some((word) => word === "")) return null;
    const source = this.#sources.get(path[0]);
    if (source) return source(path.slice(1));
    return this.#usual ? this.#usual(path) : null;
  }

  /**
   * Writes every `<data value>` below `root` that a source knows, and puts the slide's own text back
   * into those that no source knows (any more).
   * @returns {{bound: string[], unbound: string[]}} the values, in document order
   */
  bind(root) {
    const outcome = { bound: [], unbound: [] };
    for (const element of root.querySelectorAll("data[value]")) {
      const value = element.getAttribute("value");
      // The text on the slide is kept the first time it is met, for data that disappear later.
      if (!element.hasAttribute("data-fallback")) element.setAttribute("data-fallback", element.textContent);
      const text = this.resolve(value);
      const known = text !== null;
      const wanted = known ? text : element.getAttribute("data-fallback");
      if (element.textContent !== wanted) element.textContent = wanted;
      element.classList.toggle(BOUND, known);
      element.classList.toggle(UNBOUND, !known);
      outcome[known ? "bound" : "unbound"].push(value);
    }
    return outcome;
  }
}

/**
 * Follows a path into plain data, own properties only.
 * @param {unknown} data
 * @param {string[]} path   array positions are written as numbers
 */
export function follow(data, path) {
  let here = data;
  for (const word of path) {
    if (here === null || typeof here !== "object" || !Object.hasOwn(here, word)) return undefined;
    here = here[word];
  }
  return here;
}
