/**
 * What slides/<talk>/talk.yaml says of the talk, on slides and on the reader's page: `<p data-talk="speaker event date"></p>` holds
 * what is stated of these, and is hidden if nothing is.
 */

import { renewChildren } from "../page/in-place.js";

/** What can be named. */
export const TALK_FACTS = ["title", "speaker", "event", "date", "contact", "repository"];

/**
 * The stated facts that an element asks for, in its order. Pure.
 * @param {string} names   its `data-talk`
 * @param {Record<string, string>} talk
 * @returns {{name: string, text: string, href: string|null}[]} href: where a web address or an e-mail address leads
 */
export function factsOf(names, talk) {
  return names
    .split(/\s+/)
    .filter((name) => TALK_FACTS.includes(name) && talk[name])
    .map((name) => ({ name, text: shortAddress(talk[name]), href: addressIn(talk[name]) }));
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
    const parts = facts.map(({ name, text, href }) => {
      const part = place.ownerDocument.createElement(href === null ? "span" : "a");
      if (href !== null) part.href = href;
      part.dataset.fact = name;
      part.textContent = text;
      return part;
    });
    renewChildren(
      place,
      parts.flatMap((part, at) => (at === 0 ? [part] : [" ", part])),
    );
  }
}
