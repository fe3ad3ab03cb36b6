/** The deck on a phone: slides below each other, readable without zooming, charts drawn as they come into sight. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { onlyChapters } from "../support/chapters.js";
import { startDeck } from "../support/deck.js";

const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true };
/** CSS pixels of the phone itself; smaller text makes people zoom. */
const SMALLEST_TEXT_PX = 12;
const SMALLEST = { viewport: { width: 320, height: 568 } };
let deck;
/** The whole talk on a phone. Tests scroll in it, and leave it otherwise as it is. */
let page;

before(async () => {
  deck = await startDeck();
  page = await openPhone("#/shop", { stays: true });
});
after(() => deck?.close());

const openPhone = (hash = "#/shop", options = {}) =>
  deck.openDeck("?data=fixture&explore", { ...PHONE, hash, ...options });

/** Some of the talk's chapters, `slides/rpo/….md`: a phone lays out every slide of a deck before it shows one. */
const openChapters = (files, hash, prepare = () => {}, options = {}) =>
  openPhone(hash, {
    ...options,
    async prepare(one) {
      await onlyChapters(
        one,
        files.map((name) => `slides/rpo/${name}.md`),
      );
      await prepare(one);
    },
  });

test("a phone shows slides to scroll through, none of them wider than the screen", async () => {
  assert.equal(await page.evaluate(() => window.replay.deck.isScrollView()), true);
  const facts = await page.evaluate(() => ({
    sideways: Math.max(
      document.documentElement.scrollWidth,
      ...[...document.querySelectorAll(".reveal-viewport, .reveal")].map(({ scrollWidth }) => scrollWidth),
    ),
    slides: document.querySelectorAll(".slides section:not(.stack)").length,
    high: [...document.querySelectorAll(".reveal-viewport, html, body")].some(
      ({ scrollHeight }) => scrollHeight > 3000,
    ),
  }));
  assert.ok(facts.sideways <= 391, `${facts.sideways} px wide`);
  assert.ok(facts.slides > 40);
  assert.ok(facts.high, "there is nothing to scroll through");
  assert.deepEqual(page.complaints, []);
});

test("a notice covers less than half of the smallest phone, and not the end of the last slide", async () => {
  const one = await deck.openDeck("?data=fixture&explore&cut=7", {
    ...PHONE,
    ...SMALLEST,
    hash: "#/journal-ratio",
    prepare: (opened) => onlyChapters(opened, ["slides/rpo/91-journal.md"]),
  });
  const height = await one.evaluate(() => {
    document.querySelector(".notice").append(" and more".repeat(100));
    return document.querySelector(".notices").offsetHeight;
  });
  assert.ok(height < SMALLEST.viewport.height / 2, `${height} px`);
  await one.waitForFunction(() => {
    const viewport = document.querySelector(".reveal-viewport");
    viewport.scrollTo(0, viewport.scrollHeight);
    const end = [...document.querySelectorAll(".scroll-page section:not(.stack)")].at(-1);
    const { top } = document.querySelector(".notices").getBoundingClientRect();
    return end.getBoundingClientRect().bottom <= top + 1;
  });
});

test(`on a phone no text of a slide is below ${SMALLEST_TEXT_PX} px, and none is cut off`, async () => {
  const problems = await page.evaluate((smallest) => {
    const found = [];
    for (const slide of document.querySelectorAll(".slides section:not(.stack)")) {
      for (const element of slide.querySelectorAll("*")) {
        if (element.closest("aside.notes, .visually-hidden") || element.getClientRects().length === 0)
          continue;
        const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
        if (!own) continue;
        const box = element.getBoundingClientRect();
        if (box.width === 0 || element.offsetWidth === 0) continue;
        // A text of a drawing is as large as the drawing makes it.
        const scale = element.ownerSVGElement
          ? element.getScreenCTM().a
          : Math.min(box.width / element.offsetWidth, 1);
        const size = parseFloat(getComputedStyle(element).fontSize) * scale;
        const name = `${slide.id}: <${element.localName}> “${element.textContent.trim().slice(0, 24)}”`;
        if (size < smallest - 0.05) found.push(`${name} has ${size.toFixed(1)} px`);
        // Screen readers alone find the head of a table of cards.
        if ((box.right > innerWidth + 1 || box.left < -1) && !element.closest("thead"))
          found.push(`${name} reaches from ${Math.round(box.left)} to ${Math.round(box.right)} px`);
      }
    }
    return found;
  }, SMALLEST_TEXT_PX);
  assert.deepEqual(problems, []);
});

/** What is wrong with the drawings of a page. Runs in it. */
const drawingProblems = () =>
  [...document.querySelectorAll(".slides .drawing")].flatMap((drawing) => {
    const shown = [...drawing.querySelectorAll("svg")].filter((svg) => svg.getClientRects().length > 0);
    const name = drawing.closest("section").id;
    if (shown.length !== 1) return [`${name}: ${shown.length} drawings`];
    const whole = shown[0].getBoundingClientRect();
    const texts = [...shown[0].querySelectorAll("text")].map((text) => ({
      words: text.textContent,
      box: text.getBoundingClientRect(),
    }));
    const found =
      whole.left < 0 || whole.right > innerWidth ? [`${name}: ${whole.left} to ${whole.right} px`] : [];
    for (const [at, { words, box }] of texts.entries()) {
      if (box.left < whole.left || box.right > whole.right || box.bottom > whole.bottom + 1)
        found.push(`${name}: “${words}” leaves the drawing`);
      for (const other of texts.slice(at + 1))
        if (
          Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left) > 1 &&
          Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top) > 3
        )
          found.push(`${name}: “${words}” covers “${other.words}”`);
    }
    return found;
  });

test("a drawing is whole on a phone, and on the smallest: nothing of it is off the screen, no text covers another", async () => {
  assert.ok((await page.locator(".slides .drawing").count()) > 0);
  assert.deepEqual(await page.evaluate(drawingProblems), []);
  const small = await openChapters(["10-tax-and-lottery"], "#/one-write", () => {}, SMALLEST);
  assert.deepEqual(await small.evaluate(drawingProblems), []);
});

test("on the smallest phone each row of a table is a card with its columns' names, still a table, and none scrolls", async () => {
  const page = await openPhone("#/shop", SMALLEST);
  const { tables, problems } = await page.evaluate(() => {
    const all = [...document.querySelectorAll(".slides table")].filter(
      (table) => table.getClientRects().length > 0,
    );
    const found = [];
    for (const table of all) {
      const name = table.closest("section").id;
      for (let part = table; part.localName !== "section"; part = part.parentElement)
        if (part.scrollWidth > part.clientWidth + 1)
          found.push(`${name}: ${part.localName} scrolls sideways`);
      if (table.getAttribute("role") !== "table") found.push(`${name}: has no role`);
      const rows = [...table.querySelectorAll("tbody tr")];
      for (const [at, { cells }] of rows.entries()) {
        const shown = [...cells].slice(1).map((cell) => getComputedStyle(cell, "::before").content);
        if (shown.some((content) => content === "none" || content.startsWith('""')))
          found.push(`${name}: row ${at + 1} has a cell without its column's name`);
        const tops = [...cells].map((cell) => cell.getBoundingClientRect().top);
        if (tops.some((top, index) => index > 0 && top <= tops[index - 1]))
          found.push(`${name}: row ${at + 1} is no card`);
      }
    }
    return { tables: all.length, problems: found };
  });
  assert.deepEqual(problems, []);
  assert.ok(tables > 3, `${tables} tables`);
});

test("on a phone a chart is drawn when it comes into sight, sharp, and as wide as its slide allows", async () => {
  for (const id of ["journal-ratio", "throughput-write-seq"]) {
    await page.evaluate((slide) => document.getElementById(slide).scrollIntoView(), id);
    await page.waitForFunction(
      (slide) =>
        [...document.querySelectorAll(`#${slide} canvas`)].some(
          (canvas) => window.replay.charts.charts.get(canvas)?.model,
        ),
      id,
    );
    const charts = await page.$$eval(`#${id} canvas`, (all) =>
      all
        .filter((canvas) => window.replay.charts.charts.get(canvas)?.chart)
        .map((canvas) => {
          const { left, right, width } = canvas.getBoundingClientRect();
          return { left, right, sharpness: canvas.width / width };
        }),
    );
    assert.ok(charts.length > 0);
    for (const { left, right, sharpness } of charts) {
      assert.ok(left >= -1 && right <= 391, `${id}: from ${left} to ${right} px`);
      assert.ok(sharpness >= 2, `${id}: ${sharpness.toFixed(1)} pixels for each px`);
    }
  }
  assert.deepEqual(page.complaints, []);
});

test("a touch on a chart reads the value under the finger", async () => {
  await page.evaluate(() => document.getElementById("throughput-write-seq").scrollIntoView());
  await page.waitForFunction(() => {
    const canvas = document.querySelector("#throughput-write-seq canvas");
    return window.replay.charts.charts.get(canvas)?.model;
  });
  const at = await page.evaluate(() => {
    const canvas = document.querySelector("#throughput-write-seq canvas");
    const { chart } = window.replay.charts.charts.get(canvas);
    const box = canvas.getBoundingClientRect();
    const { x, y } = chart.getDatasetMeta(0).data[4];
    return { x: box.left + (x * box.width) / chart.width, y: box.top + (y * box.height) / chart.height };
  });
  await page.touchscreen.tap(at.x, at.y);
  await page.waitForFunction(() => {
    const canvas = document.querySelector("#throughput-write-seq canvas");
    return window.replay.charts.charts.get(canvas).chart.tooltip.dataPoints?.length > 0;
  });
  const indexes = await page.evaluate(() => {
    const canvas = document.querySelector("#throughput-write-seq canvas");
    return window.replay.charts.charts.get(canvas).chart.tooltip.dataPoints.map(({ dataIndex }) => dataIndex);
  });
  assert.deepEqual([...new Set(indexes)], [4]);
});

const topOf = (page, id) =>
  page.evaluate((slide) => document.getElementById(slide).getBoundingClientRect().top, id);

async function assertAtTop(page, id) {
  const top = await topOf(page, id);
  assert.ok(Math.abs(top) <= 1, `${id} begins ${top} px below the top`);
}

/** Behaves like a browser without scroll anchoring, such as Safari on every iPhone. */
const leaveScrollingToThePage = (page) =>
  page.addInitScript(() =>
    addEventListener("DOMContentLoaded", () => {
      const style = document.createElement("style");
      style.textContent = "* { overflow-anchor: none !important; }";
      document.head.append(style);
    }),
  );

/** Makes the first slide higher, like a chart or a font that arrives late, and waits until that is on the screen. */
async function raiseFirstSlide(page) {
  const grown = await page.evaluate(async () => {
    const first = document.getElementById("shop");
    const before = first.offsetHeight;
    const late = document.createElement("div");
    late.style.cssText = "flex: none; height: 1000px";
    first.append(late);
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    for (let count = 0; count < 3; count += 1) await frame();
    return first.offsetHeight - before;
  });
  assert.ok(grown > 400, `${grown} px`);
}

test("an address leads to the top of its slide, whatever comes after it", async () => {
  for (const [id, chapter] of [
    ["mirror-lag", "92-mirror"],
    ["claims", "90-appendix"],
    ["iops", "90-appendix"],
  ]) {
    let arrive;
    const arrived = new Promise((resolve) => {
      arrive = resolve;
    });
    // No chart's file comes before the deck is ready, so every chart is late on every machine. What the slides' sentences
    // name in answer.csv is read before.
    const opened = await openChapters(["00-loss", "20-twist", chapter], `#/${id}`, async (one) => {
      await leaveScrollingToThePage(one);
      await one.route(/(?<!answer)\.csv$/, async (route) => {
        await arrived;
        await route.continue();
      });
    });
    await assertAtTop(opened, id);
    await raiseFirstSlide(opened);
    await assertAtTop(opened, id);
    arrive();
    await opened.waitForFunction(
      (slide) =>
        [...document.querySelectorAll(`#${slide} canvas[data-chart]:not([data-when][hidden] *)`)].every(
          (canvas) => {
            const { model, error } = window.replay.charts.charts.get(canvas) ?? {};
            return model || error;
          },
        ),
      id,
    );
    await raiseFirstSlide(opened);
    await assertAtTop(opened, id);
    assert.equal(await opened.evaluate(() => window.replay.deck.getCurrentSlide().id), id);
    await opened.close();
  }
});

test("a link within the deck leads to the top of its slide, too", async () => {
  const opened = await openChapters(["00-loss", "20-twist", "92-mirror"], "#/shop", leaveScrollingToThePage);
  await opened.evaluate(() => {
    location.hash = "#/mirror-lag";
  });
  await opened.waitForFunction(() => window.replay.deck.getCurrentSlide().id === "mirror-lag");
  await raiseFirstSlide(opened);
  await assertAtTop(opened, "mirror-lag");
});

test("the page does not jump back if the reader has scrolled on", async () => {
  const opened = await openChapters(["00-loss", "20-twist", "90-appendix"], "#/outrun");
  await opened.evaluate(() => document.getElementById("claims").scrollIntoView());
  await opened.waitForFunction(() => window.replay.deck.getCurrentSlide().id === "claims");
  await raiseFirstSlide(opened);
  assert.equal(await opened.evaluate(() => window.replay.deck.getCurrentSlide().id), "claims");
  assert.ok((await topOf(opened, "outrun")) < -844);
});
