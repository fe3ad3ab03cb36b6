/** Messages for the person at the screen: a notice that stays until the page is closed, and a line for a moment. */

import { element } from "./elements.js";
import { addressWith } from "./mode.js";

/**
 * Says that the requested data set cannot be shown, and lists the available ones.
 * @param {{problem: string, shown: string, available: string[]|null, frozen?: boolean}} facts
 *   frozen: the talk shows only one data set, so there is no choice
 */
export function showDataSetProblem({ problem, shown, available, frozen = false }, page = document) {
  return showNotice(problem, frozen ? [] : choice(shown, available, page), page);
}

/**
 * Says what is wrong, and what to do about it.
 * @param {string} problem
 * @param {(Node|string)[]} remedy
 */
export function showNotice(problem, remedy = [], page = document) {
  const lead = element(page, "strong", {}, problem);
  const notice = element(page, "div", { class: "notice", role: "alert" }, lead, ...remedy);
  placeIn(page).append(notice);
  return notice;
}

/** Where notices are, at the top. The page begins below them (`--notices` in css/), so that none covers a title. */
function placeIn(page) {
  const present = page.querySelector(".notices");
  if (present) return present;
  const place = element(page, "div", { class: "notices" });
  page.body.append(place);
  new ResizeObserver(() => {
    page.documentElement.style.setProperty("--notices", `${place.offsetHeight}px`);
    // reveal fits its slides to the room that is left.
    dispatchEvent(new Event("resize"));
  }).observe(place);
  return place;
}

/** What is shown instead, and links to the alternatives. */
function choice(shown, available, page) {
  const parts = [` The charts show “${shown}”. `];
  if (!available?.length) return [...parts, "This server does not list its data sets."];
  parts.push("Available: ");
  available.forEach((name, position) => {
    const link = element(page, "a", { href: addressWith(page.location.href, { data: name }) }, name);
    parts.push(...(position ? [", ", link] : [link]));
  });
  return [...parts, "."];
}

const SHOWN_MS = 3500;
let line = null;
let timer = 0;

/**
 * Shows a line for a few seconds that says what just happened, for readers who are not looking at the button they
 * pressed. It does not announce the text; the caller does.
 */
export function showToast(text, page = document) {
  line?.remove();
  clearTimeout(timer);
  line = element(page, "div", { class: "chart-toast", "aria-hidden": "true" }, text);
  page.body.append(line);
  timer = setTimeout(() => line.remove(), SHOWN_MS);
}
