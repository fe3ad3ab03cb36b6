/**
 * The speaker view: notes, clock, pace, this slide and the next. reveal's plugin for it is the heaviest part of reveal, so it
 * is fetched after the slides stand, and once more than needed never: a click opens it at once.
 */

import { mendSpeakerWindow } from "./speaker-window.js";

const KEY = { keyCode: 83, key: "S", description: "Speaker view: notes, clock, pace" };
const NAMESPACE = "reveal-notes";

/**
 * A plugin of reveal in the place of its own, which it fetches.
 * @param {{receiver: boolean}} mode
 * @returns {object} list it among reveal's plugins
 */
export function SpeakerView({ receiver }) {
  let deck = null;
  let fetched = null;

  function plugin() {
    fetched ??= import("reveal.js/plugin/notes").then(({ default: RevealNotes }) => {
      const notes = RevealNotes();
      notes.init(deck);
      // It has bound the key to itself.
      deck.addKeyBinding(KEY, open);
      return notes;
    });
    return fetched;
  }

  async function open() {
    try {
      const notes = await plugin();
      const opened = openedBy(() => notes.open());
      if (opened) mendSpeakerWindow(opened.document, document.title);
    } catch (error) {
      // Say it where the speaker looks; there is nothing to show the notes in.
      alert(`The speaker view did not open: ${error.message}. Load the deck again and press S once more.`);
      fetched = null;
    }
  }

  /** A speaker view that is open already looks for the deck after it was loaded anew. */
  function onMessage({ data, source }) {
    if (typeof data !== "string" || !data.includes(NAMESPACE) || !isHeartbeat(data)) return;
    removeEventListener("message", onMessage);
    plugin().then(() => {
      if (ofThisOrigin(source)) mendSpeakerWindow(source.document, document.title);
    });
  }

  return {
    id: "speaker-view",
    init(reveal) {
      deck = reveal;
      // The previews in the speaker view have none of their own.
      if (receiver) return;
      deck.addKeyBinding(KEY, open);
      addEventListener("message", onMessage);
    },
    open,
    /** Fetches the plugin, so that a press on S opens a window at once: browsers allow it only shortly after a key. */
    prepare: () => (receiver ? Promise.resolve() : plugin()),
  };
}

/** The window that `act` opens, or null: the plugin keeps it to itself. */
function openedBy(act) {
  const { open } = window;
  let opened = null;
  window.open = (...args) => {
    opened = open.apply(window, args);
    return opened;
  };
  try {
    act();
  } finally {
    window.open = open;
  }
  return opened;
}

/**
 * A preview that stands lets the stage say once more what is on show: what was said before it could listen is lost, and the
 * next slide would stay the present one.
 */
export function askForState() {
  try {
    window.parent.opener?.replay?.deck?.dispatchEvent({ type: "resumed" });
  } catch {
    // The stage is another origin's page, or gone; the preview waits for the next slide.
  }
}

function isHeartbeat(text) {
  try {
    const { namespace, type } = JSON.parse(text);
    return namespace === NAMESPACE && type === "heartbeat";
  } catch {
    // Some other program's message.
    return false;
  }
}

function ofThisOrigin(source) {
  try {
    return source?.location.origin === location.origin;
  } catch {
    // Another origin's window does not say.
    return false;
  }
}
