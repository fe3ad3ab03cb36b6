/**
 * The table of contents, with a search: a dialog, so that the focus stays inside and Escape closes it. It is rebuilt each
 * time it opens, because texts depend on the current data.
 */

import { button, element } from "../page/elements.js";
import { addressWith } from "../page/mode.js";
import { chaptersOf, minutes, outlineOf } from "./outline.js";

const make = (...given) => element(document, ...given);

/**
 * @param {{deck: object, mode: {cut: number, cuts: number[]}, announce: (text: string) => void}} given
 * @returns {{open: (options?: {search?: boolean}) => void}} search: focus the search field rather than the current slide
 */
export function Contents({ deck, mode, announce }) {
  let dialog = null;

  function open({ search = false } = {}) {
    if (dialog?.open) {
      if (search) dialog.querySelector("input").focus();
      return;
    }
    // A dialog learns only with the next frame that it was closed. A key pressed before that opens a new one.
    dialog?.remove();
    const slides = outlineOf(deck.getRevealElement());
    const current = deck.getCurrentSlide()?.id;
    dialog = make("dialog", { class: "reader-dialog", "aria-labelledby": "contents-title" });
    const body = make("div", { class: "contents-body" });
    const input = searchField();
    const close = button(document, { class: "close", "aria-label": "Close" }, "×", () => dialog.close());
    const title = make("h2", { id: "contents-title" }, "Contents");
    const count = make("p", { class: "contents-count", role: "status" });
    dialog.append(make("header", {}, title, close), input.box, count, body);
    const showContents = () => {
      count.textContent = "";
      const chapters = chaptersOf(slides).map((chapter) => chapterPart(chapter, current));
      body.replaceChildren(...cutLinks(mode), ...chapters, ...otherTalks(mode), ...matrixLink());
    };
    showContents();
    const findNow = () => find(input.field.value.trim(), { slides, body, count, showContents });
    input.field.addEventListener("input", debounced(findNow));
    dialog.addEventListener("click", ({ target }) => {
      // A link to a slide, or the backdrop.
      if (target.closest('a[href^="#/"]') || target === dialog) dialog.close();
    });
    dialog.addEventListener("keydown", (event) => moveWithin(event, dialog, { field: input.field, findNow }));
    const opened = dialog;
    opened.addEventListener("close", () => {
      opened.remove();
      if (dialog === opened) dialog = null;
    });
    document.body.append(dialog);
    dialog.showModal();
    const here = body.querySelector('a[href^="#/"][aria-current]');
    here?.scrollIntoView({ block: "center" });
    (search || !here ? input.field : here).focus();
  }

  /** Returns the links to what it shows; none if the query has changed meanwhile. */
  async function find(query, { slides, body, count, showContents }) {
    if (query === "") {
      showContents();
      return [];
    }
    try {
      const { searchIn } = await import("./search.js");
      const results = searchIn(slides)(query);
      // The query may have changed by now.
      if (!dialog || dialog.querySelector("input").value.trim() !== query) return [];
      count.textContent = countWords(results.length, query);
      dialog.scrollTop = 0;
      body.replaceChildren(make("ol", { class: "contents-results" }, ...results.map(resultPart)));
      return linksIn(body);
    } catch (error) {
      console.error(error);
      count.textContent = `The search could not be loaded: ${error.message}. Reload the page.`;
      announce(count.textContent);
      return [];
    }
  }

  return { open };
}

/** "3 slides mention “cache”" */
export function countWords(count, query) {
  if (count === 0) return `No slide mentions “${query}”.`;
  return count === 1 ? `One slide mentions “${query}”.` : `${count} slides mention “${query}”.`;
}

function searchField() {
  const field = make("input", {
    type: "search",
    id: "contents-search",
    autocomplete: "off",
    spellcheck: "false",
  });
  const label = make("label", { for: "contents-search" }, "Search slides, notes and charts");
  return { field, box: make("div", { class: "contents-search" }, label, field) };
}

/** Nothing where there is one cut and so no choice. */
function cutLinks({ cut: shown, cuts }) {
  if (cuts.length === 1) return [];
  const links = cuts
    .toSorted((a, b) => a - b)
    .flatMap((cut, at) => {
      const address = addressWith(location.href, { cut: String(cut) });
      const link = make(
        "a",
        { href: address, "aria-current": cut === shown ? "true" : null },
        `${cut} minutes`,
      );
      return at === 0 ? [link] : [at === cuts.length - 1 ? " or " : ", ", link];
    });
  return [make("p", { class: "contents-cuts" }, "The talk in ", ...links)];
}

function otherTalks({ others }) {
  // Where nothing is published, only this word makes a deck a reader's.
  const explored = new URLSearchParams(location.search).has("explore") ? "?explore" : "";
  return others.map(({ title, page }) =>
    make("p", {}, "Another talk: ", make("a", { href: page + explored }, title)),
  );
}

/** The page of claims by data set, where the site has one. */
function matrixLink() {
  const href = document.querySelector('meta[name="replay:matrix"]')?.content;
  return href ? [make("p", {}, make("a", { href }, "Every claim, by data set"))] : [];
}

function chapterPart({ title, appendix, seconds, slides }, current) {
  const length = appendix ? "appendix" : minutes(seconds);
  const heading = make("h3", {}, title, " ", make("span", { class: "length" }, length));
  const list = make("ol", {}, ...slides.map((slide) => make("li", {}, slideLink(slide, current))));
  return make("section", {}, heading, list);
}

function slideLink({ id, title }, current) {
  const attributes = { href: `#/${encodeURIComponent(id)}`, "aria-current": id === current ? "true" : null };
  return make("a", attributes, title);
}

function resultPart({ slide, excerpt }) {
  const words = excerpt.map(({ text, found }) => (found ? make("mark", {}, text) : text));
  const chapter = make("span", { class: "length" }, slide.chapter);
  return make("li", {}, slideLink(slide), " ", chapter, make("p", {}, ...words));
}

function linksIn(body) {
  return [...body.querySelectorAll('a[href^="#/"]')];
}

/** Arrow keys move from the field to the slides and between them; Enter in the field opens the first found; Escape closes. */
function moveWithin(event, dialog, { field, findNow }) {
  const links = linksIn(dialog.querySelector(".contents-body"));
  const at = links.indexOf(document.activeElement);
  if (event.key === "Escape") {
    // A search field would only clear itself.
    dialog.close();
  } else if (event.key === "Enter" && document.activeElement === field && field.value.trim() !== "") {
    // The list may still be that of what was in the field before.
    findNow().then(([first]) => first?.click());
  } else if (event.key === "ArrowDown") {
    (links[at + 1] ?? links[0])?.focus();
  } else if (event.key === "ArrowUp" && at >= 0) {
    (links[at - 1] ?? field).focus();
  } else {
    return;
  }
  event.preventDefault();
}

function debounced(act, wait = 80) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };
}
