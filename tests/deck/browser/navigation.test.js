/** Navigation: fast, by key, by address, in the overview. */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { chaptersOf, onlyChapters } from "../support/chapters.js";
import { chartsOf, goTo, slideIds, startDeck } from "../support/deck.js";
import { drawingProblems } from "../support/drawing.js";

const deck = await startDeck();
after(() => deck.close());

/** Waits for the charts of the current slide, and returns their problems. */
async function problemsHere(page) {
  const id = await page.evaluate(() => window.replay.deck.getCurrentSlide().id);
  await goTo(page, id);
  const errors = (await chartsOf(page, id)).filter(
    ({ error, url }) => error && !/404/.test(`${error}${url}`),
  );
  return [
    ...errors.map(({ src, error }) => `${src}: ${error}`),
    ...(await page.evaluate(drawingProblems, id)),
  ];
}

test("racing through the deck leaves the last slide with its charts", async () => {
  const page = await deck.openDeck();
  await page.evaluate(() => {
    const { deck: reveal } = window.replay;
    for (let i = 0; i < 60; i += 1) reveal.next();
    for (let i = 0; i < 60; i += 1) reveal.prev();
    for (let i = 0; i < 9; i += 1) reveal.next();
  });
  const id = await page.evaluate(() => window.replay.deck.getCurrentSlide().id);
  await goTo(page, "journal-ratio");
  for (const chart of await chartsOf(page, "journal-ratio")) assert.equal(chart.error, undefined);
  assert.ok(id);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("an arrow key that is held down leads through the whole talk and back, and no chart is lost", async () => {
  const chapters = (await chaptersOf(deck.url)).filter((file) => !/\/9\d-/.test(file));
  const page = await deck.openDeck("?data=fixture", { prepare: (one) => onlyChapters(one, chapters) });
  const steps = await page.evaluate(
    () => window.replay.deck.getTotalSlides() + document.querySelectorAll(".slides .fragment").length,
  );
  const hold = async (key, times) => {
    // A key that is already down repeats, as on a keyboard.
    for (let i = 0; i < times; i += 1) await page.keyboard.down(key);
    await page.keyboard.up(key);
  };
  await hold("ArrowRight", steps);
  assert.equal(await page.evaluate(() => window.replay.deck.isLastSlide()), true);
  assert.deepEqual(await problemsHere(page), []);
  await hold("ArrowLeft", steps);
  assert.equal(await page.evaluate(() => window.replay.deck.getCurrentSlide().id), "shop");
  await hold("ArrowRight", 14);
  assert.deepEqual(await problemsHere(page), []);
  await goTo(page, "published");
  assert.deepEqual(await problemsHere(page), []);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("a clicker's keys move on and back, and the address always names the current slide", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/setup" });
  const here = () => page.evaluate(() => window.replay.deck.getCurrentSlide().id);
  const visited = [];
  for (const key of ["PageDown", "PageDown", "PageUp", "Space", "PageUp"]) {
    await page.keyboard.press(key);
    visited.push(await here());
    await page.waitForFunction((id) => location.hash.startsWith(`#/${id}`), visited.at(-1));
  }
  assert.ok(new Set(visited).size >= 1);
  const position = await page.evaluate(() => window.replay.deck.getIndices());
  await page.keyboard.press("PageDown");
  await page.keyboard.press("PageUp");
  assert.deepEqual(await page.evaluate(() => window.replay.deck.getIndices()), position);
  await page.close();
});

test("a deck that is opened at the address of its last slide shows that slide", async () => {
  const last = "stretch-round-trips";
  const direct = await deck.openDeck("?data=fixture", { hash: `#/${last}` });
  assert.equal((await slideIds(direct)).at(-1), last);
  assert.equal(await direct.evaluate(() => window.replay.deck.getCurrentSlide().id), last);
  assert.deepEqual(direct.complaints, []);
  await direct.close();
});

test("an address that is followed while reveal still writes the last one leads to its slide", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/setup" });
  const there = await page.evaluate(async () => {
    const here = location.href;
    location.hash = "#/stretch-round-trips";
    // As reveal does up to a second after a move, here before the page hears of the address that came.
    history.replaceState(history.state, "", here);
    await new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
    await new Promise((resolve) => setTimeout(resolve));
    return window.replay.deck.getCurrentSlide().id;
  });
  assert.equal(there, "stretch-round-trips");
  await page.waitForFunction(() => location.hash.startsWith("#/stretch-round-trips"));
  await page.close();
});
