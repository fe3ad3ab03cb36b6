/**
 * The speaker view: notes, clock, pace, this slide and the next. Its plugin is the largest part of reveal, so it is fetched once,
 * with what this talk adds to its window, after the slides are shown, and then opens at the first press.
 */

const KEY = { keyCode: 83, key: "S", description: "Speaker view: notes, clock, pace" };
const NAMESPACE = "reveal-notes";

/**
 * A plugin for reveal that stands in for the original plugin and fetches it.
 * @param {{receiver: boolean, cut: number}} mode
 * @param {{title: string, absent: () => Map<string, object>, data: {dataSet: string}}} talk   absent: the slides that are not
 *   shown, from `applyCut`; data: on show
 * @returns {object} list it among reveal's plugins
 */
export function SpeakerView({ receiver, cut }, { title, absent, data }) {
  let deck = null;
  let fetched = null;

  function plugin() {
    fetched ??= Promise.all([
      import("reveal.js/plugin/notes"),
      import("./speaker-help.js"),
      import("./speaker-window.js"),
    ]).then(([{ default: RevealNotes }, help, view]) => {
      const notes = RevealNotes();
      notes.init(deck);
      // The original plugin binds the key itself.
      deck.addKeyBinding(KEY, open);
      const furnish = (page) => {
        const stage = document.documentElement;
        const accent = getComputedStyle(stage).getPropertyValue("--accent");
        view.mendSpeakerWindow(page, { title, accent, leftOut: stage.dataset.leftOut });
        help.helpSpeaker(page, {
          deck,
          leftOut: help.leftOut(absent(), data.dataSet),
          key: `replay-times ${location.pathname} ${cut}`,
        });
      };
      return { open: () => view.openedBy(() => notes.open()), furnish };
    });
    return fetched;
  }

  async function open() {
    try {
      const notes = await plugin();
      const opened = notes.open();
      if (opened) notes.furnish(opened.document);
    } catch (error) {
      // Say it where the speaker is looking; there is no window for the notes.
      alert(`The speaker view did not open: ${error.message}. Reload the deck and press S again.`);
      fetched = null;
    }
  }

  /** An open speaker view looks for the deck after a reload. */
  function onMessage({ data, source }) {
    if (typeof data !== "string" || !data.includes(NAMESPACE) || !isHeartbeat(data)) return;
    removeEventListener("message", onMessage);
    plugin().then(({ furnish }) => {
      if (ofThisOrigin(source)) furnish(source.document);
    });
  }

  return {
    id: "speaker-view",
    init(reveal) {
      deck = reveal;
      // The previews in the speaker view have no speaker view of their own.
      if (receiver) return;
      deck.addKeyBinding(KEY, open);
      addEventListener("message", onMessage);
    },
    /** Fetches the plugin, so that a press on S opens a window at once: browsers allow it only shortly after a key. */
    prepare: () => (receiver ? Promise.resolve() : plugin()),
  };
}

/**
 * Once a preview is ready, makes the stage send its state again: anything sent before the preview could listen is lost, and
 * the preview of the next slide would keep showing the current one.
 */
export function askForState() {
  try {
    window.parent.opener?.replay?.deck?.dispatchEvent({ type: "resumed" });
  } catch {
    // The stage has another origin or is gone; the preview waits for the next slide.
  }
}

function isHeartbeat(text) {
  try {
    const { namespace, type } = JSON.parse(text);
    return namespace === NAMESPACE && type === "heartbeat";
  } catch {
    // A message from another program.
    return false;
  }
}

function ofThisOrigin(source) {
  try {
    return source?.location.origin === location.origin;
  } catch {
    // A window of another origin does not tell.
    return false;
  }
}
