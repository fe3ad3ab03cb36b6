/**
 * Axe finds nothing at any level: in each view, on the front page and in every dialog. every-slide.test.js has the slides,
 * site.test.js the pages of a site that are no deck.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { COLOR_RULES, axeInBothThemes, axeProblems, axeProblemsAndPasses, loadAxe } from "../support/axe.js";
import { READY } from "../support/browser.js";
import { onlyChapters } from "../support/chapters.js";
import { goTo, openSpeakerView, startDeck } from "../support/deck.js";

const deck = await startDeck({ shipped: true });
after(() => deck.close());

/** What is around the slides is the same with a few of them, and axe reads the whole document each time. */
const CHAPTERS = ["slides/rpo/00-loss.md", "slides/rpo/91-journal.md"];
const fewSlides = (page) => onlyChapters(page, CHAPTERS);
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

test("also in the dark theme every text of every slide stands out from its background", async () => {
  // In the print view all slides are below each other, so that one check covers them all.
  const page = await deck.openDeck("?data=tentacle&view=print&theme=dark", { ready: READY.print });
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(20, 22, 28)");
  await loadAxe(page);
  const { problems, passed } = await axeProblemsAndPasses(page, { rules: COLOR_RULES });
  assert.deepEqual(problems, []);
  const looked = passed["color-contrast"];
  assert.ok(looked > 500, `only ${looked} texts were looked at`);
});

test("axe finds nothing on slides whose charts show errors", async () => {
  const page = await deck.openDeck("?data=fixture");
  await loadAxe(page);
  const problems = [];
  for (const id of ["mirror-lag", "stretch-round-trips"]) {
    if ((await page.locator(`[id="${id}"]`).count()) === 0) continue;
    await goTo(page, id);
    problems.push(...(await axeProblems(page, { include: [`[id="${id}"]`] })));
  }
  assert.ok((await page.locator("[role=alert]").count()) > 0, "no chart shows an error");
  assert.deepEqual(problems, []);
});

test("axe finds nothing in the whole document: deck, overview, scroll view and front page, in light and dark", async () => {
  const problems = [];
  const look = async (what, page, include = null) =>
    problems.push(...(await axeInBothThemes(page, { include })).map((text) => `${what}: ${text}`));
  for (const [what, query] of [
    ["stage", "?data=tentacle"],
    ["reader", "?data=tentacle&explore"],
  ]) {
    const page = await deck.openDeck(query, { hash: "#/journal-ratio", prepare: fewSlides });
    await goTo(page, "journal-ratio");
    await loadAxe(page);
    await look(what, page);
    if (what === "reader") {
      await page.evaluate(() => window.replay.deck.toggleOverview(true));
      await page.evaluate(() => window.replay.charts.ready());
      await look("overview", page);
    }
    await page.close();
  }

  const scroll = await deck.openDeck("?data=tentacle&view=scroll", {
    hash: "#/journal-ratio",
    // With a slide that has links: what scrolls has to have something that takes the focus.
    prepare: (page) => onlyChapters(page, [...CHAPTERS, "slides/rpo/90-appendix.md"]),
  });
  await loadAxe(scroll);
  await look("scroll view", scroll);
  await scroll.close();

  const front = await deck.browser.open(`${deck.url}?data=tentacle&explore`, { ready: READY.front });
  await front.click("details[data-figures] summary");
  await front.waitForSelector(".scrolled table");
  await loadAxe(front);
  for (const viewport of [{ width: 1280, height: 720 }, PHONE.viewport]) {
    await front.setViewportSize(viewport);
    await look(`front page, ${viewport.width} px`, front);
  }
  await front.close();
  assert.deepEqual(problems, []);
});

test("axe finds nothing in the whole document of a phone's deck, with drawings and tables", async () => {
  const phone = await deck.openDeck("?data=tentacle&explore", {
    ...PHONE,
    hash: "#/one-write",
    prepare: (page) =>
      onlyChapters(page, [...CHAPTERS, "slides/rpo/10-tax-and-lottery.md", "slides/rpo/92-mirror.md"]),
  });
  assert.ok(await phone.evaluate(() => document.documentElement.classList.contains("phone")));
  await loadAxe(phone);
  assert.deepEqual(await axeInBothThemes(phone), []);
});

test("axe finds nothing in the whole document of the second talk", async () => {
  const page = await deck.openDeck("?talk=cluster&data=tentacle&explore", { hash: "#/curve" });
  assert.match(await page.title(), /What does this cluster do\?/);
  await goTo(page, "curve");
  await loadAxe(page);
  assert.deepEqual(await axeInBothThemes(page), []);
});

test("axe finds nothing in overlays, in notes, nor in a table in a chart's place, in light and dark", async () => {
  const page = await deck.openDeck("?data=tentacle&explore", { hash: "#/journal-ratio", prepare: fewSlides });
  await goTo(page, "journal-ratio");
  await loadAxe(page);
  const problems = [];
  const look = async (what, page, include = null) =>
    problems.push(...(await axeInBothThemes(page, { include })).map((text) => `${what}: ${text}`));
  const open = async (key, selector) => {
    await page.keyboard.press(key);
    await page.locator(selector).first().waitFor();
    if (key === "/") {
      await page.locator("#contents-search").fill("journal");
      await page.locator(".contents-results a").first().waitFor();
    }
    await look(key, page, [selector]);
  };
  for (const key of ["c", "/", "i", "?"]) {
    await open(key, "dialog[open]");
    await page.keyboard.press("Escape");
    await page.locator("dialog[open]").waitFor({ state: "detached" });
  }
  await open("t", "section.present .chart-table-view");
  await page.getByRole("button", { name: "Notes" }).click();
  await look("notes", page, [".reader-notes"]);
  assert.deepEqual(problems, []);
});

test("axe finds nothing in the speaker view and in the two slides that it shows", async () => {
  const page = await deck.openDeck("?data=tentacle", { hash: "#/journal-ratio", prepare: fewSlides });
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
});
