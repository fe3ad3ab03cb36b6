/**
 * The reader's controls, which do not exist on stage: a bar with contents, search, notes and navigation, for people who do
 * not know the keys. It is below the slides, never on top of them. It is fetched only in explore mode.
 */

import "../../css/reader.css";

import { button, element } from "../page/elements.js";
import { copyText } from "../page/copying.js";
import { addressWith } from "../page/mode.js";
import { bundleChooser } from "../page/bundle-taking.js";
import { showNotice } from "../page/notice.js";
import { chooseTheme, onThemeChange, themeNow } from "../page/theme.js";
import { Contents } from "./contents.js";
import { NotesPanel } from "./notes-panel.js";
import { positionWords } from "./position.js";

const make = (...given) => element(document, ...given);
const BAR = "reader-bar";
const KEY_C = 67;

/**
 * @param {{stage: object, mode: object, announce: (text: string) => void}} given   stage: from `startDeck`
 * @returns {{update: () => void}} call it when texts may have changed
 */
export function showReader({ stage, mode, announce }) {
  const { deck, bindings, opens } = stage;
  const contents = Contents({ deck, mode, announce });
  const notes = NotesPanel(deck);
  const position = make("span", { class: "position" });
  const theme = act("", () => chooseTheme(themeNow() === "dark" ? "light" : "dark"));
  const notesButton = act(
    "Notes",
    () => {
      notesButton.setAttribute("aria-pressed", String(notes.toggle()));
      deck.layout();
    },
    { "aria-pressed": "false", class: "notes" },
  );
  const previous = act("‹", () => deck.prev(), { "aria-label": "Previous", class: "going" });
  const next = act("›", () => deck.next(), { "aria-label": "Next", class: "going" });

  const bar = make(
    "nav",
    { id: BAR, class: BAR, "aria-label": "Reader’s controls", tabindex: "-1" },
    act("Contents", () => contents.open(), { title: "Contents (key C)" }),
    act("Search", () => contents.open({ search: true }), { title: "Search (key /)" }),
    make("span", { class: "middle" }, previous, position, next),
    notesButton,
    act("Link", copyLink, { title: "Copy the address of this slide", class: "wide" }),
    bundleChooser(),
    act("Keys", () => opens.help(), { title: "Keys (key ?)", class: "wide" }),
    theme,
    mode.readerPage ? make("a", { href: frontAddress() }, "Front page") : null,
  );
  document.body.append(bar);
  document.body.prepend(skipLink(bar));
  bindings.add([{ code: KEY_C, key: "C", description: "Contents", run: () => contents.open() }]);
  opens.contents = () => contents.open();
  opens.search = () => contents.open({ search: true });
  opens.moved = tellMoved;
  if (stage.moved()) tellMoved(stage.moved());

  async function copyLink() {
    const copied = await copyText(addressWith(location.href, { chart: null }));
    const text = copied
      ? "Address of this slide copied."
      : "Your browser blocked copying. The address bar has the address of this slide.";
    announce(text);
    const { showToast } = await import("../page/notice.js");
    showToast(text);
  }

  /** The requested slide is not in this cut. */
  function tellMoved({ from, id, title, cut }) {
    document.querySelector(".notice.moved")?.remove();
    const url = new URL(addressWith(location.href, { cut: String(cut) }));
    url.hash = `#/${encodeURIComponent(from)}`;
    const link = make(
      "a",
      { href: url.href },
      cut > mode.cut ? "Show it in the longer cut" : "Show it in the shorter cut",
    );
    const notice = showNotice(`“${title}” is not in the ${mode.cut}-minute cut.`, [" ", link, "."]);
    notice.classList.add("moved");
    // The deck may only be on its way to the slide that is shown instead.
    deck.on("slidechanged", ({ currentSlide }) => currentSlide.id !== id && notice.remove());
  }

  function write() {
    position.textContent = positionWords(deck);
    theme.textContent = themeNow() === "dark" ? "Light" : "Dark";
    notes.write();
    previous.disabled = deck.isFirstSlide() && !deck.availableFragments().prev;
    next.disabled = deck.isLastSlide() && !deck.availableFragments().next;
  }
  for (const type of ["slidechanged", "fragmentshown", "fragmenthidden"]) deck.on(type, write);
  onThemeChange(write);
  write();
  deck.layout();
  return { update: write };
}

function act(text, press, attributes = {}) {
  return button(document, attributes, text, press);
}

/** The address without a slide: the first page. */
function frontAddress() {
  const url = new URL(location.href);
  url.hash = "";
  url.searchParams.delete("chart");
  return addressWith(url.href, {});
}

/** For keyboard users: skips the charts of a slide. */
function skipLink(bar) {
  const link = make("a", { href: `#${BAR}`, class: "skip-link" }, "To contents and controls");
  link.addEventListener("click", (event) => {
    // The deck would take this address for a slide's.
    event.preventDefault();
    bar.querySelector("button").focus();
  });
  return link;
}
