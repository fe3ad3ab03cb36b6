/**
 * What the keys of a keyboard and the buttons of a clicker do, where that differs from reveal: on stage no key leads anywhere
 * that a clicker cannot lead out of, and to a reader keys stay with what has the focus.
 *
 * reveal asks `keyboardCondition` about every key, those that the speaker view passes on too; the answer is decided by
 * `decide`, which is pure, and carried out by `stageKeys`.
 */

/** reveal knows keys by their code; its speaker view sends nothing else. */
export const CODE = {
  tab: 9,
  enter: 13,
  escape: 27,
  space: 32,
  pageUp: 33,
  pageDown: 34,
  end: 35,
  home: 36,
  left: 37,
  up: 38,
  right: 39,
  down: 40,
  question: 63,
  f: 70,
  g: 71,
  h: 72,
  j: 74,
  k: 75,
  l: 76,
  n: 78,
  o: 79,
  p: 80,
  f1: 112,
  f5: 116,
  slash: 191,
};
const ARROWS = [CODE.left, CODE.up, CODE.right, CODE.down];
/** Keys that go on or back, whichever the clicker sends. */
const GOING = [
  ...[CODE.enter, CODE.space, CODE.pageUp, CODE.pageDown, ...ARROWS],
  ...[CODE.h, CODE.j, CODE.k, CODE.l, CODE.n, CODE.p],
];
/** Keys by which reveal itself leaves the black screen; of those that only enter it the next press has to leave it, too. */
const BLACK = { leaves: [66, 86, 190], onlyEnters: [58, 59, CODE.slash] };
/** A link, a button or the like does something of its own on these. */
const PRESSES = [CODE.enter, CODE.space];
export const HELP_DIALOG = "dialog.keys-help[open]";

/**
 * What is done about a key.
 *
 * | answer | |
 * |---|---|
 * | `pass` | reveal, or the key's binding, takes it |
 * | `leave` | it belongs to what has the focus, or to the browser |
 * | `swallow` | nothing happens |
 * | `wake` | the black screen ends |
 * | `close` | what lies over the slides is closed |
 * | `close, pass` | that, and the key takes its effect |
 * | `next` | as a clicker's button |
 * | `overview`, `fullscreen`, `help`, `contents`, `search` | that is opened |
 *
 * @param {{keyCode: number, key?: string, shiftKey?: boolean, ctrlKey?: boolean, metaKey?: boolean}} key   reveal's speaker
 *   view passes on the code alone
 * @param {{explore: boolean, paused: boolean, overlay: boolean, overview: boolean, receiver?: boolean,
 *          focus: "none"|"control"|"text"|"dialog"}} state   overlay: the list of keys, or another thing that reveal shows over
 *   the slides; focus: what kind of thing has it
 * @returns {string}
 */
export function decide(key, { explore, paused, overlay, overview, receiver = false, focus }) {
  const { keyCode, shiftKey = false } = key;
  if (focus === "dialog" || focus === "text") return "leave";
  if (key.ctrlKey || key.metaKey) return explore && keyCode === CODE.k ? "search" : "leave";
  if (keyCode === CODE.tab) return "leave";
  if (focus === "control" && PRESSES.includes(keyCode)) return "leave";
  if (paused) return blackScreen(keyCode);
  if (overlay) return overOverlay(key);
  if (keyCode === CODE.f1 || isQuestionMark(key)) return "help";
  if (overview) return keyCode === CODE.escape || keyCode === CODE.o ? "overview" : "pass";
  // Escape closes; it opens nothing. Some clickers send it with every other press of one button.
  if (keyCode === CODE.escape) return "swallow";
  // Contents and search do better what reveal does on it.
  if (keyCode === CODE.g) return explore ? "contents" : "swallow";
  if (receiver && keyCode === CODE.f) return "swallow";
  return explore ? forReader(keyCode) : onStage(keyCode, shiftKey);
}

/** Its place on the keyboard differs by language. */
function isQuestionMark({ keyCode, key, shiftKey }) {
  return key === "?" || keyCode === CODE.question || (keyCode === CODE.slash && shiftKey === true);
}

function blackScreen(keyCode) {
  if (BLACK.leaves.includes(keyCode)) return "pass";
  const wakes = [...GOING, ...BLACK.onlyEnters, CODE.escape, CODE.f1];
  return wakes.includes(keyCode) ? "wake" : "swallow";
}

function overOverlay(key) {
  const { keyCode } = key;
  if ([CODE.escape, CODE.f1].includes(keyCode) || isQuestionMark(key)) return "close";
  return GOING.includes(keyCode) ? "close, pass" : "swallow";
}

function forReader(keyCode) {
  return keyCode === CODE.slash ? "search" : "pass";
}

function onStage(keyCode, shiftKey) {
  if (keyCode === CODE.o) return shiftKey ? "overview" : "swallow";
  // The end of the deck is far from where the talk is, and nothing leads back.
  if ([CODE.home, CODE.end].includes(keyCode)) return "swallow";
  if (shiftKey && ARROWS.includes(keyCode)) return "swallow";
  // What a clicker's button for “start the slide show” sends; the browser would load the deck anew.
  if (keyCode === CODE.f5) return "fullscreen";
  if (keyCode === CODE.enter) return "next";
  return "pass";
}

/**
 * The function that reveal asks about keys.
 * @param {object} given
 * @param {{explore: boolean, receiver: boolean}} given.mode
 * @param {() => object} given.deck   gives reveal; it is asked for late, as its options are made before it is
 * @param {{help?: () => void, contents?: () => void, search?: () => void}} given.opens   what keys open; filled in as it comes
 * @returns {(event: {keyCode: number}) => boolean} false: reveal lets the key alone
 */
export function stageKeys({ mode, deck: deckOf, opens }) {
  const acts = {
    wake: (deck) => deck.togglePause(false),
    close(deck) {
      document.querySelector(HELP_DIALOG)?.close();
      // reveal's own overlays, such as a picture shown large
      deck.toggleHelp(false);
    },
    overview: (deck) => deck.toggleOverview(),
    fullscreen: () => enterFullscreen(),
    next: (deck) => deck.next(),
    help: () => opens.help?.(),
    contents: () => opens.contents?.(),
    search: () => opens.search?.(),
    swallow: () => {},
  };
  return (event) => {
    const deck = deckOf();
    const answer = decide(event, {
      explore: mode.explore,
      receiver: mode.receiver,
      paused: deck.isPaused(),
      overlay: deck.isOverlayOpen() || document.querySelector(HELP_DIALOG) !== null,
      overview: deck.isOverview(),
      focus: focusKind(document.activeElement),
    });
    if (answer === "pass") return true;
    if (answer === "leave") return false;
    if (answer === "close, pass") {
      acts.close(deck);
      return true;
    }
    acts[answer](deck);
    event.preventDefault?.();
    return false;
  };
}

/** What kind of thing has the focus. */
function focusKind(element) {
  const modal = document.querySelector("dialog:modal");
  if (modal && !modal.matches(HELP_DIALOG)) return "dialog";
  if (!element || element === document.body) return "none";
  if (element.isContentEditable || element.matches("input, textarea, select")) return "text";
  return element.closest("a[href], button, summary, [role='button']") ? "control" : "none";
}

function enterFullscreen() {
  if (document.fullscreenElement) return;
  document.documentElement.requestFullscreen?.().catch((error) => {
    // A browser may refuse it to a page in a frame; the slides are shown all the same.
    console.warn(`No full screen: ${error.message}`);
  });
}
