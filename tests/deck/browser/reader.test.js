/** A reader's controls: contents, search, notes, links, and a bar that covers no slide. */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { READY } from "../support/browser.js";
import { onlyChapters } from "../support/chapters.js";
import { startDeck } from "../support/deck.js";

const deck = await startDeck();
after(() => deck.close());

const openReader = (hash = "#/shop", query = "?data=fixture&explore", options = {}) =>
  deck.openDeck(query, { hash, ...options });
const here = (page) => page.evaluate(() => window.replay.deck.getCurrentSlide().id);

test("the contents name every slide in order, and lead to it", async () => {
  const page = await openReader("#/setup");
  assert.equal(await page.locator(".notice").count(), 0, "something was removed from its slides");
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
  // Each chapter's minutes are rounded; the talk is timed by its slides.
  const whole = minutes.filter((text) => / min$/.test(text)).map((text) => parseInt(text, 10));
  const sum = whole.reduce((total, one) => total + one, 0);
  const timed = await page.evaluate(
    () =>
      [...document.querySelectorAll(".slides section[data-timing]:not([data-visibility])")]
        .map((slide) => Number(slide.dataset.timing))
        .reduce((total, seconds) => total + seconds, 0) / 60,
  );
  assert.ok(timed > 10);
  assert.ok(Math.abs(sum - timed) <= whole.length / 2, `${whole} of ${timed}`);
  await dialog.locator('a[href="#/journal-ratio"]').click();
  await dialog.waitFor({ state: "detached" });
  await page.waitForFunction(() => window.replay.deck.getCurrentSlide().id === "journal-ratio");
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
});

test("Enter waits for what is found, and does not open the first of the contents", async () => {
  const page = await openReader("#/shop");
  const dialog = page.locator("dialog.reader-dialog");
  await page.keyboard.press("/");
  await page.locator("#contents-search").fill("journal");
  await page.waitForFunction(() => document.querySelectorAll(".contents-results a").length > 0);
  const found = (await page.getAttribute(".contents-results a", "href")).slice(2);
  assert.notEqual(found, "shop", "the first of the contents is found first, too");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("/");
  await dialog.waitFor();
  // Within one task of the page, so that nothing is found between the last letter and Enter.
  await page.evaluate(() => {
    const field = document.getElementById("contents-search");
    field.value = "journal";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  });
  await dialog.waitFor({ state: "detached" });
  await page.waitForFunction(() => window.replay.deck.getCurrentSlide().id !== "shop");
  assert.equal(await here(page), found);
});

test("Home and End lead to the first and the last slide, whichever of their chapters was seen last", async () => {
  const chapters = ["slides/rpo/00-loss.md", "slides/rpo/91-journal.md"];
  const page = await openReader("#/shop", undefined, { prepare: (one) => onlyChapters(one, chapters) });
  const ends = await page.evaluate(() => {
    const { deck } = window.replay;
    const slides = [...document.querySelectorAll(".slides section:not(.stack)")];
    const stacks = [slides[0], slides.at(-1)].map((slide) => slide.closest(".stack"));
    // The last slide of the first chapter, and the first of the last.
    for (const slide of [stacks[0].lastElementChild, stacks[1].firstElementChild, slides.at(-2)]) {
      const { h, v } = deck.getIndices(slide);
      deck.slide(h, v);
    }
    return [slides[0].id, slides.at(-1).id];
  });
  await page.keyboard.press("Home");
  assert.equal(await here(page), ends[0]);
  await page.keyboard.press("End");
  assert.equal(await here(page), ends[1]);
});

test("that a slide is not in the cut is said until one leaves the slide that is shown instead", async () => {
  const page = await openReader("#/setup", "?data=fixture&explore&cut=20");
  await page.evaluate(() => {
    location.hash = "#/bottleneck";
  });
  const notice = page.locator(".notice.moved");
  await notice.waitFor();
  await page.waitForFunction(() => window.replay.deck.getCurrentSlide().id !== "setup");
  assert.deepEqual(
    (await notice.allInnerTexts()).map((text) => /is not in the 20-minute cut\. Show it in the/.test(text)),
    [true],
  );
  await page.evaluate(() => window.replay.deck.slide(0, 0));
  await notice.waitFor({ state: "detached" });
});

test("no link of a reader's leads onto the stage", async () => {
  const page = await openReader("#/setup", "?data=nowhere&explore");
  const sets = await page.locator(".notice a").evaluateAll((links) => links.map(({ href }) => href));
  assert.ok(sets.length > 1);
  for (const href of sets) assert.match(href, /\?data=[^&]+&explore#\/setup$/);
  await page.keyboard.press("c");
  const other = page.locator(".contents-body p", { hasText: "Another talk: " }).locator("a").first();
  assert.match(await other.getAttribute("href"), /\?explore$/);
});

test("what has the focus in a dialog is not under the parts of it that stay in sight", async () => {
  const page = await openReader("#/journal-ratio", undefined, { viewport: { width: 1280, height: 480 } });
  for (const [key, kind] of [
    ["c", "reader-dialog"],
    ["i", "chart-panel"],
  ]) {
    await page.keyboard.press(key);
    await page.locator(`dialog.${kind}`).waitFor();
    const covered = await page.evaluate((name) => {
      const all = [...document.querySelectorAll(`dialog.${name} :is(a, button, input)`)];
      return [...all, ...all.toReversed()].filter((one) => {
        one.focus();
        const [{ left, top, height }] = one.getClientRects();
        return !one.contains(document.elementFromPoint(left + 3, top + height / 2));
      }).length;
    }, kind);
    assert.equal(covered, 0, kind);
    await page.keyboard.press("Escape");
    await page.locator(`dialog.${kind}`).waitFor({ state: "detached" });
  }
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
});

test("the key that opened the panel about charts closes it", async () => {
  const page = await openReader("#/journal-ratio");
  const panel = page.locator("dialog.chart-panel");
  await page.keyboard.press("i");
  await panel.waitFor();
  await page.keyboard.press("i");
  await panel.waitFor({ state: "detached" });
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
});

test("a query is text, and never markup", async () => {
  const page = await openReader();
  await page.keyboard.press("/");
  await page.locator("#contents-search").fill('<img src=x onerror="window.hacked=1"> journal');
  await page.waitForFunction(() => document.querySelector(".contents-count").textContent !== "");
  assert.equal(await page.locator("dialog.reader-dialog img").count(), 0);
  assert.equal(await page.evaluate(() => window.hacked ?? null), null);
});

test("the bar covers no slide, shows the position, and changes slides", async () => {
  const page = await openReader("#/moment");
  const boxes = await page.evaluate(() => {
    const bar = document.querySelector(".reader-bar").getBoundingClientRect();
    const slide = document.querySelector("#moment").getBoundingClientRect();
    return { bar: bar.top, slide: slide.bottom, slideTop: slide.top };
  });
  assert.ok(boxes.slide <= boxes.bar + 1, `slide to ${boxes.slide}, bar from ${boxes.bar}`);
  assert.ok(boxes.slideTop >= -1);
  assert.match(await page.innerText(".reader-bar .position"), /^Tax and lottery · \d+ of \d+$/);
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
});

test("a reader chooses light or dark, charts follow, and the choice is kept", async () => {
  const page = await openReader("#/throughput-write-seq", undefined, { colorScheme: "light" });
  const color = () =>
    page.evaluate(async () => {
      await window.replay.charts.ready();
      const canvas = document.querySelector("#throughput-write-seq canvas");
      return window.replay.charts.charts.get(canvas).chart.data.datasets[0].borderColor;
    });
  const light = await color();
  // Until then the button follows the system, too.
  await page.emulateMedia({ colorScheme: "dark" });
  await page.getByRole("button", { name: "Light", exact: true }).waitFor();
  await page.emulateMedia({ colorScheme: "light" });
  await page.getByRole("button", { name: "Dark" }).click();
  const dark = await color();
  assert.notEqual(dark, light);
  await page.reload();
  await page.waitForSelector(READY.deck);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.equal(await color(), dark);
  // A stage on the same machine uses the system's setting.
  await page.goto(`${deck.url}?data=fixture#/throughput-write-seq`);
  await page.waitForSelector(READY.deck);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme ?? null), null);
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
  await page.waitForSelector(READY.deck);
  assert.equal(await here(page), "setup");
});
