/**
 * Every slide of the talk, with its charts and all its steps. A slide is visited once for each data set, and several tests
 * read what was found there, because showing all slides takes as long as thirty other tests.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import { axeProblems, loadAxe } from "../support/axe.js";
import { readChart } from "../support/csv-file.js";
import { chartsOf, goTo, lookAtEachSlide, slideIds, startDeck } from "../support/deck.js";
import { drawingProblems } from "../support/drawing.js";
import { chartTextProblems, layoutProblems } from "../../../scripts/deck/check/layout.js";

/** Kinds of charts that show some figures of a file, or of several, instead of one file whole. */
const PICKING = new Set([
  "dumbbell",
  "forest",
  "heatmap",
  "quadrant",
  "response",
  "share",
  "squares",
  "strip",
]);
/** A slide with two charts of one file each. */
const RATIOS = "journal-ratio";
const deck = await startDeck({ shipped: true });
after(() => deck.close());

/**
 * Visits each slide once. A look gets the page and a slide's id and returns what is wrong there; if it fails, that is
 * what is wrong.
 * @returns {Promise<{ids: string[], found: Record<string, string[]>}>} what each look found, by the look's name
 */
async function walk(page, looks) {
  const ids = await slideIds(page);
  const found = Object.fromEntries(Object.keys(looks).map((name) => [name, []]));
  for (const id of ids)
    for (const [name, look] of Object.entries(looks))
      try {
        found[name].push(...(await look(page, id)));
      } catch (error) {
        found[name].push(`${id}: ${error.message}`);
      }
  return { ids, found };
}

const shows = async (page, id) => {
  await goTo(page, id);
  return [];
};
const layout = async (page, id) => [
  ...(await page.evaluate(layoutProblems, id)),
  ...(await page.evaluate(chartTextProblems, id)),
];
const drawing = (page, id) => page.evaluate(drawingProblems, id);
const axe = async (page, id) => {
  const problems = await axeProblems(page, {
    include: [`[id="${id}"]`, ".slide-number", ".minutes"],
    slideOnly: id,
  });
  return problems.map((text) => `${id}: ${text}`);
};

/** As the address would ask for it; charts need not be drawn again for the texts around them to be measured. */
const layoutInDark = (page, id) =>
  // Source text, because the page's policy allows only the debugger to evaluate code.
  page.evaluate(`(() => {
    const root = document.documentElement;
    const ground = () => getComputedStyle(document.body).backgroundColor;
    const light = ground();
    root.dataset.theme = "dark";
    try {
      return ground() === light ? ["the page stays light"] : (${layoutProblems})(${JSON.stringify(id)});
    } finally {
      delete root.dataset.theme;
    }
  })()`);

/** Goes to a slide as a reader does who types its address while the deck is open. */
const address = (page, id) =>
  page.evaluate(async (wanted) => {
    const here = () => window.replay.deck.getCurrentSlide().id;
    if (here() === wanted) return [];
    // The deck writes where it is once a second at most: the address may still be that of the wanted slide.
    history.replaceState(history.state, "", location.pathname + location.search);
    location.hash = `#/${wanted}`;
    await new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
    await new Promise((resolve) => setTimeout(resolve));
    return here() === wanted ? [] : [`${wanted} leads to ${here()}`];
  }, id);

/** Every number of these files. */
async function numbersIn(urls) {
  const texts = await Promise.all(
    urls.map((url) => readFile(path.join(deck.benchmarks, url.replace(/^benchmarks\//, "")), "utf8")),
  );
  return new Set(texts.flatMap((text) => text.match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g) ?? []).map(Number));
}

/** A way stands between its ordinary and its slowest write: at the geometric mean of two figures. */
const isBetween = (value, known) =>
  [...known].some((one) => [...known].some((other) => Math.abs(Math.sqrt(one * other) / value - 1) < 1e-12));

/** Compares each chart of a slide with its file, and counts what was seen. */
function numbersOf(dataSet, held) {
  const seen = { compared: 0, picked: 0, ratio: 0, bands: 0, long: 0, mostKept: 0 };
  async function numbers(page, id) {
    for (const chart of await chartsOf(page, id)) {
      // These show some figures of one or more files: none may come from elsewhere.
      if (PICKING.has(chart.kind)) {
        if (chart.error !== undefined) {
          assert.match(chart.error, /404/, chart.url);
          assert.equal(dataSet, "fixture", `${chart.url} is not in the data that ship`);
          continue;
        }
        const more = chart.more.split("|").map((one) => one.trim());
        const known = await numbersIn([chart.url, ...more.filter(Boolean)]);
        const drawn = Object.values(chart.series).flat().filter(Number.isFinite);
        // What is added to the reference itself is nothing.
        if (chart.kind === "quadrant") known.add(0);
        // What arrived, in whole squares, is what was written less what was lost.
        if (chart.kind === "squares")
          for (const lost of [...known]) known.add(chart.seconds - Math.ceil(lost));
        assert.ok(drawn.length > 0, `${chart.url} shows nothing`);
        assert.deepEqual(
          drawn.filter(
            (value) => !known.has(value) && !(chart.kind === "quadrant" && isBetween(value, known)),
          ),
          [],
          `${chart.url}, ${chart.kind}`,
        );
        seen.picked += 1;
        continue;
      }
      // The fixture has few charts; any other must say that its file is missing.
      if (!held.includes(chart.url)) {
        assert.match(String(chart.error), /404/, chart.url);
        assert.equal(dataSet, "fixture", `${chart.url} is not in the data that ship`);
        continue;
      }
      assert.equal(chart.error, undefined, chart.url);
      const file = await readChart(path.join(deck.benchmarks, chart.url.replace(/^benchmarks\//, "")));
      assert.deepEqual(chart.labels, file.columns, chart.src);
      const isDrawn = (value) => !chart.isLogarithmic || value === null || value > 0;
      const series = Object.entries(file.series).map(([name, values]) => [
        name,
        // What has no place on the axis leaves a gap, which a hidden series may have.
        chart.shown.includes(name) ? values : values.map((value) => (isDrawn(value) ? value : null)),
      ]);
      assert.deepEqual(chart.series, Object.fromEntries(series), chart.src);
      assert.deepEqual(chart.bounds, file.bounds, chart.src);
      assert.ok(chart.shown.length > 0, `${chart.src} shows no series`);
      seen.compared += 1;
      seen.ratio += Number(/\/ratio-/.test(chart.url));
      seen.bands += Number(Object.values(file.bounds).some((all) => all.some(({ low }) => low !== null)));
      seen.long += Number(file.long);
    }
    const kept = await page.evaluate(
      () => [...window.replay.charts.charts.values()].filter(({ chart }) => chart).length,
    );
    seen.mostKept = Math.max(seen.mostKept, kept);
    return [];
  }
  return { numbers, seen };
}

/** The addresses of the charts that the data sets of the slides have, as their manifests say. */
const chartsHeld = (page) =>
  page.evaluate(() => {
    const { data } = window.replay;
    const named = [...document.querySelectorAll("section[data-set]")].map((slide) =>
      data.nameFor(slide.getAttribute("data-set")),
    );
    return [...new Set([data.dataSet, ...named])].flatMap((name) =>
      Object.values(data.manifestOf(name).experiments).flatMap(({ charts }) =>
        Object.values(charts).map((chart) => `benchmarks/${name}/${chart.path}`),
      ),
    );
  });

/** The shipped data are shown most; the fixture has other figures, and errors in place of most charts. */
const SHOWN = {
  tentacle: { more: { layoutInDark, axe }, slides: 43, fewest: 76, kinds: ["ratio", "bands", "long"] },
  fixture: { more: {}, slides: 31, fewest: 23, kinds: ["ratio", "bands"] },
};

for (const [dataSet, { more, slides, fewest, kinds }] of Object.entries(SHOWN))
  describe(`with the data ${dataSet}`, () => {
    let page;
    let ids;
    let found;
    let counted;
    let first;
    before(async () => {
      page = await deck.openDeck(`?data=${dataSet}`, { stays: true, colorScheme: "light" });
      await loadAxe(page);
      const { numbers, seen } = numbersOf(dataSet, await chartsHeld(page));
      counted = seen;
      await goTo(page, RATIOS);
      first = await chartsOf(page, RATIOS);
      ({ ids, found } = await walk(page, { address, shows, layout, numbers, drawing, ...more }));
    });
    after(() => page?.close());

    test("every slide is shown, at an address of its own, also if that is typed while the deck is open", async () => {
      assert.ok(ids.length >= slides, `only ${ids.length} slides were looked at`);
      assert.equal(new Set(ids).size, ids.length, "two slides have one address");
      assert.deepEqual(found.address, []);
      assert.deepEqual(await slideIds(page), ids, "a slide is gone");
      assert.deepEqual(found.shows, []);
    });

    test("nothing leaves its slide or is below 20 px of a 720 px stage", () => {
      assert.deepEqual(found.layout, []);
    });

    test("every canvas draws exactly the numbers of its CSV file, at their places and in their colours", () => {
      assert.deepEqual([...found.numbers, ...found.drawing], []);
      const charts = counted.compared + counted.picked;
      assert.ok(charts >= fewest, `only ${charts} charts`);
      for (const kind of kinds) assert.ok(counted[kind] > 0, `no chart of the kind ${kind} was seen`);
    });

    test("few charts are kept, and one that is drawn again is as it was", async () => {
      assert.ok(counted.mostKept <= 30, `${counted.mostKept} charts were kept at once`);
      await goTo(page, RATIOS);
      assert.deepEqual(await chartsOf(page, RATIOS), first);
      assert.deepEqual(await drawing(page, RATIOS), []);
    });

    if (more.layoutInDark)
      test("in the dark theme, too, nothing leaves its slide or is too small", () => {
        assert.deepEqual(found.layoutInDark, []);
      });

    if (more.axe)
      test("axe finds nothing on any slide", () => {
        assert.deepEqual(found.axe, []);
      });

    test("on a larger screen, too, nothing leaves its slide or is too small", async () => {
      await page.setViewportSize({ width: 1920, height: 1080 });
      await page.waitForFunction(() => window.replay.deck.getScale() > 1.49);
      assert.deepEqual((await lookAtEachSlide(page, [layoutProblems])).found, []);
    });

    test("no slide causes an error in the page, or a request to another server", () => {
      assert.deepEqual(page.complaints, []);
    });
  });
