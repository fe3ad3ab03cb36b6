/**
 * reveal writes the document of the speaker view; this module makes it accessible: landmarks, headings in order, names for
 * its frames and its menu, a pace that is not shown by colour alone, and dark colours for a dark hall. It also passes keys on
 * to the talk.
 */

import { button, element } from "../page/elements.js";
import { CODE, GOING, PRESSES, RELOADS, charactersAct, isCharacter } from "./keys.js";

const STYLE = `
  body { background: var(--paper, #fff); color: var(--ink, #1b1d22); }
  .hidden-title { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  #speaker-controls .label, #speaker-controls .reset-button { color: var(--muted, #565b66); }
  #speaker-controls .reset-button {
    opacity: 1; padding: 0; border: 0; background: none; cursor: pointer; text-decoration: underline;
    font: inherit; font-size: 0.8em;
  }
  .speaker-controls-time .clock { clear: right; }
  #speaker-controls span.mute { opacity: 1; color: var(--muted, #565b66); }
  #speaker-controls .pacing.ahead { color: var(--ahead, #0b57a4); }
  #speaker-controls .pacing.on-track { color: var(--on-time, #17652a); }
  #speaker-controls .pacing.behind { color: var(--over, #a3200d); }
  #speaker-controls .pacing::after { margin-left: 0.6em; font-weight: 700; }
  #speaker-controls .pacing.ahead::after { content: "ahead"; }
  #speaker-controls .pacing.on-track::after { content: "on time"; }
  #speaker-controls .pacing.behind::after { content: "over time"; }
  #speaker-controls .value p { margin: 0 0 0.6em; }
  /* Notes have half of the window, so that none needs scrolling: no clicker scrolls. */
  @media screen and (min-width: 1000px) {
    body[data-speaker-layout="default"] :is(#current-slide, #upcoming-slide) {
      left: 0; right: auto; width: 50%; height: 50%; padding-right: 6px;
    }
    body[data-speaker-layout="default"] #upcoming-slide { top: 50%; }
    body[data-speaker-layout="default"] #speaker-controls { top: 0; width: 50%; height: 100%; font-size: 16px; }
    body[data-speaker-layout="default"] .speaker-controls-time { padding: 4px 16px 8px; margin-bottom: 4px; }
    body[data-speaker-layout="default"] .speaker-controls-notes { padding: 4px 16px; }
    body[data-speaker-layout="default"] .speaker-controls-notes .value {
      font-size: calc(17px * var(--notes-size, 1)); line-height: 1.36;
    }
    body[data-speaker-layout="default"] #speaker-layout { top: auto; bottom: 10px; }
  }
  #speaker-controls .value p[aria-current] {
    margin-left: -12px; padding-left: 8px; border-left: 4px solid var(--accent);
  }
  #speaker-controls :is(.here, .left-out) { margin: 4px 0; font-size: 14px; }
  #speaker-controls .left-out { padding: 4px 16px; }
  #speaker-controls .here { display: flex; gap: 16px; font-variant-numeric: tabular-nums; }
  #speaker-controls .step { font-weight: 700; }
  #speaker-controls .times { font-size: 13px; }
  #speaker-controls .times :is(td, th) { padding: 1px 12px 1px 0; text-align: left; font-variant-numeric: tabular-nums; }
  #speaker-controls .notes-size { float: right; display: flex; gap: 4px; }
  #speaker-controls .notes-size button {
    min-height: 28px; padding: 0 8px; border: 1px solid var(--muted, #565b66); border-radius: 4px;
    background: none; color: inherit; font: inherit; cursor: pointer;
  }
  #upcoming-slide .label { top: auto; bottom: 10px; }
  /* With the focus there, keys would turn the pages of this picture alone. */
  #upcoming-slide iframe { pointer-events: none; }
  .overlay-element { background: #e4e4e4; color: #1b1d22; }
  #speaker-layout:focus-within, #speaker-controls :focus-visible, #speaker-controls:focus-visible {
    outline: 3px solid var(--accent); outline-offset: 2px;
  }
  #connection-status { background: var(--paper, #fff); color: var(--ink, #1b1d22); }
  @media (prefers-color-scheme: dark) {
    :root {
      --paper: #14161c; --ink: #f3f1ea; --muted: #b4b8c2;
      --ahead: #7cc4f5; --on-time: #6fd18b; --over: #ff9b85;
      color-scheme: dark;
    }
  }
`;
const MENDED = "replayMended";
/** What a clicker sends is for the talk, whatever has the focus. */
const CLICKED = [CODE.pageUp, CODE.pageDown];

/** The window that `act` opens, or null: the plugin does not expose it. */
export function openedBy(act) {
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
 * Also called when the stage was loaded again: what listened for the page that it was before no longer does.
 * @param {Document} page   of the speaker view, as reveal wrote it
 * @param {{title: string, accent: string, leftOut: string}} talk   accent: a colour; leftOut: `data-left-out` of the stage
 */
export function mendSpeakerWindow(page, { title, accent, leftOut }) {
  page.addEventListener("keydown", passOn, { capture: true });
  renewPreviews(page, leftOut);
  if (page.documentElement.dataset[MENDED]) return;
  page.documentElement.dataset[MENDED] = "true";
  page.documentElement.lang = "en";
  page.documentElement.style.setProperty("--accent", accent);
  page.title = `Speaker view – ${title}`;
  page.head.append(element(page, "style", {}, STYLE));
  const find = (selector) => page.querySelector(selector);
  const controls = find("#speaker-controls");
  if (!controls) return;
  controls.prepend(element(page, "h1", { class: "hidden-title" }, "Speaker view"));
  say(controls, { role: "main", tabindex: "0", "aria-label": "Clock, pace and notes" });
  say(find("#current-slide"), { role: "region", "aria-label": "Current slide" });
  say(find("#upcoming-slide"), { role: "region", "aria-label": "Next slide" });
  say(find("#speaker-layout"), { role: "region", "aria-label": "Layout of this view" });
  say(find("#connection-status"), { role: "status" });
  say(find(".speaker-layout-dropdown"), { "aria-label": "Layout" });
  for (const label of controls.querySelectorAll("h4")) say(label, { role: "heading", "aria-level": "2" });
  takeResetOut(page);
  nameFrames(find("#current-slide"), "Current slide");
  nameFrames(find("#upcoming-slide"), "Next slide");
}

/**
 * Passes a key on to the preview in place of reveal, which passes on its code alone: the preview would take Ctrl+P for P,
 * Shift+Space for Space, and “?”, where that is Shift and a slash, for a slash, which blackens the screen.
 */
function passOn(event) {
  event.stopImmediatePropagation();
  const code = codeFor(event);
  // It acts once: the notes do not scroll as well, and no search opens. Loaded again, this window would be empty.
  const kept = code === null ? RELOADS : [...GOING, CODE.slash, CODE.f1];
  if (kept.includes(event.keyCode)) event.preventDefault();
  if (code === null) return;
  const preview = event.currentTarget.querySelector("#current-slide iframe");
  preview?.contentWindow.postMessage(JSON.stringify({ method: "triggerKey", args: [code] }), "*");
}

/** The code to pass on; null if the key is for the browser, or for what has the focus. */
function codeFor(event) {
  const { key, keyCode, shiftKey, ctrlKey, metaKey, altKey, target } = event;
  if (ctrlKey || metaKey || altKey || keyCode === CODE.f5) return null;
  if (isCharacter(event) && !charactersAct()) return null;
  if (target.closest("select") ? !CLICKED.includes(keyCode) : isPressed(target, keyCode)) return null;
  if (key === "?") return CODE.question;
  if (shiftKey) return keyCode === CODE.space ? CODE.pageUp : null;
  return keyCode;
}

function isPressed(target, keyCode) {
  return PRESSES.includes(keyCode) && target.closest("a, button, summary") !== null;
}

/** A preview that was opened before data came or went has other slides than the stage, which was loaded again. */
function renewPreviews(page, leftOut) {
  for (const { contentDocument: preview } of page.querySelectorAll("iframe")) {
    const own = preview?.documentElement?.dataset.leftOut;
    if (own !== undefined && own !== leftOut) preview.location.reload();
  }
}

function say(part, attributes) {
  for (const [name, value] of Object.entries(attributes)) part?.setAttribute(name, value);
}

/** Clicking the clock sets it to this slide's start; this turns the words that say so into a button. */
function takeResetOut(page) {
  const words = page.querySelector(".reset-button");
  if (!words) return;
  // Next to the heading: inside it, the button would be read as part of its name.
  words.closest("h4").before(button(page, { class: words.className }, "Set to this slide"));
  words.remove();
}

/** Frames appear once the two windows have found each other. */
function nameFrames(place, name) {
  if (!place) return;
  const { MutationObserver } = place.ownerDocument.defaultView;
  const write = () => {
    for (const frame of place.querySelectorAll("iframe")) frame.title = name;
  };
  new MutationObserver(write).observe(place, { childList: true });
  write();
}
