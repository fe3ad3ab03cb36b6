/** Each kind of chart in a real Chromium: what the canvas holds, on a screen and on a phone, upright and on its side. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { EXAMPLES } from "../demo/examples.js";
import { overlap } from "../src/labels-layout.js";
import { canvas, csv, openChart, openDeck, routes, test } from "./support/deck.js";

const KINDS = EXAMPLES.filter(
  ({ type }) => type && !["bar", "scatter", "pie", "radar", "line"].includes(type),
);
const SIZES = [
  { width: 1136, height: 440, font: 20 },
  { width: 292, height: 420, font: 13 },
];
const demo = await readFile(new URL("../demo/examples.js", import.meta.url), "utf8");

/** Draws the kinds of the demo in a page and resolves to what each canvas holds. */
function drawn({ width, height, font }, lying) {
  return `
    const { EXAMPLES } = await import("/demo/examples.js");
    const { placedLabelsOf } = await import("/plugin/src/kinds/base.js");
    const kinds = EXAMPLES.filter(({ type }) => ${JSON.stringify(KINDS.map(({ type }) => type))}.includes(type));
    await Promise.all(kinds.map(({ type }) => csv.loadKind(type)));
    Chart.defaults.maintainAspectRatio = false;
    Chart.defaults.animation = false;
    Chart.defaults.plugins.csv.theme.font.size = ${font};
    const usual = (type) => Chart.overrides[type]?.indexAxis ?? "x";
    window.made = kinds.map(({ type, csv: text, options = {} }) => {
      const box = document.createElement("div");
      Object.assign(box.style, { position: "relative", width: "${width}px", height: "${height}px" });
      const place = document.createElement("canvas");
      box.append(place);
      document.body.append(box);
      const indexAxis = ${lying} ? (usual(type) === "y" ? "x" : "y") : usual(type);
      const plugins = { legend: false, ...options.plugins, csv: { text, ...options.plugins?.csv } };
      const chart = new Chart(place, { type, data: { datasets: [] }, options: { ...options, indexAxis, plugins } });
      const { left, right, top, bottom } = chart.chartArea;
      const elements = chart.data.datasets.map(({ label }, index) => {
        const meta = chart.getDatasetMeta(index);
        const { points } = csvOf(chart).entries[index];
        return {
          label,
          marks: meta.data.map((one, at) => {
            const { x, y, width = null, height = null, size, skip, style, color, cells = null } = one;
            const { vScale, iScale } = meta;
            const { y: value, x: place } = points[at];
            return {
              ...{ x, y, width, height, size, skip, style, color, value, place, cells: cells?.length ?? null },
              valueAt: vScale.getPixelForValue(value),
              placeAt: typeof place === "number" ? iScale.getPixelForValue(place) : null,
            };
          }),
        };
      });
      return {
        ...{ type, lying: indexAxis === "y", area: { left, right, top, bottom }, elements },
        labels: placedLabelsOf(chart),
        width: chart.width, height: chart.height,
        inked: place.getContext("2d").getImageData(0, 0, place.width, place.height).data.some(Boolean),
      };
    });`;
}

/** Within this many px a mark is at its value. */
const near = (a, b) => Math.abs(a - b) < 0.6;

/** Whether the marks of a kind are where their values are. */
const PLACED = {
  quadrant: ({ elements, lying }) =>
    elements.every(({ marks }) => {
      const own = marks.filter(({ skip, style }) => !skip && style !== "none");
      return own.every(({ x, y, valueAt, placeAt }) =>
        lying ? near(x, valueAt) && near(y, placeAt) : near(y, valueAt) && near(x, placeAt),
      );
    }),
  dumbbell: ofValues,
  forest: ofValues,
  strip: ofValues,
  response: ({ elements, lying }) =>
    elements.every(({ marks }) =>
      marks.every(({ x, y, valueAt, placeAt }) =>
        lying ? near(x, valueAt) && near(y, placeAt) : near(y, valueAt) && near(x, placeAt),
      ),
    ),
  squares: ({ elements }) =>
    elements.every(({ marks }) =>
      marks.every(({ value, cells, skip }) =>
        skip ? value === 0 : cells === Math.max(1, Math.round(value)),
      ),
    ),
  chain: ({ elements, lying, area }) =>
    elements.every(({ marks: [bar] }) =>
      lying
        ? near(bar.x - bar.width / 2, area.left) && near(bar.x + bar.width / 2, bar.valueAt)
        : near(bar.y + bar.height / 2, area.bottom) && near(bar.y - bar.height / 2, bar.valueAt),
    ),
  heatmap: ({ elements }) => {
    const cells = elements.flatMap(({ marks }) => marks).filter(({ value }) => value !== null);
    const sorted = [...cells].sort((a, b) => a.value - b.value);
    const lightness = ({ color }) => color.match(/\d+/g).reduce((sum, one) => sum + Number(one), 0);
    return sorted.every((cell, at) => at === 0 || lightness(cell) <= lightness(sorted[at - 1]));
  },
  share: ({ elements: [up, down], lying }) => {
    const length = ({ width, height }) => (lying ? width : height);
    const isProportional = ({ marks }) =>
      marks.every(
        (mark) => Math.abs(length(mark) / length(marks[0]) / (mark.value / marks[0].value) - 1) < 0.02,
      );
    return isProportional(up) && isProportional(down);
  },
};

function ofValues({ elements, lying }) {
  return elements.every(({ marks }) =>
    marks.every(({ x, y, valueAt, skip }) => skip || near(lying ? x : y, valueAt)),
  );
}

for (const size of SIZES) {
  for (const lying of [false, true]) {
    const where = `${size.width} px wide, ${lying ? "the other way round" : "as usual"}`;
    test(`every kind draws its values and names without a collision: ${where}`, async () => {
      routes.set("/demo/examples.js", { type: "text/javascript", body: demo });
      const page = await openChart({ script: drawn(size, lying) });
      const charts = await page.evaluate(() => window.made);
      assert.equal(charts.length, KINDS.length);
      charts.forEach((chart, at) => {
        const { type, elements, labels, width, height } = chart;
        const { drawn: wanted } = KINDS[at];
        assert.ok(chart.inked, type);
        assert.deepEqual(
          elements.map(({ label }) => label),
          Object.keys(wanted),
          type,
        );
        for (const { label, marks } of elements) {
          const shown = marks.filter(({ skip }) => !skip);
          // A narrow chart leaves its cells to its table; a count of none is no square.
          const isWhole = type !== "chain" && type !== "squares";
          // What was not measured has a mark in a heat map, too.
          const measured = shown.filter(({ value }) => value !== null);
          if (isWhole) assert.equal(measured.length, wanted[label], `${type}: ${label}`);
          for (const { x, y } of shown)
            assert.ok(x >= 0 && x <= width && y >= 0 && y <= height, `${type}: ${label} at ${x}, ${y}`);
        }
        assert.ok(PLACED[type](chart), `${type}: a mark is not at its value`);
        const boxes = labels.map((label) => ({
          ...label,
          right: label.left + label.width,
          bottom: label.top + label.height,
        }));
        for (const [index, box] of boxes.entries()) {
          assert.ok(box.left >= -1 && box.right <= width + 1, `${type}: “${box.text}” leaves the chart`);
          assert.ok(box.top >= -1 && box.bottom <= height + 1, `${type}: “${box.text}” leaves the chart`);
          for (const other of boxes.slice(index + 1))
            assert.ok(!overlap(box, other), `${type}: “${box.text}” lies on “${other.text}”`);
        }
      });
    });
  }
}

const DUMBBELL = "way,typical,tail\nJournal,0.01,0.03\nSnapshot,0.003,0.15\n";
const slotOf = (page, n = 0) =>
  page.evaluate((index) => {
    const slot = [...window.plugin.charts.values()][index];
    const { chart } = slot;
    return {
      error: slot.error?.message ?? null,
      series: chart.data.datasets.map(({ label }, at) => [label, chart.isDatasetVisible(at)]),
      marks: chart.data.datasets.map((_, at) =>
        chart.getDatasetMeta(at).data.map(({ x, y, skip }) => (skip ? null : [Math.round(x), Math.round(y)])),
      ),
      table: window.Chart.getChart(slot.canvas) === chart && slot.canvas.getAttribute("aria-label"),
    };
  }, n);

test("a slide's kind is fetched by its name, told in a sentence, and follows its file", async () => {
  csv("/d/way.csv", DUMBBELL);
  const page = await openDeck({
    sections: [canvas("/d/way.csv", "dumbbell", "", 'data-chart-y-unit="seconds"')],
  });
  const fetched = await page.evaluate(() =>
    performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname),
  );
  assert.ok(fetched.includes("/plugin/src/kinds/dumbbell.js"));
  assert.ok(!fetched.includes("/plugin/src/kinds/quadrant.js"), "what no slide has is not fetched");
  const before = await slotOf(page);
  assert.match(before.table, /^Dumbbells: Journal 10 ms for typical, 30 ms for tail; Snapshot 3 ms for/);
  csv("/d/way.csv", DUMBBELL.replace("0.15", "0.3"));
  await page.evaluate(() => window.plugin.refresh());
  const after = await slotOf(page);
  assert.match(after.table, /300 ms for tail/);
  assert.deepEqual(after.marks[1][1][1], before.marks[1][1][1], "its row stays");
  assert.ok(after.marks[0][1][0] < before.marks[0][1][0], "the axis has become longer");
});

test("series of a kind are revealed one by one, and nothing moves", async () => {
  csv("/d/way.csv", DUMBBELL);
  const page = await openDeck({ sections: [canvas("/d/way.csv", "dumbbell")] });
  const shown = (names) =>
    page.evaluate((wanted) => [...window.plugin.charts.values()][0].setShown(wanted), names);
  const all = await slotOf(page);
  await shown(["Journal"]);
  const first = await slotOf(page);
  assert.deepEqual(
    first.series.map(([, isVisible]) => isVisible),
    [true, false],
  );
  assert.deepEqual(first.marks[0], all.marks[0]);
  await shown(null);
  assert.deepEqual(await slotOf(page), all);
});

test("several files make one chart, and one of them that is absent is named below it", async () => {
  csv("/d/iops.csv", "x,4096\nplain,100\njournal,50\n");
  csv("/d/latency.csv", "x,4096\nplain,0.01\njournal,0.02\n");
  const chart = (more) =>
    canvas("/d/iops.csv", "dumbbell", "", `data-chart-more="${more}" data-chart-names="writes | waiting"`);
  const page = await openDeck({ sections: [chart("/d/latency.csv"), chart("/d/none.csv")] });
  const models = await page.evaluate(() =>
    [...window.plugin.charts.values()].map(({ model }) => ({
      xs: model.xs,
      journal: model.series.find(({ name }) => name === "journal").points.map(({ y }) => y),
      lacking: model.lacking ?? [],
    })),
  );
  assert.deepEqual(models[0], { xs: ["writes", "waiting"], journal: [50, 0.02], lacking: [] });
  assert.equal(models[1].lacking.length, 1);
  assert.match(JSON.stringify(models[1].lacking), /waiting|none/);
});

test("the page's own scales stay with axes: false", async () => {
  const page = await openChart({
    script: `
      await csv.loadKind("strip");
      const scales = { x: { type: "category", labels: ["A"] }, y: { type: "linear", min: 0, max: 50 } };
      window.chart = new Chart(canvas, { type: "strip", data: { datasets: [] }, options: { animation: false, scales,
        plugins: { csv: { text: "series,x,y,low,high,n\\nA,1,1,,,1\\nA,2,3,,,1\\n", axes: false } } } });`,
  });
  const { max, marks, pixels } = await page.evaluate(() => ({
    max: window.chart.scales.y.max,
    marks: window.chart.getDatasetMeta(0).data.map(({ y }) => y),
    pixels: [1, 3].map((value) => window.chart.scales.y.getPixelForValue(value)),
  }));
  assert.equal(max, 50);
  assert.deepEqual(marks, pixels);
});

test("a click or a step places a bet, a second click on it takes it back, and another chart of the page shows it", async () => {
  const page = await openChart({
    script: `
      await csv.loadKind("quadrant");
      const text = "way,lost,typical\\nJournal,5,0.01\\nSnapshot,60,0.003\\n";
      const own = (more) => ({ text, xUnit: "seconds", yUnit: "seconds", bets: ["a journal", "nothing"], ...more });
      const make = (place, more) => new Chart(place, { type: "quadrant", data: { datasets: [] },
        options: { animation: false, responsive: false, plugins: { legend: false, csv: own(more) } } });
      Object.assign(canvas, { width: 800, height: 500 });
      const other = document.createElement("canvas");
      Object.assign(other, { width: 800, height: 500 });
      document.body.append(other);
      Object.assign(window, { empty: make(canvas, { bet: true, shown: [] }), full: make(other, {}) });
      const { placedLabelsOf } = await import("/plugin/src/kinds/base.js");
      window.names = (chart) => placedLabelsOf(chart).map(({ text: name }) => name);`,
  });
  /** Clicks, and waits until the two charts have these names of bets. */
  const press = async (x, y, bets) => {
    await page.locator("#chart").click({ position: { x, y } });
    await page.waitForFunction(
      (wanted) =>
        [window.empty, window.full].every(
          (chart) =>
            window
              .names(chart)
              .filter((name) => !/\d/.test(name))
              .sort()
              .join() === wanted,
        ),
      bets.join(),
    );
  };
  await press(300, 200, ["a journal"]);
  await press(500, 300, ["a journal", "nothing"]);
  await press(300, 200, ["nothing"]);
  const { told, shown } = await page.evaluate(async () => {
    const { showBets, stepBet } = await import("/plugin/src/kinds/bets.js");
    const heard = [];
    document.addEventListener("chart-csv:bets", ({ detail }) => heard.push([...detail].at(-1)));
    for (const step of ["name", "x", "y", "y", "y"]) stepBet(window.empty, step);
    showBets(new Map([["a journal", { x: 5, y: 0.01 }]]));
    const named = () => window.names(window.full).filter((name) => !/\d/.test(name));
    const shownWith = (parts) => {
      window.csvOf(window.full).change({ shown: parts });
      return named();
    };
    const all = ["Journal", "Snapshot"];
    return { told: heard, shown: [named(), shownWith(all), shownWith([...all, "your bets"])] };
  });
  assert.deepEqual(
    told.map(([name, { x }]) => `${name} ${x}`),
    ["a journal 1", ...Array(4).fill("a journal 5")],
  );
  const heights = told.slice(1).map(([, { y }]) => y);
  assert.ok(heights[0] < heights[1] && heights[1] < heights[2], heights.join());
  assert.equal(heights[3], heights[0]);
  assert.deepEqual(shown, [["a journal"], [], ["a journal"]], "a slide reveals them as a part of their own");
});

test("columns of trials are held against a level, which goes with the trials", async () => {
  const page = await openChart({
    script: `
      await csv.loadKind("squares");
      const rows = [2, 4, 6, 8, 10, 12, 14, 16].map((y, at) => "Snapshot," + at + "," + y + ",,,1\\n");
      const trials = "series,x,y,low,high,n\\n" + rows.join("") + "Journal,1,3,,,1\\n";
      const levels = { name: "interval", of: { Snapshot: 15 } };
      const { placedLabelsOf } = await import("/plugin/src/kinds/base.js");
      window.held = async (indexAxis) => {
        Object.assign(canvas, { width: 800, height: 500 });
        const chart = new Chart(canvas, { type: "squares", data: { datasets: [] }, options: { animation: false,
          responsive: false, indexAxis, plugins: { legend: false, csv: { text: trials, yUnit: "seconds", levels } } } });
        const drawn = () => [
          placedLabelsOf(chart).map(({ text }) => text).filter((text) => text.includes("interval")),
          chart.getSortedVisibleDatasetMetas().filter(({ controller }) => controller.level).length,
        ];
        const before = drawn();
        chart.config.options.plugins.csv.text = "writes,kept,lost\\nSnapshot,60,5\\nJournal,60,5\\n";
        await csvOf(chart).refresh();
        const after = drawn();
        chart.destroy();
        return [before, after];
      };`,
  });
  for (const axis of ["x", "y"])
    assert.deepEqual(await page.evaluate((along) => window.held(along), axis), [
      [["interval: 15 s"], 1],
      [[], 0],
    ]);
});
