/**
 * Numbers in slides and notes that come from data: `<data value="manifest.setup.osds">three</data>`. The deck, `npm run check`,
 * `wording` and `freeze` all resolve values here, so that they always agree.
 *
 * | value | read from |
 * |---|---|
 * | `manifest.<path>` | manifest.json |
 * | `design.<experiment>.<path>` | manifest.json: `experiments.<experiment>.parameters`, what the design fixed |
 * | `method.<key>` | claims.json: `method`, the rules for verdicts |
 * | `answer.<mode>.<column>` | answer.csv |
 * | `<claim>.<name>[.<part>]` | claims.json: see `claimSource` |
 *
 * The text written on the slide is the shipped data set's. If the current data do not know a value, that text stays only if they
 * are the shipped data: it must never pass for another data set's figure.
 */

import { answerSource } from "../data/answer.js";
import { claimSource } from "../data/claims.js";
import { follow } from "../data/follow.js";
import { formatPercent, formatPeriod, formatValue, unbroken } from "../data/format.js";

/** What is recorded of a measurement; every other value is measured. */
const RECORDED = ["manifest", "design", "method"];
const BOUND = "bound";
const UNBOUND = "unbound";
/** A text short enough to be a number with its unit, which stays on one line. */
const FIGURE = "figure-text";
const LONGEST_FIGURE = 12;
const OPEN = "…";

/** @param {{manifest: object|null, claims: object|null, answer?: object|null}} documents   of one data set */
export function BoundNumbers({ manifest, claims, answer = null }) {
  // By the first word of the values that they answer; they get the path without it.
  const sources = new Map([
    ["manifest", manifestSource(manifest)],
    ["design", designSource(manifest)],
    ["method", methodSource(claims)],
    ["answer", answerSource(answer)],
  ]);
  const inClaims = claimSource(claims);

  /** @returns {string|null} the text for a value such as `manifest.setup.osds`; null if the data do not know it */
  function resolve(value) {
    const path = String(value).trim().split(".");
    if (path.some((word) => word === "")) return null;
    const lookUp = sources.get(path[0]);
    return lookUp ? lookUp(path.slice(1)) : inClaims(path);
  }

  /**
   * The text of a value on a slide.
   * @param {string} value
   * @param {string} literal   the text written on the slide
   * @param {{shipped: boolean}} data   whether the literal was written for the current data
   * @returns {{text: string, known: boolean}}
   */
  function textFor(value, literal, { shipped }) {
    const text = resolve(value);
    if (text !== null) return { text, known: true };
    return { text: shipped ? literal : absent(value), known: false };
  }

  /**
   * Writes every `<data value>` below `root`; touches only those that differ.
   * @param {Element} root
   * @param {{shipped: boolean}} data   as in `textFor`
   */
  function bind(root, { shipped }) {
    for (const element of root.querySelectorAll("data[value]")) {
      const value = element.getAttribute("value");
      // Remember the text on the slide the first time, in case the data disappear later.
      if (!element.hasAttribute("data-fallback")) element.setAttribute("data-fallback", element.textContent);
      const { text: words, known } = textFor(value, element.getAttribute("data-fallback"), { shipped });
      // A title before an audience leaves the place of an unknown figure open.
      const isOpen = !known && !shipped && element.closest("h1, h2, h3") !== null;
      const text = isOpen ? OPEN : unbroken(words);
      if (element.textContent !== text) element.textContent = text;
      element.classList.toggle(BOUND, known);
      element.classList.toggle(UNBOUND, !known);
      element.classList.toggle(FIGURE, text.length <= LONGEST_FIGURE);
    }
  }

  return { resolve, textFor, bind };
}

/** The text for a value that a data set other than the shipped one lacks. */
export function absent(value) {
  const [word] = String(value).trim().split(".", 1);
  return RECORDED.includes(word) ? "not recorded" : "not measured";
}

/**
 * The source `manifest` of bound numbers: `manifest.setup.osds`, `manifest.measured_to`, …
 * `manifest.measured` is the period from `measured_from` to `measured_to`.
 */
function manifestSource(manifest) {
  return (path) => {
    if (!manifest) return null;
    if (path.length === 1 && path[0] === "measured") {
      const { measured_from: from, measured_to: to } = manifest;
      return from || to ? formatPeriod(from ?? to, to ?? from) : null;
    }
    return formatValue(follow(manifest, path), path.at(-1) ?? "");
  };
}

/** The source `design`: `design.rbd-journaling.io_threads`. Keys end with their unit, as in the manifest. */
function designSource(manifest) {
  return ([experiment = "", ...path]) =>
    path.length === 0
      ? null
      : formatValue(follow(manifest, ["experiments", experiment, "parameters", ...path]), path.at(-1));
}

/** The source `method`: `method.confidence` is a share and is written as "95 %"; the others are counts. */
function methodSource(claims) {
  return (path) => {
    const value = follow(claims, ["method", ...path]);
    return path.at(-1) === "confidence" ? formatPercent(value) : formatValue(value, path.at(-1));
  };
}
