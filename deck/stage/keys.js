/**
 * What keyboard keys and clicker buttons do, if that differs from reveal: on stage no key leads to a place that a
 * clicker cannot leave, and for a reader keys go to the focused element.
 *
 * reveal asks `keyboardCondition` about every key, including those that the speaker view passes on. `decide`, which is pure,
 * chooses the answer, and `stageKeys` carries it out.
 */

import { kept } from "../page/kept.js";
import { slidesIn } from "../text/slide-data.js";

/** reveal identifies keys by their code; its speaker view sends nothing else. */
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
  r: 82,
  f1: 112,
  f5: 116,
  slash: 191,
};
const ARROWS = [CODE.left, CODE.up, CODE.right, CODE.down];
/** Keys that go forward or back, whichever the clicker sends. */
export const GOING = [
  ...[CODE.enter, CODE.space, CODE.pageUp, CODE.pageDown, ...ARROWS],
  ...[CODE.h, CODE.j, CODE.k, CODE.l, CODE.n, CODE.p],
];
/** Keys by which reveal itself ends the black screen. A key that only starts it must end it on the next press. */
const BLACK = { leaves: [66, 86, 190], onlyEnters: [58, 59, CODE.slash] };
/** Keys on which links, buttons and the like act themselves. */
export const PRESSES = [CODE.enter, CODE.space];
/** With Ctrl or the like, a browser loads the page again. */
export const RELOADS = [CODE.r, CODE.f5];
export const HELP_DIALOG = "dialog.keys-help[open]";
/** Speech input types whole words, and each of their letters would be a key: somebody who uses it turns these keys off. */
export const CHARACTER_KEYS = { name: "replay-character-keys", off: "off" };

/** Whether a key types a letter, digit or sign. Space moves on, as a clicker does. */
export const isCharacter = ({ key }) => key?.length === 1 && key !== " ";

export const charactersAct = () => kept(CHARACTER_KEYS.name) !== CHARACTER_KEYS.off;

/**
 * What to do with a key.
 *
 * | answer | |
 * |---|---|
 * | `pass` | reveal, or the key's binding, handles it |
 * | `leave` | the focused element, or the browser, handles it |
 * | `swallow` | nothing happens |
 * | `wake` | the black screen ends |
 * | `close` | the overlay above the slides closes |
 * | `close, pass` | the overlay closes, and the key takes effect |
 * | `next` | the same as a clicker's button |
 * | `first`, `last` | goes to that slide, where reveal goes to the one of its stack that was seen last |
 * | `overview`, `fullscreen`, `help`, `contents`, `search` | opens it |
 *
 * @param {{keyCode: number, key?: string, shiftKey?: boolean, ctrlKey?: boolean, metaKey?: boolean}} key   reveal's speaker
 *   view passes on the code alone
 * @param {{explore: boolean, paused: boolean, overlay: boolean, overview: boolean, receiver?: boolean,
 *          characters?: boolean, focus: "none"|"control"|"text"|"dialog"}} state   overlay: the list of keys, or another
 *   overlay of reveal; characters: whether keys of a letter, digit or sign do anything; focus: what kind of element has it
 * @returns {string}
 */
export function decide(
  key,
  { explore, paused, overlay, overview, receiver = false, characters = true, focus },
) {
  const { keyCode, shiftKey = false } = key;
  if (focus === "dialog" || focus === "text") return "leave";
  if (key.ctrlKey || key.metaKey) {
    // Loaded again, the speaker's window around it would be empty.
    if (receiver && RELOADS.includes(keyCode)) return "swallow";
    return explore && keyCode === CODE.k ? "search" : "leave";
  }
  if (keyCode === CODE.tab) return "leave";
  if (!characters && isCharacter(key)) return "leave";
  if (focus === "control" && PRESSES.includes(keyCode)) return "leave";
  if (paused) return blackScreen(keyCode);
  if (overlay) return overOverlay(key);
  if (keyCode === CODE.f1 || isQuestionMark(key)) return "help";
  if (explore && keyCode === CODE.home) return "first";
  if (explore && keyCode === CODE.end) return "last";
  if (overview) return keyCode === CODE.escape || keyCode === CODE.o ? "overview" : "pass";
  // Escape closes and never opens anything. Some clickers send it with every other press of one button.
  if (keyCode === CODE.escape) return "swallow";
  // Contents and search do this better than reveal.
  if (keyCode === CODE.g) return explore ? "contents" : "swallow";
  if (receiver && keyCode === CODE.f) return "swallow";
  return explore ? forReader(keyCode) : onStage(keyCode, shiftKey);
}

/** Its position on the keyboard depends on the language. */
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
  // The end of the deck is far from the current slide, and nothing leads back.
  if ([CODE.home, CODE.end].includes(keyCode)) return "swallow";
  if (shiftKey && ARROWS.includes(keyCode)) return "swallow";
  // A clicker's “start the slide show” button sends this; the browser would reload the deck.
  if (keyCode === CODE.f5) return "fullscreen";
  if (keyCode === CODE.enter) return "next";
  return "pass";
}

/**
 * The function that reveal calls for each key.
 * @param {object} given
 * @param {{explore: boolean, receiver: boolean}} given.mode
 * @param {() => object} given.deck   gives reveal; called late, because reveal is made after its options
 * @param {{help?: () => void, contents?: () => void, search?: () => void}} given.opens   what keys open; filled in later
 * @returns {(event: {keyCode: number}) => boolean} false: reveal ignores the key
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
    first: (deck) => goTo(deck, 0),
    last: (deck) => goTo(deck, -1),
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
      characters: charactersAct(),
      // What the speaker view passes on is not meant for what has the focus here.
      focus: event.target ? focusKind(focused()) : "none",
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

/** The focused element. A browser takes the focus out of a dialog that was closed only with its next frame. */
function focused() {
  const element = document.activeElement;
  if (!element?.closest("dialog:not([open])")) return element;
  element.blur();
  return document.activeElement;
}

/** What kind of element has the focus. */
function focusKind(element) {
  const modal = document.querySelector("dialog:modal");
  if (modal && !modal.matches(HELP_DIALOG)) return "dialog";
  if (!element || element === document.body) return "none";
  if (element.isContentEditable || element.matches("input:not([type='checkbox']), textarea, select"))
    return "text";
  return element.closest("a[href], button, input, summary, [role='button']") ? "control" : "none";
}

/** @param {number} at   of all slides; -1 is the last */
function goTo(deck, at) {
  const { h, v } = deck.getIndices(slidesIn(deck.getSlidesElement()).at(at));
  deck.slide(h, v);
}

function enterFullscreen() {
  if (document.fullscreenElement) return;
  document.documentElement.requestFullscreen?.().catch((error) => {
    // A browser may refuse full screen to a page in a frame; the slides are still shown.
    console.warn(`No full screen: ${error.message}`);
  });
}
