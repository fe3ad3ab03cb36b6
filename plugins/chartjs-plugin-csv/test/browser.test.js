/** The plugin in a real deck in a real Chromium: what the canvases hold, and what a person sees. */
import assert from "node:assert/strict";
import { canvas, chartData, csv, goTo, openDeck, requests, routes, test } from "./support/deck.js";

const WIDE = `"I/O size",4096,8192,16384
Without journal,30658995.65,60612439.23,114581905.32
With journal,5943684.21,,31419250.76
`;
const LONG = "series,x,y,low,high,n\nlag,0,1,,,\nlag,2.5,3,2,4,6\nspare,2.5,0.25,,,\n";

test("a wide CSV of a Markdown slide fills the canvas with exactly its numbers, an empty field as null", async () => {
  csv("/deck/benchmarks/reference/csv/aggregate/throughput-write-seq.csv", WIDE);
  const markdown = `## First\n\n\n## Finding\n\n${canvas("benchmarks/reference/csv/aggregate/throughput-write-seq.csv")}\n\n<!-- Note -->\nSaid aloud`;
  const page = await openDeck({
    sections: [
      `<section data-markdown data-separator="^\\n\\n\\n" data-separator-vertical="^\\n\\n\\n\\n" data-separator-notes="^<!-- Note -->"><textarea data-template>${markdown}</textarea></section>`,
    ],
  });
  const { labels, datasets, scales, type } = await chartData(page);
  assert.equal(type, "line");
  assert.deepEqual(labels, [4096, 8192, 16384]);
  assert.deepEqual(
    datasets.map(({ label, data }) => [label, data]),
    [
      ["Without journal", [30658995.65, 60612439.23, 114581905.32]],
      ["With journal", [5943684.21, null, 31419250.76]],
    ],
  );
  assert.equal(scales.x.type, "linear", "three sizes within a factor of four need no log axis");
  assert.equal(scales.y.min, 0);
  assert.match(scales.y.ticks.at(-1), /MB\/s$/);
  const label = await page.locator("canvas").first().getAttribute("aria-label");
  assert.match(label, /^Line chart: I\/O size from 4 KiB to 16 KiB; Without journal 30\.7 MB\/s at 4 KiB/);
  assert.equal(await page.locator("canvas").first().getAttribute("role"), "img");
});

test("a long CSV fills the canvas with exactly its points", async () => {
  csv("/d/lag.csv", LONG);
  const page = await openDeck({ sections: [canvas("/d/lag.csv", "line"), canvas("/d/lag.csv", "scatter")] });
  for (const n of [0, 1]) {
    const { datasets } = await chartData(page, n);
    assert.deepEqual(
      datasets.map(({ label, data }) => [label, data]),
      [
        [
          "lag",
          [
            { x: 0, y: 1 },
            { x: 2.5, y: 3 },
          ],
        ],
        ["spare", [{ x: 2.5, y: 0.25 }]],
      ],
    );
  }
  const model = await page.evaluate(() => [...window.plugin.charts.values()][0].model.series[0].points[1]);
  assert.deepEqual(model, { x: 2.5, y: 3, low: 2, high: 4, n: 6 });
});

test("sizes over three decades are on a log2 axis with their own ticks, bars on categories", async () => {
  csv("/d/iops-a.csv", "I/O size,4096,65536,1048576,4194304\nA,1200,800,300,90\n");
  const page = await openDeck({ sections: [canvas("/d/iops-a.csv"), canvas("/d/iops-a.csv", "bar")] });
  const line = await chartData(page, 0);
  assert.equal(line.scales.x.type, "log2");
  assert.deepEqual(line.scales.x.ticks, ["4K", "64K", "1M", "4M"]);
  const spaces = await page.evaluate(() => {
    const { data } = window.Chart.getChart(document.querySelector("canvas")).getDatasetMeta(0);
    return data.slice(1).map((point, i) => (point.x - data[i].x) / (data[1].x - data[0].x));
  });
  [1, 1, 0.5].forEach((share, i) => assert.ok(Math.abs(spaces[i] - share) < 0.01, `${spaces[i]}`));
  const bar = await chartData(page, 1);
  assert.deepEqual(bar.scales.x.ticks, ["4K", "64K", "1M", "4M"]);
  assert.deepEqual(bar.datasets[0].data, [1200, 800, 300, 90]);
});

test("charts are made for the current slide and the next two, uncounted ones too, and files of later slides are not requested", async () => {
  const names = Array.from({ length: 8 }, (_, i) => `/d/s${i}.csv`);
  names.forEach((name) => csv(name, WIDE));
  const uncounted = (name) => `<section data-visibility="uncounted">${canvas(name)}</section>`;
  const page = await openDeck({
    sections: [...names.slice(0, 3).map((name) => canvas(name)), ...names.slice(3).map(uncounted)],
  });
  const live = () =>
    page.evaluate(() => [...window.plugin.charts.values()].map((slot) => Boolean(slot.chart)));
  assert.deepEqual((await live()).slice(0, 3), [true, true, true]);
  assert.deepEqual((await live()).slice(4), [false, false, false, false]);
  assert.ok(!requests.includes("/d/s5.csv"));
  await goTo(page, 4);
  assert.deepEqual((await live()).slice(4, 7), [true, true, true]);
});

test("fast navigation through 30 slides and back loses no chart, and keeps only a few alive", async () => {
  const names = Array.from({ length: 30 }, (_, i) => `/d/n${i}.csv`);
  names.forEach((name, i) =>
    routes.set(name, { body: `x,1,2\nseries ${i % 4},${i},${i + 1}\n`, delay: (i % 5) * 15 }),
  );
  const page = await openDeck({
    sections: names.map((name) => canvas(name, "line", "", 'data-chart-bands="false"')),
  });
  const walk = (step, pause) =>
    page.evaluate(
      async ([forward, wait]) => {
        for (let i = 0; i < 29; i += 1) {
          if (forward) window.deck.next();
          else window.deck.prev();
          await new Promise((resolve) => setTimeout(resolve, wait));
        }
      },
      [step, pause],
    );
  await walk(true, 4);
  await walk(false, 12);
  await walk(true, 0);
  for (let i = 29; i >= 0; i -= 1) {
    await goTo(page, i);
    assert.deepEqual((await chartData(page, i)).datasets[0].data, [i, i + 1], `slide ${i}`);
  }
  assert.ok(
    (await page.evaluate(() => [...window.plugin.charts.values()].filter((slot) => slot.chart).length)) <= 12,
  );
});

test("options in the comment and in attributes take effect", async () => {
  csv("/d/a.csv", WIDE);
  const json = JSON.stringify({
    options: {
      scales: { y: { title: { display: true, text: "Throughput" }, max: 2e8 } },
      plugins: { csvLabels: false },
    },
    data: { datasets: [{ borderColor: "rgb(1, 2, 3)" }] },
  });
  const attributes =
    'data-chart-height="300" data-chart-y-unit="operations_per_second" data-chart-x-scale="log2" data-chart-label="write speed"';
  const page = await openDeck({
    sections: [canvas("/d/a.csv", "line", `\n<!-- ${json} -->\n`, attributes)],
    options: "{ styles: { 'With journal': { color: '#00785a' } } }",
  });
  const { datasets, scales, size } = await chartData(page);
  assert.deepEqual(
    datasets.map(({ borderColor }) => borderColor),
    ["rgb(1, 2, 3)", "#00785a"],
  );
  assert.equal(scales.y.max, 2e8);
  assert.equal(scales.y.ticks.at(-1), "200M");
  assert.equal(scales.x.type, "log2");
  assert.equal(size.height, 300);
  assert.match(await page.locator("canvas").getAttribute("aria-label"), /^Line chart of write speed:/);
});

test("the deck may resolve sources, give options per chart, and caption charts from promises", async () => {
  csv("/d/local/a.csv", WIDE);
  const page = await openDeck({
    sections: [canvas("/d/reference/a.csv"), canvas("/d/reference/none.csv")],
    options: `{
      resolve: (src) => src.replace("/reference/", "/" + (window.dataSet ?? "local") + "/"),
      palette: [{ color: "rgb(9, 9, 9)", dash: [], pointStyle: "circle" }],
      chartOptions: async (kind, src) => ({
        plugins: {
          csv: {
            ...{ yUnit: "bytes_per_second", yTitle: (window.dataSet ?? kind) + " " + src },
            palette: [{ color: "rgb(1, 2, 3)", dash: [], pointStyle: "circle" }],
          },
        },
      }),
      labelFor: async (src, model) => "local, " + model.series.length + " series <i>",
    }`,
  });
  assert.equal(await page.locator("figcaption").first().innerText(), "local, 2 series <i>");
  const slot = await page.evaluate(() => {
    const [{ src, url, chart }] = window.plugin.charts.values();
    return { src, url, title: chart.scales.y.options.title.text };
  });
  assert.deepEqual(slot, {
    src: "/d/reference/a.csv",
    url: "/d/local/a.csv",
    title: "line /d/reference/a.csv",
  });
  const { datasets } = await chartData(page);
  assert.deepEqual(
    datasets.map(({ borderColor }) => borderColor),
    ["rgb(1, 2, 3)", "rgb(1, 2, 3)"],
  );
  csv("/d/other/a.csv", "x,1\nonly,1\n");
  await page.evaluate(() => {
    window.dataSet = "other";
    return window.plugin.refresh();
  });
  assert.equal(await page.locator("figcaption").first().innerText(), "local, 1 series <i>");
  const title = await page.evaluate(async () => {
    await window.plugin.remake();
    const [{ chart }] = window.plugin.charts.values();
    return chart.scales.y.options.title.text;
  });
  assert.equal(title, "other /d/reference/a.csv", "the options are those of the data on show");
});

test("a chart reads the address that the page gives now, not the one from before its options were there", async () => {
  csv("/d/local/a.csv", "x,1\nold,1\n");
  csv("/d/other/a.csv", "x,1\nnew,1\n");
  const page = await openDeck({
    sections: [canvas("/d/reference/a.csv")],
    options: `{
      resolve: (src) => src.replace("/reference/", "/" + (window.dataSet ?? "local") + "/"),
      chartOptions: async () => {
        window.dataSet = "other";
        return {};
      },
    }`,
  });
  const names = await page.evaluate(() => {
    const [{ model }] = window.plugin.charts.values();
    return model.series.map(({ name }) => name);
  });
  assert.deepEqual(names, ["new"]);
});
