/** A reader's controls: contents, search, notes, links, and a bar that covers no slide. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { axeInBothThemes, loadAxe } from "../support/axe.js";
import { startDeck } from "../support/deck.js";

let deck;

before(async () => {
  deck = await startDeck();
});
after(() => deck.close());

const openReader = (hash = "#/shop", query = "?data=fixture&explore", options = {}) =>
  deck.openDeck(query, { hash, ...options });
const here = (page) => page.evaluate(() => window.replay.deck.getCurrentSlide().id);

test("the contents name every slide in order, and lead to it", async () => {
  const page = await openReader("#/setup");
  await page.keyboard.press("c");
  const dialog = page.locator("dialog.reader-dialog");
  await dialog.waitFor();
  const listed = await dialog.locator('.contents-body a[href^="#/"]').evaluateAll((links) =>
    links.map((link) => ({
      id: decodeURIComponent(link.getAttribute("href").slice(2)),
      text: link.textContent,
    })),
  );
  const slides = await page.evaluate(() =>
    [...document.querySelectorAll(".slides section:not(.stack)")].map(({ id }) => id),
  );
  assert.deepEqual(
    listed.map(({ id }) => id),
    slides,
  );
  for (const { id, text } of listed) assert.match(text, /\w/, id);
  assert.equal(await dialog.locator('a[aria-current="true"][href^="#/"]').getAttribute("href"), "#/setup");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), "#/setup");
  const minutes = await dialog.locator("h3 .length").allInnerTexts();
  // Each chapter's minutes are rounded; the talk is timed for 36.
  const whole = minutes.filter((text) => / min$/.test(text)).map((text) => parseInt(text, 10));
  const sum = whole.reduce((total, one) => total + one, 0);
  assert.ok(Math.abs(sum - 36) <= whole.length / 2, `${whole}`);
  await dialog.locator('a[href="#/journal-ratio"]').click();
  await dialog.waitFor({ state: "detached" });
  await page.waitForFunction(() => window.replay.deck.getCurrentSlide().id === "journal-ratio");
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("the search finds words of slides and of notes, by keyboard only", async () => {
  const page = await openReader();
  await page.keyboard.press("/");
  const field = page.locator("#contents-search");
  await field.waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), "contents-search");
  const note = await page.evaluate(() => document.querySelector("#setup aside.notes").textContent);
  const word = note.match(/\b[a-z]{8,}\b/)[0];
  await page.keyboard.type(word);
  await page.waitForFunction(() => document.querySelectorAll(".contents-results a").length > 0);
  const found = await page.$$eval(".contents-results a", (links) =>
    links.map((link) => link.getAttribute("href")),
  );
  assert.ok(found.includes("#/setup"), `${word}: ${found}`);
  assert.match(await page.innerText(".contents-count"), /mention/);
  assert.ok((await page.locator(".contents-results mark").count()) > 0);
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), found[0]);
  await page.keyboard.press("Enter");
  await page.waitForFunction((id) => window.replay.deck.getCurrentSlide().id === id, found[0].slice(2));
  await page.keyboard.press("Control+k");
  await page.keyboard.type("zzzzqqq");
  await page.waitForFunction(() => /No slide/.test(document.querySelector(".contents-count").textContent));
  await page.keyboard.press("Escape");
  await page.locator("dialog.reader-dialog").waitFor({ state: "detached" });
  await page.close();
});

test("no key is lost: not in the moment after something closed, nor while what it opens is fetched", async () => {
  const page = await openReader("#/journal-ratio");
  // All within one task of the page, so that no frame comes between a closing and the next key.
  const pressed = await page.evaluate(() => {
    const press = (key, keyCode) =>
      document.dispatchEvent(new KeyboardEvent("keydown", { key, keyCode, bubbles: true, cancelable: true }));
    const open = () => document.querySelectorAll("dialog[open]").length;
    const found = [];
    for (const [key, keyCode] of [
      ["c", 67],
      ["/", 191],
      ["g", 71],
      ["/", 191],
    ]) {
      press(key, keyCode);
      found.push([key, open(), document.activeElement.id === "contents-search"]);
      document.querySelector("dialog[open]")?.close();
    }
    return found;
  });
  assert.deepEqual(pressed, [
    ["c", 1, false],
    ["/", 1, true],
    ["g", 1, false],
    ["/", 1, true],
  ]);
  for (const [key, kind] of [
    ["?", "keys-help"],
    ["i", "chart-panel"],
  ]) {
    const dialog = page.locator(`dialog.${kind}`);
    await page.keyboard.press(key);
    await dialog.waitFor();
    await page.evaluate(
      ([name, keyCode]) => {
        document.querySelector("dialog[open]").close();
        document.dispatchEvent(new KeyboardEvent("keydown", { key: name, keyCode }));
      },
      [key, key === "?" ? 191 : 73],
    );
    await page.locator(`dialog.${kind}[open]`).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("whoever presses the key of a panel again while it is fetched gets one panel", async () => {
  let fetched = null;
  const page = await openReader("#/journal-ratio", undefined, {
    prepare: (opened) =>
      opened.route(/\/panel[-.][^/]*$/, async (route) => {
        await new Promise((resolve) => (fetched = resolve));
        await route.continue();
      }),
  });
  await page.keyboard.press("i");
  while (fetched === null) await page.evaluate(() => new Promise(requestAnimationFrame));
  await page.keyboard.press("i");
  fetched();
  await page.locator("dialog.chart-panel[open]").first().waitFor();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  assert.equal(await page.locator("dialog.chart-panel").count(), 1);
  await page.close();
});

test("a query is text, and never markup", async () => {
  const page = await openReader();
  await page.keyboard.press("/");
  await page.locator("#contents-search").fill('<img src=x onerror="window.hacked=1"> journal');
  await page.waitForFunction(() => document.querySelector(".contents-count").textContent !== "");
  assert.equal(await page.locator("dialog.reader-dialog img").count(), 0);
  assert.equal(await page.evaluate(() => window.hacked ?? null), null);
  await page.close();
});

test("the bar covers no slide, shows the position, and changes slides", async () => {
  const page = await openReader("#/snapshots-by-interval");
  const boxes = await page.evaluate(() => {
    const bar = document.querySelector(".reader-bar").getBoundingClientRect();
    const slide = document.querySelector("#snapshots-by-interval").getBoundingClientRect();
    return { bar: bar.top, slide: slide.bottom, slideTop: slide.top };
  });
  assert.ok(boxes.slide <= boxes.bar + 1, `slide to ${boxes.slide}, bar from ${boxes.bar}`);
  assert.ok(boxes.slideTop >= -1);
  assert.match(await page.innerText(".reader-bar .position"), /^The price · \d+ of \d+$/);
  const before = await here(page);
  await page.getByRole("button", { name: "Next" }).click();
  assert.notEqual(await here(page), before);
  await page.getByRole("button", { name: "Previous" }).click();
  assert.equal(await here(page), before);
  await page.evaluate(() => {
    window.location.hash = "#/appendix";
  });
  await page.waitForFunction(() =>
    /appendix/i.test(document.querySelector(".reader-bar .position").textContent),
  );
  await page.close();
});

test("notes are shown beside the slide, and follow it", async () => {
  const page = await openReader("#/setup");
  const line = (text) => text.replace(/\s+/g, " ").trim();
  const own = async () =>
    line(
      await page.evaluate(
        () => window.replay.deck.getCurrentSlide().querySelector("aside.notes").textContent,
      ),
    );
  await page.getByRole("button", { name: "Notes" }).click();
  const notes = page.locator(".reader-notes");
  await notes.waitFor();
  const shown = async () => line(await notes.locator(".words").textContent());
  const first = await own();
  assert.ok(first.length > 20);
  assert.equal(await shown(), first);
  await page.evaluate(() => window.replay.deck.slide(0, 0));
  assert.notEqual(await own(), first);
  assert.equal(await shown(), await own());
  await page.getByRole("button", { name: "Notes" }).click();
  await notes.waitFor({ state: "hidden" });
  await page.close();
});

test("a reader chooses light or dark, charts follow, and the choice is kept", async () => {
  const context = await deck.browser.newContext({
    viewport: { width: 1280, height: 720 },
    colorScheme: "light",
  });
  const page = await context.newPage();
  const address = `${deck.url}?data=fixture&explore#/throughput-write-seq`;
  const color = () =>
    page.evaluate(async () => {
      await window.replay.charts.ready();
      const canvas = document.querySelector("#throughput-write-seq canvas");
      return window.replay.charts.charts.get(canvas).chart.data.datasets[0].borderColor;
    });
  await page.goto(address);
  await page.waitForSelector("html[data-deck-ready]");
  const light = await color();
  await page.getByRole("button", { name: "Dark" }).click();
  const dark = await color();
  assert.notEqual(dark, light);
  await page.reload();
  await page.waitForSelector("html[data-deck-ready]");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.equal(await color(), dark);
  // A stage on the same machine uses the system's setting.
  await page.goto(`${deck.url}?data=fixture#/throughput-write-seq`);
  await page.waitForSelector("html[data-deck-ready]");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme ?? null), null);
  await context.close();
});

test("the skip link leads past the charts of a slide to the controls", async () => {
  const page = await openReader("#/journal-ratio");
  await page.keyboard.press("Tab");
  assert.match(await page.evaluate(() => document.activeElement.className), /skip-link/);
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Contents");
  assert.equal(await here(page), "journal-ratio");
  await page.keyboard.press("Enter");
  await page.locator("dialog.reader-dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog.reader-dialog").waitFor({ state: "detached" });
  assert.equal(await here(page), "journal-ratio");
  await page.close();
});

test("axe finds nothing in contents, search, notes and list of keys, in light and dark", async () => {
  const problems = [];
  const page = await openReader("#/setup");
  await loadAxe(page);
  const look = async (what) =>
    problems.push(...(await axeInBothThemes(page, { slideOnly: "setup" })).map((text) => `${what}, ${text}`));
  await page.keyboard.press("c");
  await page.locator("dialog.reader-dialog").waitFor();
  await look("contents");
  await page.locator("#contents-search").fill("journal");
  await page.waitForFunction(() => document.querySelectorAll(".contents-results a").length > 0);
  await look("search");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Notes" }).click();
  await look("notes");
  await page.keyboard.press("?");
  await page.locator("dialog.keys-help").waitFor();
  await look("keys");
  assert.deepEqual(problems, []);
  await page.close();
});

test("on a phone an address leads to its slide, scrolling names the slide in sight, and turning the phone keeps it", async () => {
  const page = await openReader("#/journal-ratio", undefined, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
  });
  const top = (id) => page.evaluate((name) => document.getElementById(name).getBoundingClientRect().top, id);
  assert.ok(Math.abs(await top("journal-ratio")) <= 1, `${await top("journal-ratio")} px`);
  await page.waitForFunction(() => window.replay.deck.getCurrentSlide().id === "journal-ratio");
  // A late font or the page's load event makes reveal lay the slides out anew, after which nobody scrolls.
  await page.evaluate(() => window.replay.deck.layout());
  await page.waitForFunction(() => window.replay.deck.getCurrentSlide().id === "journal-ratio");
  assert.match(page.url(), /#\/journal-ratio$/);
  await page.evaluate(() => document.getElementById("setup").scrollIntoView());
  await page.waitForFunction(() => window.replay.deck.getCurrentSlide().id === "setup");
  assert.match(page.url(), /#\/setup$/);
  await page.setViewportSize({ width: 844, height: 390 });
  await page.waitForFunction(() => window.replay?.deck && !window.replay.deck.isScrollView());
  await page.waitForSelector("html[data-deck-ready]");
  assert.equal(await here(page), "setup");
  assert.deepEqual(page.complaints, []);
  await page.close();
});
