/**
 * What a key does to a chart, it does on stage and in the speaker view alike, whichever of the two has the focus. Windows of
 * one talk share a channel; its name is the talk's own, so that two talks side by side do not meddle with each other.
 */

const KEPT = "replay-echo";

/**
 * @param {{receiver: boolean}} mode
 * @param {(code: number) => void} press   does here what a key does, and tells nobody
 * @returns {{tell: (code: number) => void}} `tell` lets the others do what was done here
 */
export function echoKeys({ receiver }, press) {
  const name = receiver ? nameOfStage() : ownName();
  // The preview of the next slide shows that slide as it will be entered.
  const listens =
    name !== null && (!receiver || new URLSearchParams(location.search).has("postMessageEvents"));
  if (!listens || typeof BroadcastChannel === "undefined") return { tell() {} };
  const channel = new BroadcastChannel(name);
  channel.addEventListener("message", ({ data }) => {
    if (Number.isInteger(data?.code)) press(data.code);
  });
  return { tell: (code) => channel.postMessage({ code }) };
}

/** Kept when the deck is loaded anew, as a speaker view may be open; a copy of the tab is another talk. */
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
    // No storage: a new name it is, and a speaker view that is open follows slides, not charts.
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

/** A preview is a frame of the speaker view, which the stage opened. */
function nameOfStage() {
  try {
    return window.parent.opener?.document.documentElement.dataset.echo ?? null;
  } catch {
    // Another origin's page, or none.
    return null;
  }
}
