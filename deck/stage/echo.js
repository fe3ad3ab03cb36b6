/**
 * Makes chart keys work both on stage and in the speaker view, whichever has the focus. The windows of one talk share a
 * channel with a unique name, so that two talks side by side do not affect each other.
 */

const KEPT = "replay-echo";

/**
 * @param {{receiver: boolean}} mode
 * @param {(code: number) => void} press   does what a key does in this window, without passing it on
 * @returns {{tell: (code: number) => void}} `tell` makes the other windows do the same
 */
export function echoKeys({ receiver }, press) {
  const name = receiver ? nameOfStage() : ownName();
  // The preview shows the next slide as it will look when entered.
  const listens =
    name !== null && (!receiver || new URLSearchParams(location.search).has("postMessageEvents"));
  if (!listens || typeof BroadcastChannel === "undefined") return { tell() {} };
  const channel = new BroadcastChannel(name);
  channel.addEventListener("message", ({ data }) => {
    if (Number.isInteger(data?.code)) press(data.code);
  });
  return { tell: (code) => channel.postMessage({ code }) };
}

/** Kept when the deck is reloaded, because a speaker view may be open; a copied tab is another talk. */
function ownName() {
  const reloaded = performance.getEntriesByType("navigation")[0]?.type === "reload";
  const name =
    (reloaded && kept()) || `${KEPT}-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  keep(name);
  document.documentElement.dataset.echo = name;
  return name;
}

function kept() {
  try {
    return sessionStorage.getItem(KEPT);
  } catch {
    // Without storage the name is new; an open speaker view then follows slides but not charts.
    return null;
  }
}

function keep(name) {
  try {
    sessionStorage.setItem(KEPT, name);
  } catch {
    // As above.
  }
}

/** A preview is a frame in the speaker view, which the stage opened. */
function nameOfStage() {
  try {
    return window.parent.opener?.document.documentElement.dataset.echo ?? null;
  } catch {
    // A page of another origin, or none.
    return null;
  }
}
