/** The deck on paper: the view that is printed. pdf.test.js prints it. */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { slideIds, startDeck } from "../support/deck.js";
import { patient } from "../../support/patience.mjs";

/** CSS pixels of a page of 1280 × 720, of a text in a drawing. */
const SMALLEST_TEXT_PX = 12;

const deck = await startDeck({ shipped: true });
after(() => deck.close());

async function openPrinted(query) {
  const page = await deck.openDeck(`?data=tentacle&${query}`, { colorScheme: "dark" });
  await page.waitForSelector("html[data-charts-ready]", { timeout: patient(20_000) });
  return page;
}

/** The files of the canvases on paper without a pixel. Runs in the page. */
const blankCanvases = () =>
  [...document.querySelectorAll(".pdf-page canvas[data-chart]:not([data-when][hidden] *)")]
    .filter((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return !data.some((value) => value !== 0);
    })
    .map((canvas) => `${window.replay.charts.charts.get(canvas).src} (${canvas.width}×${canvas.height})`);

test("the print view has a page for each slide, each chart drawn, in light colours", async () => {
  const page = await openPrinted("view=print");
  const blank = await page.evaluate(blankCanvases);
  const facts = await page.evaluate(() => ({
    pages: document.querySelectorAll(".pdf-page").length,
    slides: document.querySelectorAll(".pdf-page > section").length,
    missing: [...window.replay.charts.charts.values()]
      .filter(({ canvas }) => !canvas.matches("[data-when][hidden] *"))
      .filter(({ chart, error }) => !chart || error)
      .map(({ src }) => src),
    tooHigh: [...document.querySelectorAll(".pdf-page")].filter((one) => one.scrollHeight > 722).length,
    unseen: [...document.querySelectorAll(".pdf-page .fragment")].filter(
      (one) =>
        one.getClientRects().length > 0 &&
        (getComputedStyle(one).visibility !== "visible" || Number(getComputedStyle(one).opacity) < 1),
    ).length,
    background: getComputedStyle(document.body).backgroundColor,
    drawn: [...document.querySelectorAll(".pdf-page .drawing svg text")]
      .filter((text) => text.getClientRects().length > 0)
      .map((text) => ({
        words: text.textContent,
        size: parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a,
      })),
  }));
  assert.equal(facts.pages, facts.slides);
  assert.ok(facts.pages > 30);
  assert.deepEqual(facts.missing, []);
  assert.deepEqual(blank, []);
  assert.equal(facts.tooHigh, 0);
  assert.equal(facts.unseen, 0, "a step that is not on paper");
  assert.equal(facts.background, "rgb(253, 252, 249)");
  // A drawing stands once, as after its last step, and as large as on the stage.
  assert.equal(facts.drawn.filter(({ words }) => words === "as old as the picture").length, 1);
  assert.deepEqual(
    facts.drawn.filter(({ size }) => !(size >= SMALLEST_TEXT_PX)),
    [],
  );
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("a notice takes no room on paper", async () => {
  const page = await deck.openDeck("?data=nowhere&view=print");
  await page.waitForSelector("html[data-charts-ready]", { timeout: patient(20_000) });
  // A notice on a stage takes it by now.
  await page.waitForFunction(() => document.documentElement.style.getPropertyValue("--notices") > "0px");
  assert.equal(await page.$eval(".pdf-page", (first) => first.getBoundingClientRect().top + scrollY), 0);
  await page.close();
});

test("the shorter cut has fewer pages, those of its slides, and no reader's control is on paper", async () => {
  const screen = await deck.openDeck("?data=tentacle&cut=20");
  const ids = await slideIds(screen);
  await screen.close();
  const page = await openPrinted("view=print&cut=20&explore");
  const printed = await page.$$eval(".pdf-page > section", (all) => all.map(({ id }) => id));
  assert.deepEqual(printed, ids);
  await page.emulateMedia({ media: "print" });
  const controls = await page.$$eval("button, input, select, dialog[open]", (all) =>
    all.filter((one) => one.getClientRects().length > 0).map((one) => one.outerHTML.slice(0, 80)),
  );
  assert.deepEqual(controls, []);
  await page.close();
});
