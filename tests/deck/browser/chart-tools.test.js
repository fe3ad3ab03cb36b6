/** The tools around the charts, in a real browser: keys on stage, controls and panel for readers, steps, comparison. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, test } from "node:test";

import { parse } from "csv-parse/sync";

import { READY } from "../support/browser.js";
import { chartsOf, goTo, startDeck } from "../support/deck.js";
import { layoutProblems } from "../../../scripts/deck/check/layout.js";
import { withToolsChapterAlone } from "../support/chapters.js";

const deck = await startDeck();
after(() => deck.close());

async function open(query, id, options = {}) {
  const page = await deck.openDeck(`?data=fixture${query}`, {
    hash: `#/${id}`,
    prepare: withToolsChapterAlone,
    ...options,
  });
  await page.evaluate(() => window.replay.stage.tools.ready);
  await page.evaluate(() => window.replay.charts.ready());
  return page;
}

/** The values of a CSV file of the fixture, by series and x, read by another parser than ours. */
async function csv(name) {
  const text = await readFile(path.join(deck.benchmarks, "fixture/rbd-journaling/aggregate", name), "utf8");
  const [[, ...xs], ...rows] = parse(text);
  return { xs, series: Object.fromEntries(rows.map(([label, ...values]) => [label, values.map(Number)])) };
}

/** Presses a key, and waits until it has its effect and no chart waits for another file. */
const press = async (page, key, until) => {
  await page.keyboard.press(key);
  await page.waitForFunction(until);
  await page.waitForFunction(() =>
    [...window.replay.charts.charts.values()].every(({ chart, model, error }) => !chart || model || error),
  );
};
const shownSource = (page, id) =>
  page.$$eval(`#${id} canvas`, (all) =>
    all.map((one) => window.replay.charts.charts.get(one).src.split("/").at(-1)),
  );
/** The names of what is marked in the first chart of a slide. */
const marks = (page, id) =>
  page.$eval(`#${id} canvas`, (one) => {
    const { chart } = window.replay.charts.charts.get(one);
    const { items } = chart.config.options.plugins.csvMarks;
    return (typeof items === "function" ? items(chart) : items).map(
      ({ label, value, low, high }) => label ?? (high ? { low, high } : { value }),
    );
  });
const scaleType = (page, id) =>
  page.$eval(`#${id} canvas`, (one) => window.replay.charts.charts.get(one).chart.scales.y.type);

test("T shows the charts of a slide as one table with exactly the figures of their CSVs, and hides it again", async () => {
  const page = await open("", "tools-panels");
  const before = await chartsOf(page, "tools-panels");
  await press(page, "t", () => document.querySelector("#tools-panels .chart-table-view table"));
  const files = await Promise.all(["seq", "rand"].map((name) => csv(`ratio-throughput-write-${name}.csv`)));
  const table = await page.$eval("#tools-panels .chart-table-view table", (one) => ({
    caption: one.caption.textContent,
    columns: [...one.tHead.rows[0].cells].map((cell) => [cell.textContent, cell.scope]),
    rows: [...one.tBodies[0].rows].map((row) =>
      [...row.cells].map((cell) => cell.dataset.figure ?? cell.textContent),
    ),
    scopes: [...one.tBodies[0].rows].map((row) => row.cells[0].scope),
  }));
  assert.match(table.caption, /^With journal · Throughput.* · interval beside it/);
  assert.deepEqual(table.columns, [
    ["I/O size", "col"],
    ["Sequential writes", "col"],
    ["Random writes", "col"],
  ]);
  assert.deepEqual(
    table.rows.map(([, ...figures]) => figures.map(Number)),
    files[0].xs.map((_, at) => files.map(({ series }) => series["With journal"][at])),
  );
  assert.equal(table.rows[0][0], "4 KiB");
  assert.deepEqual([...new Set(table.scopes)], ["row"]);
  assert.deepEqual(await page.evaluate(layoutProblems, "tools-panels"), []);
  await press(page, "t", () => !document.querySelector("#tools-panels .chart-table-view"));
  assert.equal(await page.$$eval("#tools-panels [inert]", (all) => all.length), 0);
  assert.deepEqual(await chartsOf(page, "tools-panels"), before);
});

test("on a stage, where nobody can scroll, a table that is too wide leaves out the intervals", async () => {
  for (const [query, details] of [
    ["", false],
    ["&explore", true],
  ]) {
    const page = await open(query, "tools-wide");
    await press(page, "t", () => document.querySelector("#tools-wide .chart-table-view table"));
    const facts = await page.$eval("#tools-wide .chart-table-view", (view) => ({
      details: view.querySelector(".detail") !== null,
      caption: view.querySelector("caption").textContent.includes("beside it"),
      wide: view.scrollWidth > view.clientWidth,
    }));
    assert.deepEqual(facts, { details, caption: details, wide: details }, query);
    await page.close();
  }
});

test("a table that does not fit ends with a whole row, and says how many rows follow", async () => {
  const page = await open("", "tools-wide");
  await page.addStyleTag({
    content: "#tools-wide .chart-figure { flex: none; height: 230px; overflow: hidden }",
  });
  await press(page, "t", () => document.querySelector("#tools-wide .chart-table-rest"));
  const facts = () =>
    page.$eval("#tools-wide .chart-table-view", (view) => {
      const rest = view.querySelector(".chart-table-rest");
      const edge = rest.getBoundingClientRect().top;
      const rows = [...view.querySelectorAll("tbody tr")].map((row) => row.getBoundingClientRect());
      return {
        rows: rows.length,
        whole: rows.filter(({ bottom }) => bottom <= edge + 1).length,
        cut: rows.filter(({ top, bottom }) => top < edge - 1 && bottom > edge + 1).length,
        says: rest.textContent,
      };
    });
  const first = await facts();
  assert.ok(first.whole > 1 && first.whole < first.rows, JSON.stringify(first));
  assert.equal(first.cut, 0);
  assert.equal(first.says, `${first.rows - first.whole} more rows`);
  await page.$eval("#tools-wide .chart-table-view", (view) => view.scrollTo(0, view.scrollHeight));
  await page.waitForFunction(
    () => document.querySelector("#tools-wide .chart-table-rest").textContent === "",
  );
  assert.equal((await facts()).whole, first.rows);
});

test("a table follows changes of its file", async () => {
  const page = await open("", "tools-steps");
  await press(page, "t", () => document.querySelector("#tools-steps .chart-table-view table"));
  const name = "fixture/rbd-journaling/aggregate/throughput-write-seq.csv";
  const text = await readFile(path.join(deck.benchmarks, name), "utf8");
  await deck.replaceFile(name, text.replace(/^(Without journal),[^,]+/m, "$1,99999999"));
  await page.waitForFunction(() =>
    document.querySelector("#tools-steps .chart-table-view [data-figure='99999999']"),
  );
  await deck.replaceFile(name, text);
});

test("a table gives its place back to charts that are not made yet, and keeps no figures of other data", async () => {
  const page = await open("&explore", "tools-panels", { viewport: { width: 390, height: 844 } });
  const control = page.locator('#tools-panels [data-control="table"]');
  await control.press("Space");
  await page.waitForSelector("#tools-panels .chart-table-view table");
  // On a phone the table leaves its charts no place in which they could be made for the other data.
  await page.evaluate(() => window.replay.stage.update(null));
  assert.equal(await page.locator("#tools-panels .chart-table-view").count(), 0);
  assert.equal(await control.getAttribute("aria-pressed"), "false");
  await page.waitForFunction(() =>
    [...document.querySelectorAll("#tools-panels canvas")].every(
      (canvas) => window.replay.charts.charts.get(canvas).model,
    ),
  );
});

test("R changes all panels to absolute values, with the line to which ratios refer, and says so", async () => {
  const page = await open("", "tools-panels");
  const measure = () =>
    page.$$eval("#tools-panels .measure", (all) =>
      all.filter((one) => one.checkVisibility()).map((one) => one.textContent.trim()),
    );
  assert.deepEqual(await measure(), ["The slide's own measure"]);
  assert.match(await page.innerText("#tools-panels h3"), /as a ratio/);
  await press(page, "r", () => document.querySelector("#tools-panels .computed-measure"));
  assert.deepEqual(await shownSource(page, "tools-panels"), [
    "throughput-write-seq.csv",
    "throughput-write-rand.csv",
  ]);
  const charts = await chartsOf(page, "tools-panels");
  const file = await csv("throughput-write-seq.csv");
  assert.deepEqual(charts[0].shown, ["Without journal", "With journal"]);
  assert.deepEqual(charts[0].series["Without journal"], file.series["Without journal"]);
  const [line, ...others] = await measure();
  assert.deepEqual(others, []);
  assert.match(line, /^Throughput by I\/O size: .*; higher is better$/);
  assert.equal(await page.innerText("#tools-panels h3"), "Sequential writes");
  const ranges = await page.$$eval("#tools-panels canvas", (all) =>
    all.map((one) => {
      const { chart, model } = window.replay.charts.charts.get(one);
      const shown = model.series.filter(({ name }) => ["Without journal", "With journal"].includes(name));
      const greatest = Math.max(...shown.flatMap(({ points }) => points.map(({ y }) => y)));
      return { min: chart.scales.y.min, max: chart.scales.y.max, holds: chart.scales.y.max >= greatest };
    }),
  );
  assert.deepEqual([ranges[0].min, ranges[0].max], [ranges[1].min, ranges[1].max]);
  assert.ok(ranges.every(({ holds, min }) => holds && min === 0));
  await press(page, "r", () => !document.querySelector("#tools-panels .computed-measure"));
  assert.deepEqual(await shownSource(page, "tools-panels"), [
    "ratio-throughput-write-seq.csv",
    "ratio-throughput-write-rand.csv",
  ]);
  assert.deepEqual(await measure(), ["The slide's own measure"]);
});

test("Y changes the axis of all panels together, D shows every run as a dot", async () => {
  const page = await open("", "tools-panels");
  assert.equal(await scaleType(page, "tools-panels"), "log2");
  await press(page, "y", () =>
    [...document.querySelectorAll("#tools-panels canvas")].every(
      (one) => window.replay.charts.charts.get(one).chart.scales.y.type === "linear",
    ),
  );
  const axes = await page.$$eval("#tools-panels canvas", (all) =>
    all.map((one) => {
      const { min, max } = window.replay.charts.charts.get(one).chart.scales.y;
      return { min, max };
    }),
  );
  assert.deepEqual(axes[0], axes[1]);
  assert.equal(axes[0].min, 0);
  assert.deepEqual(await marks(page, "tools-panels"), [{ value: 1 }]);
  await press(page, "y", () =>
    [...document.querySelectorAll("#tools-panels canvas")].every(
      (one) => window.replay.charts.charts.get(one).chart.scales.y.type === "log2",
    ),
  );
  await press(page, "d", () =>
    [...document.querySelectorAll("#tools-panels canvas")].every(
      (one) => window.replay.charts.charts.get(one).state.runs,
    ),
  );
  assert.deepEqual(
    await page.$$eval("#tools-panels canvas", (all) =>
      all.map((one) => window.replay.charts.charts.get(one).runsError?.message ?? null),
    ),
    [null, null],
  );
});

test("on stage a slide returns to its author's settings when it is entered again", async () => {
  const page = await open("", "tools-panels");
  for (const key of ["r", "y", "d", "t"]) await page.keyboard.press(key);
  await page.waitForSelector("#tools-panels .chart-table-view table");
  await goTo(page, "tools-words");
  await page.waitForFunction(
    () => !document.querySelector("#tools-panels .chart-table-view, #tools-panels .computed-measure"),
  );
  await goTo(page, "tools-panels");
  assert.deepEqual(await shownSource(page, "tools-panels"), [
    "ratio-throughput-write-seq.csv",
    "ratio-throughput-write-rand.csv",
  ]);
  assert.equal(await scaleType(page, "tools-panels"), "log2");
  assert.deepEqual(
    await page.$eval("#tools-panels canvas", (one) => {
      const { scale, runs, used } = window.replay.charts.charts.get(one).state;
      return { scale, runs, used };
    }),
    { scale: null, runs: false, used: null },
  );
});

test("on stage there are no controls and no panel, and no part of a chart takes the focus", async () => {
  const page = await open("", "tools-panels");
  for (const key of ["i", "e", "x"]) await page.keyboard.press(key);
  assert.equal(await page.locator(".chart-controls, dialog, .chart-toast").count(), 0);
  const takers = "button, input, select, textarea, canvas[tabindex]";
  assert.equal(await page.locator(takers).filter({ visible: true }).count(), 0);
});

test("each click reveals one line, on an axis that does not move", async () => {
  const page = await open("", "tools-steps");
  const facts = () =>
    page.$eval("#tools-steps canvas", (one) => {
      const { chart } = window.replay.charts.charts.get(one);
      const shown = chart.data.datasets
        .filter((_, at) => chart.isDatasetVisible(at))
        .map(({ label }) => label);
      const { min, max } = chart.scales.y;
      return { shown, range: [min, max], name: one.getAttribute("aria-label") };
    });
  const first = await facts();
  assert.deepEqual(first.shown, ["Without journal"]);
  assert.doesNotMatch(first.name, /Journal mirrored/);
  await page.keyboard.press("PageDown");
  const second = await facts();
  assert.deepEqual(second.shown, ["Without journal", "With journal"]);
  await page.keyboard.press("PageDown");
  const third = await facts();
  assert.deepEqual(third.shown, ["Without journal", "With journal", "Journal mirrored"]);
  assert.match(third.name, /Journal mirrored/);
  assert.deepEqual([first.range, second.range], [third.range, third.range]);
  await page.keyboard.press("PageUp");
  assert.deepEqual((await facts()).shown, second.shown);
  // The table says what the chart shows.
  await press(page, "t", () => document.querySelector("#tools-steps .chart-table-view table"));
  assert.deepEqual(
    await page.$$eval("#tools-steps .chart-table-view thead th", (all) =>
      all.slice(1).map((one) => one.textContent),
    ),
    second.shown,
  );
  await press(page, "t", () => !document.querySelector("#tools-steps .chart-table-view"));
  await page.evaluate(() => window.replay.deck.toggleOverview(true));
  assert.deepEqual((await facts()).shown, third.shown);
  await page.evaluate(() => window.replay.deck.toggleOverview(false));
  assert.deepEqual((await facts()).shown, second.shown);
});

test("on paper all steps are shown", async () => {
  const page = await deck.openDeck("?data=fixture&view=print", {
    ready: READY.print,
    prepare: withToolsChapterAlone,
  });
  const shown = await page.evaluate(() => {
    const slot = window.replay.charts.charts.get(document.querySelector("#tools-steps canvas"));
    return slot.shownModel.series.map(({ name }) => name);
  });
  assert.deepEqual(shown, ["Without journal", "With journal", "Journal mirrored"]);
});

test("the margin of a claim and published figures are marked, each where it belongs", async () => {
  const page = await open("", "tools-steps");
  assert.deepEqual(await marks(page, "tools-steps"), ["S1, journal"]);
  await goTo(page, "tools-read");
  assert.deepEqual(await marks(page, "tools-read"), [{ low: 0.8, high: 1.25 }]);
  assert.match(
    await page.textContent("#tools-read .provenance"),
    / · shaded: 0\.800× to 1\.25× counts as no difference/,
  );
  assert.doesNotMatch(await page.textContent("#tools-panels .provenance"), /shaded/);
});

test("a second data set is drawn beside the first, and the label names both", async () => {
  const page = await open("&compare=fixture-small", "tools-steps");
  await page.waitForFunction(() => {
    const slot = window.replay.charts.charts.get(document.querySelector("#tools-steps canvas"));
    return slot.state.overlay && slot.overlayError === null && slot.drawn;
  });
  const facts = await page.$eval("#tools-steps canvas", (one) => {
    const { state, chart } = window.replay.charts.charts.get(one);
    return {
      overlay: state.overlay,
      labels: chart.data.datasets.map(({ label }) => label),
      name: one.ariaLabel,
    };
  });
  assert.deepEqual(facts.overlay, {
    src: "benchmarks/fixture-small/rbd-journaling/aggregate/throughput-write-seq.csv",
    label: "fixture-small",
    more: [],
  });
  assert.match(facts.name, /compared with fixture-small/);
  const label = await page.textContent("#tools-steps .provenance");
  assert.match(label, /^fixture: .* n = 10 .*hollow markers show fixture-small: .* n = 1 /);
  await goTo(page, "tools-clients");
  assert.match(
    await page.textContent("#tools-clients .provenance"),
    /fixture-small has nothing to compare with here/,
  );
});

test("a comparison with a missing data set is refused, and a message lists the existing ones", async () => {
  const page = await open("&compare=nowhere", "tools-steps");
  assert.match(
    await page.textContent(".notice"),
    /no data set “nowhere” to compare with.*fixture, fixture-small/,
  );
  assert.doesNotMatch(await page.textContent("#tools-steps .provenance"), /nowhere/);
});

test("a reader has buttons that show what is on, and charts that can be read with the keyboard", async () => {
  const page = await open("&explore", "tools-panels");
  const control = (name) => page.locator(`#tools-panels .chart-controls button:visible`, { hasText: name });
  assert.equal(await control("Table").getAttribute("aria-pressed"), "false");
  await control("Table").focus();
  await page.keyboard.press("Space");
  await page.waitForSelector("#tools-panels .chart-table-view table");
  assert.equal(await page.evaluate(() => window.replay.deck.getCurrentSlide().id), "tools-panels");
  assert.equal(await control("Table").getAttribute("aria-pressed"), "true");
  await control("Table").click();
  await page.waitForFunction(() => !document.querySelector("#tools-panels [inert]"));
  const canvas = page.locator("#tools-panels canvas").first();
  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  const said = () =>
    page.$eval("#tools-panels canvas", (one) => {
      const { tooltip } = window.replay.charts.charts.get(one).chart;
      return [tooltip.opacity, ...tooltip.title, ...tooltip.body.flatMap(({ lines }) => lines)];
    });
  const [opacity, title, text] = await said();
  assert.equal(opacity, 1);
  assert.equal(title, "I/O size 4 KiB");
  assert.match(text, /^With journal: /);
  await page.keyboard.press("ArrowRight");
  assert.equal((await said())[1], "I/O size 8 KiB");
  await page.keyboard.press("End");
  assert.equal((await said())[1], "I/O size 4 MiB");
  assert.equal(await page.evaluate(() => window.replay.deck.getCurrentSlide().id), "tools-panels");
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "BODY");
  assert.equal(await page.evaluate(() => window.replay.deck.isOverview()), false);
  assert.deepEqual(await page.evaluate(layoutProblems, "tools-panels"), []);
});

test("the panel says where a chart comes from and copies its CSV, its command and its picture", async () => {
  const page = await open("&explore", "tools-panels");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.keyboard.press("i");
  const panel = page.locator("dialog.chart-panel");
  await panel.waitFor();
  assert.deepEqual(await panel.locator("h3").allTextContents(), ["Sequential writes", "Random writes"]);
  const first = panel.locator("section").first();
  assert.match(await first.textContent(), /n = 10 · 3 Jan 2026 · limited by the CPU/);
  assert.match(await first.textContent(), /attempts: \d+ used/);
  assert.match(
    await first.textContent(),
    /benchmarks\/fixture\/rbd-journaling\/raw\/block-01-\*\.tar\.gz … block-10-\*\.tar\.gz/,
  );
  const command = await first.locator("code.command").first().textContent();
  assert.match(
    command,
    /^\.\/replay measure --site \S+ --data mine --scale \S+ --experiment rbd-journaling$/,
  );
  const status = panel.locator(".panel-status");
  await first.getByRole("button", { name: "Copy CSV" }).click();
  await page.waitForFunction(() =>
    /ratio-throughput-write-seq\.csv copied/.test(document.querySelector(".panel-status").textContent),
  );
  const name = "fixture/rbd-journaling/aggregate/ratio-throughput-write-seq.csv";
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  assert.equal(await clipboard(), await readFile(path.join(deck.benchmarks, name), "utf8"));
  await first.getByRole("button", { name: "Copy: Measure it again" }).click();
  await page.waitForFunction(() =>
    /Command copied/.test(document.querySelector(".panel-status").textContent),
  );
  assert.equal(await clipboard(), command);
  await first.getByRole("button", { name: "Copy: line to cite this chart" }).click();
  await page.waitForFunction(() => /Line copied/.test(document.querySelector(".panel-status").textContent));
  assert.match(
    await clipboard(),
    /^What does your RPO cost\? “.+”, chart “Sequential writes”\. fixture: .* 3 Jan 2026.* Replay \d\.\d+\.\d+\. https?:\S+chart=1#\/tools-panels$/,
  );
  await first.getByRole("button", { name: "Copy picture" }).click();
  await page.waitForFunction(() =>
    /Picture copied/.test(document.querySelector(".panel-status").textContent),
  );
  assert.equal(await status.textContent(), "Picture copied.");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    first.getByRole("button", { name: "Save picture" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "ratio-throughput-write-seq.png");
  const png = await readFile(await download.path());
  assert.deepEqual([...png.subarray(1, 4)].map((one) => String.fromCharCode(one)).join(""), "PNG");
  assert.ok(png.length > 5000, `${png.length} bytes`);
  for (const href of await first.locator("a").evaluateAll((all) => all.map((one) => one.href))) {
    if (/[#?]/.test(href)) continue;
    assert.equal((await page.request.get(href)).status(), 200, href);
  }
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => window.replay.deck.getCurrentSlide().id), "tools-panels");
});

test("an address leads to one chart of a slide", async () => {
  const page = await open("&explore&chart=2", "tools-panels");
  assert.equal(await page.evaluate(() => document.activeElement.closest(".chart-box").id), "tools-panels--2");
  assert.ok(await page.$eval("#tools-panels--2", (one) => one.classList.contains("linked")));
  await page.close();
  const stage = await open("&chart=2", "tools-panels");
  assert.ok(await stage.$eval("#tools-panels--2", (one) => one.classList.contains("linked")));
});
