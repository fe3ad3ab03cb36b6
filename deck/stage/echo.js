/**
 * What the windows of one talk, the stage and the speaker view's picture of it, tell each other beside what reveal does:
 * keys for charts, and where the pointer is. They share a channel with a unique name, so that two talks side by side do not
 * affect each other.
 */

import { keep, kept } from "../page/kept.js";

const KEPT = "replay-echo";
/** A copied tab, and one without storage, has a new name; an open speaker view then follows slides but not charts. */
const STORAGE = "sessionStorage";

/**
 * @param {{receiver: boolean}} mode
 * @returns {{tell: (message: object) => void, listen: (heard: (message: object) => void) => void}} `tell` reaches the other
 *   windows, `heard` gets what they tell
 */
export function Echo({ receiver }) {
  const name = receiver ? toldByStage("echo") : ownName();
  // The preview shows the next slide as it will look when entered.
  const takesPart =
    name !== null && (!receiver || new URLSearchParams(location.search).has("postMessageEvents"));
  if (!takesPart || typeof BroadcastChannel === "undefined") return { tell() {}, listen() {} };
  const channel = new BroadcastChannel(name);
  return {
    tell: (message) => channel.postMessage(message),
    listen: (heard) => channel.addEventListener("message", ({ data }) => heard(data ?? {})),
  };
}

/** Kept when the deck is reloaded, because a speaker view may be open. */
function ownName() {
  const reloaded = performance.getEntriesByType("navigation")[0]?.type === "reload";
  const name =
    (reloaded && kept(KEPT, STORAGE)) ||
    `${KEPT}-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  keep(KEPT, name, STORAGE);
  document.documentElement.dataset.echo = name;
  return name;
}

/**
 * What the stage's page says of itself (`data-…`), to a preview, which is a frame in the speaker view that the stage opened.
 * @param {string} what
 * @returns {string|null}
 */
export function toldByStage(what) {
  try {
    return window.parent.opener?.document.documentElement.dataset[what] ?? null;
  } catch {
    // A page of another origin, or none.
    return null;
  }
}
