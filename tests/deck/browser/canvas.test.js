/** What a canvas shows of its CSV file. every-slide.test.js compares each chart of the talk with its file. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { parse } from "csv-parse/sync";

import { talkOfPoints } from "../../../scripts/deck/perf/generated-talk.js";
import { chartsOf, goTo, startDeck } from "../support/deck.js";

let deck;

before(async () => {
  deck = await startDeck();
});
after(() => deck?.close());

test("a chart of some series shows only those, and keeps the numbers of all", async () => {
  const page = await deck.openDeck();
  await goTo(page, "journal-reads");
  const [chart] = await chartsOf(page, "journal-reads");
  const chosen = await page.getAttribute("#journal-reads canvas", "data-chart-series");
  assert.deepEqual(
    [...chart.shown].sort(),
    chosen
      .split("|")
      .map((name) => name.trim())
      .sort(),
  );
  assert.ok(Object.keys(chart.series).length > chart.shown.length);
  await page.close();
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
    await page.close();
  });

test("of 100,000 points a chart draws some of the file's own, including the highest and the lowest, and keeps all", async () => {
  const count = 100_000;
  const [text] = talkOfPoints(count).files.values();
  const page = await deck.openDeck("?data=fixture", {
    prepare: (opened) =>
      opened.route("**/fixture/client-sweep/aggregate/iops-randwrite-4096.csv", (route) =>
        route.fulfill({ contentType: "text/csv", body: text }),
      ),
  });
  await goTo(page, "clients");
  const { held, drawn, pixel } = await page.evaluate(() => {
    const canvas = document.querySelector('#clients canvas[data-chart-src*="iops"]');
    const { model, chart } = window.replay.charts.charts.get(canvas);
    return {
      held: model.series[0].points.length,
      drawn: chart.data.datasets[0].data.map(({ x, y }) => [x, y]),
      pixel: chart.scales.x.getValueForPixel(1) - chart.scales.x.getValueForPixel(0),
    };
  });
  const rows = parse(text, { from: 2 }).map(([, x, y]) => [Number(x), Number(y)]);
  assert.equal(held, count);
  assert.ok(drawn.length < 10_000, `${drawn.length} points are drawn`);
  // A point of the file is drawn in the middle of its column of pixels.
  assert.deepEqual(
    drawn.filter(([x, y]) => !rows.some((row) => row[1] === y && Math.abs(row[0] - x) < pixel)),
    [],
    "points that are not in the file",
  );
  const extent = (points) =>
    points.reduce(([low, high], [, y]) => [Math.min(low, y), Math.max(high, y)], [Infinity, -Infinity]);
  assert.deepEqual(extent(drawn), extent(rows));
  assert.deepEqual([drawn[0], drawn.at(-1)], [rows[0], rows.at(-1)]);
  assert.deepEqual(page.complaints, []);
  await page.close();
});
