/**
 * A reader's first page, in place of the slides: the answer, its chart, who it applies to, the decision, one command. Its
 * text is the talk's `reader_page` (slides/<talk>/talk.yaml); the deck starts only when the reader opens a slide.
 */

import "../../css/front-page.css";

import { bundleChooser } from "../page/bundle-taking.js";
import { element } from "../page/elements.js";
import { namesSlide, writeAddresses } from "./addresses.js";
import { PAGE_CHARTS, chartHost } from "./chart-host.js";
import { writeCommand } from "./command.js";
import { writeConditions } from "./conditions.js";
import { writeTalkFacts } from "../text/talk-facts.js";
import { describeCells } from "../text/stacked-tables.js";
import { offerFigures } from "./tables.js";
import { readPage } from "./taken.js";

/**
 * Shows the page.
 * @param {object} given
 * @param {HTMLElement} given.root   the deck, hidden as long as the page shows
 * @param {(root: Element) => Promise<void>} given.readSlides   as `SlideReader` makes it
 * @param {(options: object) => Promise<object>} given.makeCharts   makes a chart plugin like the deck's, with these Chart.js
 *   options over its own
 * @param {(root: Element) => Promise<unknown>} given.writeTexts   fills values, texts that verdicts choose, labels, tables
 * @param {object} given.data   the data on show
 * @param {object} given.talk   what slides/<talk>/talk.yaml says of the talk
 * @returns {Promise<{charts: object, left: Promise<void>, restyle: () => void,
 *                    update: (isChanged: ((slot: object) => boolean)|null) => Promise<void>}>}
 *   left: resolves when the reader has opened a slide, the page is gone and the deck may start; update: call it when data
 *   have changed, with a predicate for the changed chart files, or null if all data are others
 * @throws {Error} when index.html has no such page
 */
export async function showFrontPage({ root, readSlides, makeCharts, writeTexts, data, talk }) {
  const template = document.querySelector("template#front-page");
  if (template === null) throw new Error('index.html has no <template id="front-page">');
  const page = document.createElement("main");
  page.className = "front-page";
  page.append(...(await readPage({ template, root, readSlides })));
  if (!page.querySelector('a[href^="#/"]')) page.append(wayToSlides());
  writeAddresses(page, location.href, talk.cuts[0]);
  writeCommand(page, talk.repository);
  offerBundles(page);
  writeTalkFacts(page, talk);

  const write = () => {
    const written = writeTexts(page);
    writeConditions(page, data.about());
    for (const table of page.querySelectorAll("section > table")) describeCells(table);
    return written;
  };
  const written = write();
  root.hidden = true;
  root.before(page);

  const charts = await makeCharts(PAGE_CHARTS);
  const host = chartHost(page);
  const resized = () => host.tell("resize");
  charts.init(host);
  offerFigures(page, { slots: charts.charts, data });
  host.tell("ready");
  addEventListener("resize", resized);
  await written;
  document.documentElement.dataset.frontReady = "true";

  return {
    charts,
    left: slideAskedFor().then(() => {
      removeEventListener("resize", resized);
      charts.destroy();
      page.remove();
      root.hidden = false;
      delete document.documentElement.dataset.frontReady;
      scrollTo(0, 0);
      returnOnBack();
    }),
    async update(isChanged) {
      await write();
      if (isChanged === null) await charts.remake();
      else await charts.refresh((slot) => slot.moved || isChanged(slot));
    },
    restyle: () => charts.restyle(),
  };
}

/** Numbers that a reader already has. */
function offerBundles(page) {
  const chooser = bundleChooser();
  if (chooser === null) return;
  const command = element(document, "code", {}, "replay bundle");
  const words = [" Or drop anywhere on this page what ", command, " wrote. It stays in this browser."];
  const line = element(document, "p", { class: "own-numbers" }, chooser, ...words);
  page.querySelector("[data-command]")?.after(line);
}

/** Resolves when the address names a slide. */
function slideAskedFor() {
  return new Promise((resolve) => {
    const look = () => {
      if (!namesSlide(location.hash)) return;
      removeEventListener("hashchange", look);
      resolve();
    };
    addEventListener("hashchange", look);
    look();
  });
}

/**
 * Going back to the address without a slide loads this page again. Call this before the deck starts, or the deck takes that
 * address for its first slide.
 */
function returnOnBack() {
  addEventListener("hashchange", (event) => {
    if (namesSlide(location.hash)) return;
    event.stopImmediatePropagation();
    location.reload();
  });
}

/** Shown if the page's text could not be read. */
function wayToSlides() {
  return element(document, "p", {}, element(document, "a", { href: "#/" }, "Open the slides"));
}
