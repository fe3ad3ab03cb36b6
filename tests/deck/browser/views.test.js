/** The deck's other views: overview, scroll view, paper; and what readers can expect of every view. */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { READY } from "../support/browser.js";
import { chartsOf, goTo, startDeck } from "../support/deck.js";
import { drawingProblems } from "../support/drawing.js";

/** CSS pixels of a page of 1280 × 720, of a text in a drawing. */
const SMALLEST_TEXT_PX = 12;

const deck = await startDeck({ shipped: true });
after(() => deck.close());

test("the deck is a document, not an application, every chart is an image with a summary, and with reduced motion nothing moves", async () => {
  const page = await deck.openDeck();
  assert.equal(await page.locator('[role="application"]').count(), 0);
  assert.equal(await page.locator(".slides").getAttribute("role"), "main");
  await goTo(page, "throughput-write-seq");
  const canvas = page.locator("#throughput-write-seq canvas");
  assert.equal(await canvas.getAttribute("role"), "img");
  assert.match(await canvas.getAttribute("aria-label"), /I\/O size from 4 KiB to 4 MiB/);
  const heading = await page.innerText("#throughput-write-seq h2");
  assert.equal(await page.title(), `${heading} – What does your RPO cost?`);
  const longest = await page.evaluate(() =>
    Math.max(
      ...[...document.querySelectorAll(".reveal *")].map((element) =>
        Math.max(...getComputedStyle(element).transitionDuration.split(",").map(parseFloat)),
      ),
    ),
  );
  assert.ok(longest <= 0.01, `${longest} s`);
});

test("the overview shows slides with their charts, and leaving it shows the slide that was chosen", async () => {
  const page = await deck.openDeck("?data=fixture&explore", { hash: "#/journal-ratio" });
  await goTo(page, "journal-ratio");
  await page.evaluate(() => window.replay.deck.toggleOverview(true));
  await page.evaluate(() => window.replay.charts.ready());
  /** How many charts are in sight, once all of them are drawn. */
  const inSight = await page.waitForFunction(() => {
    const charts = [...window.replay.charts.charts.values()].filter(({ canvas }) => {
      const { left, top, right, bottom, width } = canvas.getBoundingClientRect();
      return width > 0 && right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
    });
    return charts.every(({ chart }) => chart) && charts.length;
  });
  assert.ok((await inSight.jsonValue()) >= 4);
  // Sharp: a chart has as many pixels as the screen shows of it.
  const pixelsEach = () =>
    [...window.replay.charts.charts.values()]
      .filter(({ chart, canvas }) => chart && canvas.getBoundingClientRect().width > 0)
      .map(({ canvas }) => canvas.width / devicePixelRatio / canvas.getBoundingClientRect().width);
  await page.waitForFunction(`(${pixelsEach})().every((pixels) => pixels > 0.9 && pixels < 1.1)`);
  assert.ok((await page.evaluate(pixelsEach)).length >= 4);
  const marked = () =>
    page.evaluate(() =>
      [...document.querySelectorAll(".slides section:not(.stack)")]
        .filter((slide) => getComputedStyle(slide).outlineStyle === "solid")
        .filter((slide) => Number.parseFloat(getComputedStyle(slide).outlineWidth) > 15)
        .map(({ id }) => id),
    );
  assert.deepEqual(await marked(), ["journal-ratio"]);
  const step = page.locator("#monday .fragment").first();
  assert.equal(await step.evaluate((item) => getComputedStyle(item).visibility), "visible");
  await page.keyboard.press("ArrowRight");
  const chosen = await page.evaluate(() => window.replay.deck.getCurrentSlide().id);
  assert.deepEqual(await marked(), [chosen]);
  await page.evaluate(() => window.replay.deck.toggleOverview(false));
  assert.deepEqual(await marked(), []);
  assert.equal(await page.evaluate(() => window.replay.deck.getCurrentSlide().id), chosen);
  await goTo(page, "journal-ratio");
  assert.deepEqual(await page.evaluate(drawingProblems, "journal-ratio"), []);
});

test("the scroll view draws each chart as it comes into sight, and leaving it keeps them", async () => {
  const page = await deck.openDeck("?data=fixture&view=scroll", { hash: "#/shop" });
  assert.equal(await page.evaluate(() => window.replay.deck.isScrollView()), true);
  for (const id of ["journal-ratio", "throughput-write-seq"]) {
    await page.evaluate((slide) => document.getElementById(slide).scrollIntoView(), id);
    await page.waitForFunction(
      (slide) =>
        [...document.querySelectorAll(`#${slide} canvas`)].every((canvas) => {
          const { model, error } = window.replay.charts.charts.get(canvas) ?? {};
          return model && !error;
        }),
      id,
    );
    for (const { error, shown } of await chartsOf(page, id)) {
      assert.equal(error, undefined);
      assert.ok(shown.length > 0);
    }
    assert.deepEqual(await page.evaluate(drawingProblems, id), []);
  }
});

/** The files of the canvases on paper without a pixel. Runs in the page. */
const blankCanvases = () =>
  [...document.querySelectorAll(".pdf-page canvas[data-chart]:not([data-when][hidden] *)")]
    .filter((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return !data.some((value) => value !== 0);
    })
    .map((canvas) => `${window.replay.charts.charts.get(canvas).src} (${canvas.width}×${canvas.height})`);

test("the print view has a page for each slide, each chart drawn, in light colours, and no reader's control", async () => {
  const page = await deck.openDeck("?data=tentacle&view=print&explore", {
    ready: READY.print,
    colorScheme: "dark",
  });
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
  await page.emulateMedia({ media: "print" });
  const controls = await page.$$eval("button, input, select, dialog[open]", (all) =>
    all.filter((one) => one.getClientRects().length > 0).map((one) => one.outerHTML.slice(0, 80)),
  );
  assert.deepEqual(controls, []);
});

test("a notice takes no room on paper", async () => {
  const page = await deck.openDeck("?data=nowhere&view=print", { ready: READY.print });
  // A notice on a stage takes it by now.
  await page.waitForFunction(() => document.documentElement.style.getPropertyValue("--notices") > "0px");
  assert.equal(await page.$eval(".pdf-page", (first) => first.getBoundingClientRect().top + scrollY), 0);
});
