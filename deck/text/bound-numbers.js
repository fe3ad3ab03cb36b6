/**
 * Numbers in slides and notes that come from data: `<data value="manifest.setup.osds">three</data>`.
 *
 * A value is `<source>.<path>`. Sources have names; one more answers to every other first word. The text written on the
 * slide is the shipped data set's. If the current data do not know a value, that text stays only if they are the shipped
 * data: it must never pass for another data set's figure.
 */

import { unbroken } from "../data/format.js";

const BOUND = "bound";
const UNBOUND = "unbound";
/** A text short enough to be a number with its unit, which stays on one line. */
const FIGURE = "figure-text";
const LONGEST_FIGURE = 12;
const OPEN = "…";

/**
 * @typedef {{lookUp: (path: string[]) => string|null, absent: string}} Source
 *   lookUp: null means "I do not know that"; absent: what is shown where another data set does not know a value
 */

export class BoundNumbers {
  #sources;
  #usual;

  /**
   * @param {Record<string, Source>} sources   by the first word of the values that they answer; they get the path without it
   * @param {Source} usual   answers values with any other first word; it gets the whole path
   */
  constructor(sources, usual) {
    this.#sources = new Map(Object.entries(sources));
    this.#usual = usual;
  }

  /** @returns {string|null} the text for a value such as `manifest.setup.osds` */
  resolve(value) {
    const path = String(value).trim().split(".");
    if (path.some((word) => word === "")) return null;
    const source = this.#sources.get(path[0]);
    return source ? source.lookUp(path.slice(1)) : this.#usual.lookUp(path);
  }

  /** The text for a value that a data set other than the shipped one lacks: "not recorded", … */
  absent(value) {
    const [word] = String(value).trim().split(".", 1);
    return (this.#sources.get(word) ?? this.#usual).absent;
  }

  /**
   * The text of a value on a slide.
   * @param {string} value
   * @param {string} literal   the text written on the slide
   * @param {{shipped: boolean}} data   whether the literal was written for the current data
   * @returns {{text: string, known: boolean}}
   */
  textFor(value, literal, { shipped }) {
    const text = this.resolve(value);
    if (text !== null) return { text, known: true };
    return { text: shipped ? literal : this.absent(value), known: false };
  }

  /**
   * Writes every `<data value>` below `root`; touches only those that differ.
   * @param {Element} root
   * @param {{shipped: boolean}} data   as in `textFor`
   */
  bind(root, { shipped }) {
    for (const element of root.querySelectorAll("data[value]")) {
      const value = element.getAttribute("value");
      // Remember the text on the slide the first time, in case the data disappear later.
      if (!element.hasAttribute("data-fallback")) element.setAttribute("data-fallback", element.textContent);
      const { text: words, known } = this.textFor(value, element.getAttribute("data-fallback"), { shipped });
      // A title before an audience leaves the place of an unknown figure open.
      const isOpen = !known && !shipped && element.closest("h1, h2, h3") !== null;
      const text = isOpen ? OPEN : unbroken(words);
      if (element.textContent !== text) element.textContent = text;
      element.classList.toggle(BOUND, known);
      element.classList.toggle(UNBOUND, !known);
      element.classList.toggle(FIGURE, text.length <= LONGEST_FIGURE);
    }
  }
}
