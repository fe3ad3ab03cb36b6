/**
 * Text that depends on a verdict: `<span data-when="journal-penalty-falls held">…</span>` is shown only while the current
 * data hold that claim. Siblings with the same claim form a group, and exactly one of them is shown. Works on slides and
 * notes; everything that needs no page is pure.
 */

import { follow } from "../data/follow.js";

/** The verdicts as attributes write them: the words of claims.json with dashes. */
export const VERDICTS = ["held", "refuted", "inconclusive", "not-testable-here", "not-measured"];

/**
 * Reads a `data-when` attribute: `<claim> <verdict> [<verdict> …]`.
 * @returns {{claim: string, verdicts: string[]}|null} null without a claim or without a verdict; the words are not
 *   checked, so that `npm run check` can name the wrong one
 */
export function parseWhen(text) {
  const [claim, ...verdicts] = String(text ?? "")
    .split(/\s+/)
    .filter(Boolean);
  return verdicts.length > 0 ? { claim, verdicts } : null;
}

/** A claim's verdict as attributes write it; a claim missing from the document is "not measured". */
export function verdictOf(claim, claimsDocument) {
  const verdict = follow(claimsDocument, ["claims", claim, "verdict"]) ?? "not measured";
  return String(verdict).replaceAll(" ", "-");
}

/**
 * Whether a text is shown.
 * @param {{claim: string, verdicts: string[]}|null} when   what `parseWhen` read; null is never shown
 * @param {object|null} claimsDocument   claims.json
 */
export function isChosen(when, claimsDocument) {
  return when !== null && when.verdicts.includes(verdictOf(when.claim, claimsDocument));
}

/** Whether an element is part of a text that the current verdicts hide; `chooseTexts` has already decided. */
export function isDenied(element) {
  return element.closest("[data-when][hidden]") !== null;
}

/** Shows and hides every `[data-when]` below `root`; touches only those that change. */
export function chooseTexts(root, claimsDocument) {
  for (const element of root.querySelectorAll("[data-when]")) {
    // An attribute works on parts of drawings too, and in the speaker view's copy of the notes.
    const hidden = !isChosen(parseWhen(element.getAttribute("data-when")), claimsDocument);
    if (element.hasAttribute("hidden") !== hidden) element.toggleAttribute("hidden", hidden);
  }
  for (const step of root.querySelectorAll(".fragment[data-when], [data-when] .fragment")) {
    // reveal skips disabled fragments; a hidden one would take a click that shows nothing.
    step.classList.toggle("disabled", isDenied(step));
  }
}

/**
 * The visible text of an element, in one line; of a title that asks before it says something, what it says. `innerText`
 * does not work: on a slide that is not in sight it returns all of the text.
 */
export function chosenText(element) {
  return textOf(element).replace(/\s+/g, " ").trim();
}

/** The title of a slide, chosen by the verdicts; "" without one. */
export function slideTitle(slide) {
  const title = slide.querySelector("h1, h2, h3");
  return title ? chosenText(title) : "";
}

function textOf(node) {
  if (node.nodeType === 3) return node.data;
  if (node.nodeType !== 1) return "";
  return [...node.childNodes]
    .map((child) => (child.nodeType === 1 && isLeftOut(child) ? "" : textOf(child)))
    .join("");
}

/** Whether a part is hidden, or is the question that the finding of its title answers. */
function isLeftOut(element) {
  return element.hasAttribute("hidden") || element.classList?.contains("question") === true;
}
