/**
 * What slides/<talk>/talk.yaml says of the talk, on slides and on the reader's page: `<p data-talk="speaker event date"></p>` holds
 * what is stated of these, and is hidden if nothing is. So is `logo`, which the talk's look has (scripts/deck/look.js).
 */

import { element } from "../page/elements.js";
import { renewChildren } from "../page/in-place.js";

/** Keys of the file. */
export const TALK_FACTS = ["title", "speaker", "event", "date", "contact", "repository"];
/** What can be named. */
export const TALK_PARTS = [...TALK_FACTS, "logo"];

/**
 * The stated facts that an element asks for, in its order. Pure.
 * @param {string} names   its `data-talk`
 * @param {Record<string, string> & {logo?: {light: string, dark: string, title: string}|null}} talk
 * @returns {({name: string, text: string, href: string|null}|{name: "logo", logo: object})[]}
 *   href: where a web address or an e-mail address leads
 */
export function factsOf(names, talk) {
  return names
    .split(/\s+/)
    .filter((name) => TALK_PARTS.includes(name) && talk[name])
    .map((name) =>
      name === "logo"
        ? { name, logo: talk.logo }
        : { name, text: shortAddress(talk[name]), href: addressIn(talk[name]) },
    );
}

/** A web address as people write it: without what their browsers add. */
export function shortAddress(text) {
  return text.replace(/^https?:\/\//, "").replace(/\/$/, "");
}

function addressIn(text) {
  if (/^https?:\/\/\S+$/.test(text)) return text;
  return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text) ? `mailto:${text}` : null;
}

/** Writes the facts into every element below `root` that asks for some. */
export function writeTalkFacts(root, talk) {
  for (const place of root.querySelectorAll("[data-talk]")) {
    const facts = factsOf(place.dataset.talk, talk);
    place.hidden = facts.length === 0;
    const parts = facts.map((fact) => partOf(fact, place.ownerDocument));
    renewChildren(
      place,
      parts.flatMap((part, at) => (at === 0 ? [part] : [" ", part])),
    );
  }
}

/** css/slides.css shows the one of the two drawings of a logo that is for the page around it. */
function partOf({ name, text, href, logo }, page) {
  const content = logo
    ? ["light", "dark"].map((on) => element(page, "img", { src: logo[on], alt: logo.title, "data-on": on }))
    : [text];
  return element(page, href ? "a" : "span", { href, "data-fact": name }, ...content);
}
