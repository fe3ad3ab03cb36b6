/** What a canvas shows of its CSV file. every-slide.test.js compares each chart of the talk with its file. */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { parse } from "csv-parse/sync";

import { POINTS, pointsCsv } from "../../../scripts/deck/perf/points.js";
import { withChapter, withClients, withMoving } from "../support/chapters.js";
import { chartsOf, goTo, startDeck } from "../support/deck.js";

const deck = await startDeck();
after(() => deck.close());

test("a chart of some series shows only those, and keeps the numbers of all", async () => {
  const page = await deck.openDeck();
  await goTo(page, "iops");
  const [chart] = await chartsOf(page, "iops");
  const chosen = await page.getAttribute("#iops canvas", "data-chart-series");
  assert.deepEqual(
    [...chart.shown].sort(),
    chosen
      .split("|")
      .map((name) => name.trim())
      .sort(),
  );
  assert.ok(Object.keys(chart.series).length > chart.shown.length);
});

for (const [reducedMotion, between] of [
  ["no-preference", null],
  ["no-preference", "between"],
  ["reduce", null],
])
  test(`a chart begins where it stood on the slide before${between ? " the last one" : ""}, with the wish for motion ${reducedMotion}`, async () => {
    const page = await deck.openDeck("?data=fixture", { reducedMotion, prepare: withMoving });
    await goTo(page, "bytes");
    const { before, first, settled } = await page.evaluate((other) => {
      const { charts } = window.replay.deck.getPlugin("chart-csv");
      const chartOf = (id) => charts.get(document.querySelector(`#${id} canvas[data-id="write-seq"]`)).chart;
      const yOf = (chart) => chart.getDatasetMeta(0).data.at(-1).y;
      const before = yOf(chartOf("bytes"));
      for (const id of [other, "operations"].filter(Boolean)) {
        const { h, v } = window.replay.deck.getIndices(document.getElementById(id));
        window.replay.deck.slide(h, v);
      }
      const chart = chartOf("operations");
      const first = yOf(chart);
      chart.update("none");
      return { before, first, settled: yOf(chart) };
    }, between);
    assert.ok(Math.abs(before - settled) > 2, `the two charts differ there: ${before}, ${settled}`);
    assert.ok(Math.abs(first - (reducedMotion === "reduce" ? settled : before)) < 1, `${first}`);
  });

for (const deviceScaleFactor of [1, 2])
  test(`a canvas has a pixel for each pixel of the screen, at a pixel ratio of ${deviceScaleFactor}`, async () => {
    const page = await deck.openDeck("?data=fixture", {
      viewport: { width: 1600, height: 900 },
      deviceScaleFactor,
    });
    for (const id of ["throughput-write-seq", "journal-ratio"]) {
      await goTo(page, id);
      const sizes = await page.$$eval(`#${id} canvas`, (all) =>
        all.map((canvas) => {
          const { width, height } = canvas.getBoundingClientRect();
          return {
            drawn: [canvas.width, canvas.height],
            shown: [width, height].map((one) => one * devicePixelRatio),
          };
        }),
      );
      for (const { drawn, shown } of sizes) {
        assert.ok(Math.abs(drawn[0] - shown[0]) <= 2, `${drawn} for ${shown}`);
        assert.ok(Math.abs(drawn[1] - shown[1]) <= 2, `${drawn} for ${shown}`);
      }
    }
  });

test("of 100,000 points a chart draws values of the file's own, including the highest and the lowest, and keeps all", async () => {
  const text = pointsCsv();
  const page = await deck.openDeck("?data=fixture", {
    prepare: async (opened) => {
      await withClients(opened);
      await opened.route("**/fixture/client-sweep/aggregate/iops-randwrite-4096.csv", (route) =>
        route.fulfill({ contentType: "text/csv", body: text }),
      );
    },
  });
  await goTo(page, "clients");
  const { held, drawn } = await page.evaluate(() => {
    const canvas = document.querySelector('#clients canvas[data-chart-src*="iops"]');
    const { model, chart } = window.replay.charts.charts.get(canvas);
    return {
      held: model.series[0].points.length,
      drawn: chart.data.datasets[0].data.map(({ x, y }) => [x, y]),
    };
  });
  const rows = parse(text, { from: 2 }).map(([, x, y]) => [Number(x), Number(y)]);
  const values = new Set(rows.map(([, y]) => y));
  assert.equal(held, POINTS);
  assert.ok(drawn.length < 10_000, `${drawn.length} points are drawn`);
  assert.deepEqual(
    drawn.filter(([, y]) => !values.has(y)),
    [],
    "values that are not in the file",
  );
  const extent = (points) =>
    points.reduce(([low, high], [, y]) => [Math.min(low, y), Math.max(high, y)], [Infinity, -Infinity]);
  assert.deepEqual(extent(drawn), extent(rows));
  assert.deepEqual([drawn[0], drawn.at(-1)], [rows[0], rows.at(-1)]);
});

test("an axis of clients has whole numbers, at the measured counts", async () => {
  const page = await deck.openDeck("?data=fixture", { prepare: withClients });
  await goTo(page, "clients");
  const ticks = await page.evaluate(() =>
    [...document.querySelectorAll("#clients canvas")].map((canvas) => {
      const { scales } = window.replay.charts.charts.get(canvas).chart;
      return { labels: scales.x.ticks.map(({ label }) => label), title: scales.x.options.title.text };
    }),
  );
  assert.equal(ticks.length, 3);
  for (const { labels, title } of ticks) {
    assert.deepEqual(labels, ["1", "2", "4", "8"]);
    assert.equal(title, "Clients");
  }
});

test("each trial is a dot over its number, without a line between them", async () => {
  const page = await deck.openDeck("?data=fixture", { prepare: withChapter });
  await goTo(page, "dots");
  const [chart] = await chartsOf(page, "dots");
  assert.equal(chart.error, undefined);
  assert.deepEqual(chart.labels, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  const facts = await page.evaluate(() => {
    const { chart: drawn } = window.replay.charts.charts.get(document.querySelector("#dots canvas"));
    const { data, dataset } = drawn.getDatasetMeta(0);
    return {
      dots: data.filter(({ options }) => options.radius >= 5).length,
      line: Boolean(dataset),
      ticks: drawn.scales.x.ticks.map(({ label }) => label),
      title: drawn.scales.x.options.title.text,
    };
  });
  assert.deepEqual(facts, {
    dots: 10,
    line: false,
    ticks: chart.labels.map(String),
    title: "Trial",
  });
});
