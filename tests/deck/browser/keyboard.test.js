/** By keyboard only: the way of the focus, which must be visible, and the data as a table. */
import assert from "node:assert/strict";
import path from "node:path";
import { after, test } from "node:test";

import { readChart } from "../support/csv-file.js";
import { chartsOf, goTo, startDeck } from "../support/deck.js";

const LONGEST_ROUND = 80;
const deck = await startDeck();
after(() => deck.close());

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
  for (const id of ["shop", "journal-ratio", "throughput-write-seq", "appendix"])
    test(`the focus goes through the slide ${id} in the order in which it reads, and is seen: ${query}`, async () => {
      const page = await deck.openDeck(query, { hash: `#/${id}` });
      await goTo(page, id);
      const stops = await round(page);
      assert.deepEqual(problemsOf(stops), []);
      if (query.includes("explore")) assert.ok(stops.length > 0, "nothing takes the focus");
      await page.close();
    });

test("on stage no reader's control takes the focus", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/throughput-write-seq" });
  await goTo(page, "throughput-write-seq");
  const controls = await page.$$eval("button, input, select, textarea, canvas[tabindex]", (all) =>
    all.filter((one) => one.getClientRects().length > 0).map((one) => one.outerHTML.slice(0, 90)),
  );
  assert.deepEqual(controls, []);
  await page.close();
});

for (const query of ["?data=fixture", "?data=fixture&explore"])
  test(`T shows the same data as a table, and the chart again: ${query}`, async () => {
    const page = await deck.openDeck(query, { hash: "#/throughput-write-seq" });
    await goTo(page, "throughput-write-seq");
    const [chart] = await chartsOf(page, "throughput-write-seq");
    const file = await readChart(path.join(deck.benchmarks, chart.url.replace(/^benchmarks\//, "")));
    const table = page.locator("#throughput-write-seq .chart-figure table");
    assert.equal(await table.count(), 0);
    await page.keyboard.press("t");
    await table.waitFor();
    assert.ok((await table.locator("caption").innerText()).trim().length > 0, "the table has no caption");
    const names = await table.locator('th[scope="row"], th[scope="col"]').allInnerTexts();
    for (const name of chart.shown)
      assert.ok(
        names.some((text) => text.trim() === name),
        `${name} is not in ${names}`,
      );
    const cells = await table.locator("td").count();
    assert.equal(cells % file.columns.length, 0, `${cells} cells for ${file.columns.length} sizes`);
    assert.ok(cells >= chart.shown.length * file.columns.length);
    await page.keyboard.press("t");
    await table.waitFor({ state: "hidden" });
    assert.ok(await page.locator("#throughput-write-seq canvas").isVisible());
    assert.deepEqual(await chartsOf(page, "throughput-write-seq"), [chart]);
    assert.deepEqual(page.complaints, []);
    await page.close();
  });
