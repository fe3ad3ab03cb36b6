/** Navigation: fast, by key, by address; and the way of the focus, which must be visible. */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { chaptersOf, onlyChapters } from "../support/chapters.js";
import { chartsOf, goTo, slideIds, startDeck } from "../support/deck.js";
import { drawingProblems } from "../support/drawing.js";

const LONGEST_ROUND = 80;
const deck = await startDeck();
after(() => deck.close());

const slideOf = (page) => page.evaluate(() => window.replay.deck.getCurrentSlide().id);

/** Waits for the charts of the current slide, and returns their problems. */
async function problemsHere(page) {
  const id = await slideOf(page);
  await goTo(page, id);
  const errors = (await chartsOf(page, id)).filter(
    ({ error, url }) => error && !/404/.test(`${error}${url}`),
  );
  return [
    ...errors.map(({ src, error }) => `${src}: ${error}`),
    ...(await page.evaluate(drawingProblems, id)),
  ];
}

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
  assert.equal(await slideOf(page), "shop");
  await hold("ArrowRight", 14);
  assert.deepEqual(await problemsHere(page), []);
  await goTo(page, "published");
  assert.deepEqual(await problemsHere(page), []);
});

test("a clicker's keys move on and back, and the address always names the current slide", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/setup" });
  for (const key of ["PageDown", "PageDown", "PageUp", "Space", "PageUp"]) {
    await page.keyboard.press(key);
    await page.waitForFunction((id) => location.hash.startsWith(`#/${id}`), await slideOf(page));
  }
  const position = await page.evaluate(() => window.replay.deck.getIndices());
  await page.keyboard.press("PageDown");
  await page.keyboard.press("PageUp");
  assert.deepEqual(await page.evaluate(() => window.replay.deck.getIndices()), position);
});

test("the address of the last slide opens it, and one that is followed while reveal still writes the last one leads to its slide", async () => {
  const last = "stretch-round-trips";
  const page = await deck.openDeck("?data=fixture", { hash: `#/${last}` });
  assert.equal((await slideIds(page)).at(-1), last);
  assert.equal(await slideOf(page), last);
  const there = await page.evaluate(async () => {
    const here = location.href;
    location.hash = "#/setup";
    // As reveal does up to a second after a move, here before the page hears of the address that came.
    history.replaceState(history.state, "", here);
    await new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
    await new Promise((resolve) => setTimeout(resolve));
    return window.replay.deck.getCurrentSlide().id;
  });
  assert.equal(there, "setup");
  await page.waitForFunction(() => location.hash.startsWith("#/setup"));
});

/** Presses Tab until the focus leaves the page, and returns what and where each stop is. */
async function round(page) {
  await page.evaluate(() => {
    document.activeElement?.blur();
    window.stops = new Map();
    const all = [...document.querySelectorAll("*")];
    window.stops.order = (element) => all.indexOf(element);
  });
  const stops = [];
  for (let step = 0; step < LONGEST_ROUND; step += 1) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body || window.stops.has(element)) return null;
      window.stops.set(element, true);
      const slide = element.closest(".slides section:not(.stack)");
      const box = element.getBoundingClientRect();
      const style = getComputedStyle(element);
      const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      return {
        html: element.outerHTML.slice(0, 90),
        elsewhere: slide !== null && slide !== window.replay.deck.getCurrentSlide(),
        visible: box.width > 0 && box.height > 0 && style.visibility === "visible",
        covered: top !== null && !(element.contains(top) || top.contains(element)),
        outlined:
          (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2) ||
          style.boxShadow !== "none",
        named: Boolean(
          element.getAttribute("aria-label") ||
          element.getAttribute("aria-labelledby") ||
          element.textContent.trim(),
        ),
        order: window.stops.order(element),
      };
    });
    if (!stop) break;
    stops.push(stop);
  }
  return stops;
}

function problemsOf(stops) {
  const found = stops.flatMap(({ html, elsewhere, visible, covered, outlined, named }) => [
    ...(elsewhere ? [`on another slide: ${html}`] : []),
    ...(visible ? [] : [`not to be seen: ${html}`]),
    ...(covered ? [`covered by something else: ${html}`] : []),
    ...(outlined ? [] : [`without a visible focus: ${html}`]),
    ...(named ? [] : [`without a name: ${html}`]),
  ]);
  if (stops.length === LONGEST_ROUND) found.push("the focus never leaves the page");
  stops.slice(1).forEach(({ html, order }, at) => {
    if (order < stops[at].order) found.push(`before what stands before it: ${html}`);
  });
  return found;
}

for (const query of ["?data=fixture", "?data=fixture&explore"])
  test(`the focus goes through slides in the order in which they read, and is seen: ${query}`, async () => {
    const page = await deck.openDeck(query, { hash: "#/shop" });
    for (const id of ["shop", "journal-ratio", "throughput-write-seq", "appendix"]) {
      await goTo(page, id);
      const stops = await round(page);
      assert.deepEqual(problemsOf(stops), [], id);
      if (query.includes("explore")) assert.ok(stops.length > 0, `nothing takes the focus on ${id}`);
    }
  });
