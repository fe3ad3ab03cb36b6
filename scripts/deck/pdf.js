/** Prints the deck: every slide a page, charts drawn, and, if asked for, the notes of each slide on a page of their own. */
/* global document, window -- in functions that run in the page */

import { launchChromium } from "./chromium.js";
import { readPdf } from "./printed-file.js";

const READY_MS = 180_000;
/** Charts are pictures on the page: twice the pixels of the stage stay sharp on paper and when zoomed in. */
const SHARPNESS = 2;

/**
 * @typedef {object} Print
 * @property {Buffer|null} pdf   null if charts cannot be drawn, and nobody wants an incomplete print
 * @property {{slides: number, notes: number, pages: number}} count   pages: of the file
 * @property {string[]} fonts   their names
 * @property {string[]} charts     what is wrong with charts, a sentence each
 * @property {string[]} problems   what else is wrong, a sentence each
 */

/**
 * Prints the deck that a server shows.
 * @param {string} url   the deck's address, with the data set in its query
 * @param {{cut: string|null, appendix: boolean, notes: boolean, theme: string, incomplete: boolean, say: (step: string) => void}} wanted
 *   incomplete: print even if charts cannot be drawn; say: called with each step as it begins
 * @returns {Promise<Print>}
 */
export async function printDeck(url, { cut, appendix, notes, theme, incomplete, say }) {
  say("Starting Chromium");
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({
      viewport: { width: 1280, height: 720 },
      deviceScaleFactor: SHARPNESS,
      reducedMotion: "reduce",
    });
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    say("Laying out the slides, drawing the charts");
    await page.goto(printAddress(url, { cut, appendix, notes, theme }));
    await page.waitForSelector("html[data-charts-ready]", { timeout: READY_MS }).catch((error) => {
      throw new Error(complaints.join("; ") || error.message.split("\n", 1)[0], { cause: error });
    });
    if (notes) await page.evaluate(headNotes);
    const facts = await page.evaluate(factsOfPrint);
    const outcome = ({ pdf, pages, fonts }) => ({
      ...{ pdf, fonts, charts: facts.charts, count: { slides: facts.slides, notes: facts.notes, pages } },
      problems: [...problemsOf({ ...facts, pages, notesWanted: notes }), ...complaints],
    });
    // Nobody would get the file.
    if (facts.charts.length > 0 && !incomplete)
      return outcome({ pdf: null, pages: facts.slides + facts.notes, fonts: [] });
    say(`Printing ${facts.slides} slides`);
    const pdf = await page.pdf({
      preferCSSPageSize: true,
      printBackground: true,
      tagged: true,
      outline: true,
    });
    say("Checking the file");
    return outcome({ pdf, ...(await readPdf(pdf)) });
  } finally {
    await browser.close();
  }
}

/** The address of the print view. Pure. */
export function printAddress(url, { cut, appendix, notes, theme }) {
  const address = new URL(url);
  address.searchParams.set("view", "print");
  address.searchParams.set("theme", theme);
  if (cut !== null) address.searchParams.set("cut", cut);
  if (!appendix) address.searchParams.set("no-appendix", "");
  // Read by reveal.js itself.
  if (notes) address.searchParams.set("showNotes", "separate-page");
  return address.href;
}

/** What is wrong with a print, from what the page and the file say. Pure. @returns {string[]} */
export function problemsOf({ slides, expected, notes, noted, overfull, pages, notesWanted }) {
  const problems = [];
  if (slides !== expected) problems.push(`The print has pages for ${slides} of ${expected} slides.`);
  if (notesWanted && notes !== noted)
    problems.push(`The print has the notes of ${notes} of ${noted} slides.`);
  if (pages !== slides + notes)
    problems.push(`The file has ${pages} pages for ${slides} slides and ${notes} pages of notes.`);
  for (const id of overfull) problems.push(`The notes of ${id} do not fit on a page.`);
  return problems;
}

/** Puts above each page of notes which slide they belong to. Runs in the page. */
function headNotes() {
  for (const notes of document.querySelectorAll(".speaker-notes-pdf")) {
    const slide = notes.previousElementSibling?.querySelector("section");
    const title = slide?.querySelector("h1, h2");
    const heading = document.createElement("h3");
    heading.textContent = title?.innerText.trim() || slide?.id || "";
    notes.prepend(heading);
  }
}

/** What the laid out print holds. Runs in the page. */
function factsOfPrint() {
  const { charts } = window.replay.charts;
  const pages = [...document.querySelectorAll(".pdf-page")];
  const notes = [...document.querySelectorAll(".speaker-notes-pdf")];
  const all = [...document.querySelectorAll(".slides section:not(.stack)")];
  const idOf = (element) => element.closest(".pdf-page")?.querySelector("section")?.id ?? "?";
  return {
    slides: pages.length,
    expected: all.length,
    notes: notes.length,
    noted: all.filter((slide) => slide.querySelector("aside.notes")?.textContent.trim()).length,
    overfull: notes
      .filter((page) => page.scrollHeight > page.clientHeight + 1 || page.scrollWidth > page.clientWidth + 1)
      .map((page) => idOf(page.previousElementSibling)),
    charts: [...document.querySelectorAll(".pdf-page canvas[data-chart]:not([data-when][hidden] *)")]
      .map((canvas) => ({ canvas, slot: charts.get(canvas) }))
      .filter(({ slot }) => !slot?.chart || slot.error)
      .map(
        ({ canvas, slot }) =>
          `${idOf(canvas)}: ${slot?.error ? (slot.error.message ?? slot.error) : `${slot?.url ?? canvas.dataset.chartSrc} is not drawn`}`,
      ),
  };
}
