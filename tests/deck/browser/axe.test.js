/** Axe finds nothing at any level: on each slide, in each view, on the front page and in every dialog. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { axeProblems, loadAxe } from "../support/axe.js";
import { chaptersOf, onlyChapters } from "../support/chapters.js";
import { eachSlide, goTo, openSpeakerView, slideIds, startDeck } from "../support/deck.js";
import { patient } from "../../../scripts/npm/patience.mjs";

/** Rules whose answer depends on colours; the others are the same in light and in dark. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];
let deck;
let takeAway;

before(async () => {
  deck = await startDeck();
  takeAway = await deck.lendShipped();
});
after(async () => {
  await takeAway?.();
  await deck?.close();
});

test("axe finds nothing on any slide", async () => {
  const problems = [];
  let looked = 0;
  // Chapter by chapter, because axe reads the whole document again for each slide.
  for (const chapter of await chaptersOf(deck.url)) {
    const page = await deck.openDeck("?data=shipped", {
      colorScheme: "light",
      prepare: (opened) => onlyChapters(opened, [chapter]),
    });
    await loadAxe(page);
    const visited = await eachSlide(page, async (id) => {
      const found = await axeProblems(page, { include: [`[id="${id}"]`, ".slide-number"] });
      problems.push(...found.map((text) => `${id}: ${text}`));
    });
    looked += visited.length;
    await page.close();
  }
  const page = await deck.openDeck("?data=shipped");
  assert.equal(looked, (await slideIds(page)).length);
  assert.deepEqual(problems, []);
  await page.close();
});

test("also in the dark theme every text of every slide stands out from its background", async () => {
  // In the print view all slides are below each other, so that one check covers them all.
  const page = await deck.openDeck("?data=shipped&view=print&theme=dark");
  await page.waitForSelector("html[data-charts-ready]", { timeout: patient(20_000) });
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(20, 22, 28)");
  await loadAxe(page);
  assert.deepEqual(await axeProblems(page, { rules: COLOR_RULES }), []);
  const looked = await page.evaluate(async () => {
    const options = { runOnly: { type: "rule", values: ["color-contrast"] }, iframes: false, preload: false };
    const { passes } = await window.axe.run(document, options);
    return passes.flatMap(({ nodes }) => nodes).length;
  });
  assert.ok(looked > 600, `only ${looked} texts were looked at`);
  await page.close();
});

test("axe finds nothing on slides whose charts show errors", async () => {
  const page = await deck.openDeck("?data=fixture");
  await loadAxe(page);
  const problems = [];
  for (const id of ["mirror-lag", "amplification-operations"]) {
    if ((await page.locator(`[id="${id}"]`).count()) === 0) continue;
    await goTo(page, id);
    problems.push(...(await axeProblems(page, { include: [`[id="${id}"]`] })));
  }
  assert.ok((await page.locator("[role=alert]").count()) > 0, "no chart shows an error");
  assert.deepEqual(problems, []);
  await page.close();
});

for (const colorScheme of ["light", "dark"]) {
  const rules = colorScheme === "dark" ? COLOR_RULES : null;

  test(`axe finds nothing in the whole document: deck, overview, scroll view and front page, in ${colorScheme}`, async () => {
    const problems = [];
    const look = async (what, page) => {
      await loadAxe(page);
      problems.push(...(await axeProblems(page, { rules })).map((text) => `${what}: ${text}`));
    };
    const stage = await deck.openDeck("?data=shipped", { colorScheme, hash: "#/journal-ratio" });
    await goTo(stage, "journal-ratio");
    await look("stage", stage);
    await stage.close();

    const reader = await deck.openDeck("?data=shipped&explore", { colorScheme, hash: "#/journal-ratio" });
    await goTo(reader, "journal-ratio");
    await look("reader", reader);
    await reader.evaluate(() => window.replay.deck.toggleOverview(true));
    await reader.evaluate(() => window.replay.charts.ready());
    await look("overview", reader);
    await reader.close();

    const scroll = await deck.openDeck("?data=shipped&view=scroll", { colorScheme, hash: "#/journal-ratio" });
    await look("scroll view", scroll);
    await scroll.close();

    for (const viewport of [
      { width: 1280, height: 720 },
      { width: 390, height: 844 },
    ]) {
      const front = await deck.browser.newPage({ viewport, colorScheme, reducedMotion: "reduce" });
      await front.goto(`${deck.url}?data=shipped&explore`);
      await front.waitForSelector("html[data-front-ready]");
      await look(`front page, ${viewport.width} px`, front);
      await front.close();
    }
    assert.deepEqual(problems, []);
  });
}

for (const colorScheme of ["light", "dark"])
  test(`axe finds nothing in overlays, nor in a table in a chart's place, in ${colorScheme}`, async () => {
    const page = await deck.openDeck("?data=shipped&explore", { colorScheme, hash: "#/journal-ratio" });
    await goTo(page, "journal-ratio");
    await loadAxe(page);
    const problems = [];
    const look = async (key, selector) => {
      await page.keyboard.press(key);
      await page.locator(selector).first().waitFor();
      const found = await axeProblems(page, { include: [selector] });
      problems.push(...found.map((text) => `${key}: ${text}`));
    };
    for (const key of ["c", "/", "i", "?"]) {
      await look(key, "dialog[open]");
      await page.keyboard.press("Escape");
      await page.locator("dialog[open]").waitFor({ state: "detached" });
    }
    await look("t", "section.present .chart-table-view");
    assert.deepEqual(problems, []);
    await page.close();
  });

test("axe finds nothing in the speaker view and in the two slides that it shows", async () => {
  const page = await deck.openDeck("?data=shipped", { hash: "#/journal-ratio" });
  const { speaker, frames: slides } = await openSpeakerView(page);
  const problems = [];
  for (const [what, frame] of [
    ["speaker view", speaker.mainFrame()],
    ...slides.map((one) => ["its slide", one]),
  ]) {
    await loadAxe(frame);
    problems.push(...(await axeProblems(frame)).map((text) => `${what}: ${text}`));
  }
  assert.deepEqual(problems, []);
  await speaker.close();
  await page.close();
});
