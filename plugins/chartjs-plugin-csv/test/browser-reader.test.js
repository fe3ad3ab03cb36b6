/** Changes by a reader or a speaker while a chart is shown: series, runs, scale, a second data set, another file. */
import assert from "node:assert/strict";
import { canvas, chartData, csv, goTo, labelsIn, openDeck, painted, requests, test } from "./support/deck.js";

const SIZES = "I/O size,4096,65536,1048576";
const WIDE = `${SIZES}\nWithout journal,30,200,900\nWith journal,6,50,300\nAgain,31,210,1800\n`;
const RUNS =
  "chart,series,x,y,block,attempt\na,With journal,4096,5,1,1\na,With journal,4096,7,2,1\n" +
  "a,Without journal,4096,3000,1,1\nd,With journal,4096,6,1,1\n";

/** Returns y range, plot, visible series, and events since the last call, of the n-th canvas. */
const look = (page, n = 0) =>
  page.evaluate((index) => {
    const one = document.querySelectorAll("canvas")[index];
    const chart = window.Chart.getChart(one);
    const { min, max, type } = chart.scales.y;
    const { left, right, top, bottom } = chart.chartArea;
    return {
      y: { min, max, type },
      x: [chart.scales.x.min, chart.scales.x.max],
      area: [left, right, top, bottom].map(Math.round),
      visible: chart.data.datasets.filter((_, i) => chart.isDatasetVisible(i)).map(({ label }) => label),
    };
  }, n);

/** Runs statements with the n-th slot as `slot`; returns their result. */
const withSlot = (page, statements, n = 0) =>
  page.evaluate(`(async () => {
    const slot = [...window.plugin.charts.values()][${n}];
    ${statements}
  })()`);

test("a chart has the series that its attribute names; revealing them one by one moves neither axis nor plot", async () => {
  csv("/d/a.csv", WIDE);
  const attribute = 'data-chart-series="Without journal | With journal"';
  const page = await openDeck({ sections: [canvas("/d/a.csv", "line", "", attribute)] });
  const whole = await look(page);
  assert.deepEqual(whole.visible, ["Without journal", "With journal"]);
  assert.ok(whole.y.max < 1800, "the third series counts for no axis");
  for (const names of [[], ["With journal"], ["With journal", "Without journal"]]) {
    await withSlot(page, `slot.setShown(${JSON.stringify(names)})`);
    const now = await look(page);
    assert.deepEqual([now.y, now.x, now.area], [whole.y, whole.x, whole.area], `${names}`);
    assert.deepEqual(now.visible.sort(), [...names].sort());
  }
  await withSlot(page, `slot.setShown(["With journal"])`);
  assert.match(await page.locator("canvas").getAttribute("aria-label"), /; With journal 6 at/);
  assert.equal(await withSlot(page, "return slot.shownModel.series.length"), 1);
  await withSlot(page, "slot.setShown(null)");
  assert.deepEqual((await look(page)).visible, ["Without journal", "With journal"]);
  const { datasets } = await chartData(page);
  assert.equal(datasets.length, 3, "the file stays whole");
});

test("choices are kept when a chart is released and made again, and when its file is read again", async () => {
  const names = Array.from({ length: 30 }, (_, i) => `/d/${i}.csv`);
  names.forEach((name) => csv(name, WIDE));
  const page = await openDeck({
    sections: names.map((name) => canvas(name, "line", "", 'data-chart-bands="false"')),
  });
  await withSlot(page, `slot.setShown(["Again"]); slot.setScale("log")`);
  csv("/d/0.csv", WIDE.replace("31,210", "32,220"));
  await page.evaluate(() => window.plugin.refresh());
  assert.deepEqual((await look(page)).visible, ["Again"]);
  for (let h = 1; h < 30; h += 1) {
    await goTo(page, h);
  }
  assert.equal(await withSlot(page, "return slot.chart === null"), true, "given up");
  await goTo(page, 0);
  const { visible, y } = await look(page);
  assert.deepEqual(visible, ["Again"]);
  assert.equal(y.type, "logarithmic");
});

test("a slide may draw runs, a second data set and some series from the start; what a reader undoes is as it says again", async () => {
  csv("/d/a.csv", WIDE);
  csv("/d/runs.csv", RUNS);
  csv("/mine/a.csv", WIDE);
  const overlay = { url: "/mine/a.csv", label: "mine" };
  const wish = JSON.stringify({ csv: { runs: true, shown: ["With journal"], overlay } });
  const page = await openDeck({ sections: [canvas("/d/a.csv", "line", `<!-- ${wish} -->`)] });
  const settings = () =>
    withSlot(page, "const { runs, shown } = slot.settings; return [runs, shown, slot.state.runs]");
  assert.deepEqual(await settings(), [true, ["With journal"], false]);
  assert.match(await page.locator("canvas").getAttribute("aria-label"), /; compared with mine\.$/);
  const before = await painted(page);
  assert.equal(await withSlot(page, "return slot.showRuns(true)"), true);
  assert.equal(await withSlot(page, "return slot.showRuns(false)"), true, "the slide's own");
  await withSlot(page, "slot.setShown(['Without journal']); slot.setShown(null);");
  assert.deepEqual(await settings(), [true, ["With journal"], false]);
  assert.equal(await painted(page), before);
});

test("the runs are drawn on demand, read once, read again with their chart, and missing ones are reported to the caller", async () => {
  csv("/d/a.csv", WIDE);
  csv("/d/runs.csv", RUNS);
  csv("/d/b.csv", WIDE);
  csv("/c/c.csv", WIDE);
  csv("/c/runs.csv", "chart,series,x,y,block,attempt\nc,With journal,4096,many,1,1\n");
  csv("/d/d.csv", WIDE);
  csv("/e/e.csv", WIDE);
  const files = ["/d/a.csv", "/d/b.csv", "/c/c.csv", "/d/d.csv", "/e/e.csv"];
  const page = await openDeck({ sections: [files.map((file) => canvas(file)).join("")] });
  const asked = () => requests.filter((path) => path === "/d/runs.csv").length;
  assert.equal(asked(), 0);
  const before = await painted(page);
  assert.equal(await withSlot(page, "return slot.showRuns(true)"), true);
  assert.ok((await painted(page)) !== before, "dots are drawn");
  assert.ok((await look(page)).y.max >= 3000, "the axis has room for them");
  assert.equal(await withSlot(page, "return slot.showRuns(false)"), false);
  assert.ok((await look(page)).y.max < 3000);
  await withSlot(page, "return slot.showRuns(true)");
  assert.equal(asked(), 1);
  assert.equal(await withSlot(page, "return slot.showRuns(true)", 3), true);
  assert.equal(asked(), 1, "shared by the charts of a folder");
  await page.evaluate(() => window.plugin.refresh());
  assert.equal(asked(), 2);
  assert.equal(await withSlot(page, "return slot.showRuns(true)", 1), false);
  assert.match(await withSlot(page, "return slot.runsError.message", 1), /d\/runs\.csv: it has no run of b/);
  assert.equal(await withSlot(page, "return slot.showRuns(true)", 2), false);
  assert.match(await withSlot(page, "return slot.runsError.message", 2), /row 2, column 4: "many" is not/);
  assert.equal(await withSlot(page, "return slot.showRuns(true)", 4), false);
  assert.match(
    await withSlot(page, "return slot.runsError.message", 4),
    /e\/runs\.csv: the server answered 404/,
  );
  assert.equal(await page.locator("[role=alert]").count(), 0, "no error over the charts");
});

test("a second data set is drawn in the same axes, thinner and hollow; a missing one gives a line below the chart", async () => {
  csv("/d/a.csv", `${SIZES}\nWithout journal,30,200,900\n`);
  csv("/mine/a.csv", "I/O size,4096,16384,4194304\nWithout journal,20,100,1500\n");
  const page = await openDeck({ sections: [canvas("/d/a.csv")] });
  assert.equal(await withSlot(page, `return slot.overlay({ src: "/mine/a.csv", label: "mine" })`), true);
  const { datasets } = await chartData(page);
  assert.deepEqual(
    datasets.map(({ label, data }) => [label, data]),
    [
      ["Without journal", [30, 200, 900]],
      [
        "Without journal · mine",
        [
          { x: 4096, y: 20 },
          { x: 16384, y: 100 },
          { x: 4194304, y: 1500 },
        ],
      ],
    ],
  );
  const both = await look(page);
  assert.ok(both.y.max >= 1500);
  assert.deepEqual(both.x, [4096, 4194304]);
  const { labels } = await labelsIn(page);
  assert.deepEqual(labels.map(({ name }) => name).sort(), ["Without journal", "Without journal · mine"]);
  assert.match(await page.locator("canvas").getAttribute("aria-label"), /compared with mine/);

  assert.equal(await withSlot(page, `return slot.overlay({ src: "/mine/none.csv", label: "mine" })`), false);
  const note = page.locator(".chart-csv-note");
  assert.match(await note.innerText(), /^mine is not shown: \/mine\/none\.csv: the server answered 404/);
  assert.deepEqual((await look(page)).visible, ["Without journal"]);
  assert.equal(await withSlot(page, "return slot.drawn"), true);
  assert.equal(await withSlot(page, "return slot.overlay(null)"), false);
  assert.equal(await note.count(), 0);
  assert.deepEqual((await chartData(page)).datasets.length, 1);
});

test("the y axis becomes logarithmic and linear again; a logarithmic one leaves out values of 0, and says so", async () => {
  csv("/d/a.csv", "x,1,2,3\nA,0,10,1000\n");
  csv("/d/ratio-b.csv", "x,1,2,3\nA,1,2,4\n");
  const json = JSON.stringify({ options: { scales: { y: { min: 0, suggestedMax: 4000 } } } });
  const page = await openDeck({
    sections: [`${canvas("/d/a.csv", "line", `<!-- ${json} -->`)}${canvas("/d/ratio-b.csv")}`],
  });
  const note = page.locator(".chart-csv-note");
  assert.equal((await look(page)).y.min, 0);
  await withSlot(page, `slot.setScale("log")`);
  const { y } = await look(page);
  assert.equal(y.type, "logarithmic");
  assert.ok(y.min > 0 && y.min <= 10 && y.max >= 1000 && y.max < 4000, `${y.min} to ${y.max}`);
  assert.equal(await note.innerText(), "A logarithmic axis cannot show one value of 0 or less.");
  assert.equal(await withSlot(page, "return slot.scale"), "log");
  const ticks = (await chartData(page)).scales.y.ticks;
  assert.ok(ticks.length <= 7 && ticks.every(Boolean), `${ticks}`);
  await withSlot(page, "slot.setScale(null)");
  assert.deepEqual([(await look(page)).y.type, await note.count()], ["linear", 0]);
  assert.deepEqual((await chartData(page)).datasets[0].data, [0, 10, 1000]);
  await withSlot(page, `slot.setScale("log")`, 1);
  assert.equal((await look(page, 1)).y.type, "log2");
});

test("another file is shown in the same place with its own axis, and the slide's own can return", async () => {
  csv("/d/ratio-throughput-a.csv", "I/O size,4096,8192\nWith journal,2,1.5\n");
  csv("/d/throughput-a.csv", "I/O size,4096,8192\nWithout journal,4e6,8e6\nWith journal,2e6,5e6\n");
  const json = JSON.stringify({ options: { scales: { y: { max: 3 } } } });
  const attributes = 'data-chart-y-scale="log2" data-chart-series="With journal"';
  const page = await openDeck({
    sections: [canvas("/d/ratio-throughput-a.csv", "line", `<!-- ${json} -->`, attributes)],
  });
  const series = '["Without journal", "With journal"]';
  await withSlot(page, `await slot.use({ src: "/d/throughput-a.csv", series: ${series} })`);
  const { visible, y } = await look(page);
  assert.deepEqual(visible, ["Without journal", "With journal"]);
  assert.deepEqual([y.type, y.min], ["linear", 0]);
  assert.ok(y.max >= 8e6);
  assert.match((await chartData(page)).scales.y.ticks.at(-1), /MB\/s$/);
  assert.deepEqual(await withSlot(page, "return [slot.src, slot.own, slot.drawn]"), [
    "/d/throughput-a.csv",
    "/d/ratio-throughput-a.csv",
    true,
  ]);
  await withSlot(page, "await slot.use({ text: 'x,1,2\\nB,1,2\\n', series: ['B'] })");
  assert.deepEqual((await look(page)).visible, ["B"]);
  await withSlot(page, "await slot.use({ src: '/d/none.csv' })");
  assert.match(await page.locator("[role=alert]").innerText(), /none\.csv/);
  await withSlot(page, "await slot.use(null)");
  const own = await look(page);
  assert.deepEqual([own.visible, own.y.type, own.y.max], [["With journal"], "log2", 3]);
  assert.equal(await page.locator("[role=alert]").count(), 0);
});

test("frames of arriving data are read by another fetch, in axes that do not move from the first, empty frame", async () => {
  csv("/d/throughput-a.csv", WIDE);
  const page = await openDeck({ sections: [canvas("/d/throughput-a.csv")] });
  const whole = await look(page);
  await withSlot(page, `slot.setRange({ low: ${whole.y.min}, high: ${whole.y.max} })`);
  const ranges = [];
  for (const values of [",,", "6,,", "6,50,300"]) {
    const frame = `I/O size,4096,65536,1048576\\nWith journal,${values}\\n`;
    await page.evaluate(
      async (text) => {
        window.plugin.readWith((url) =>
          Promise.resolve(
            /throughput-a\.csv/.test(url)
              ? new Response(text, { headers: { "content-type": "text/csv" } })
              : new Response("", { status: 404 }),
          ),
        );
        await window.plugin.refresh();
      },
      frame.replaceAll("\\n", "\n"),
    );
    const { x, y } = await look(page);
    ranges.push([x, y.min, y.max]);
    assert.deepEqual(
      (await chartData(page)).datasets[0].data,
      values.split(",").map((v) => (v ? Number(v) : null)),
    );
  }
  assert.deepEqual(ranges, Array(3).fill([whole.x, whole.y.min, whole.y.max]));
  requests.length = 0;
  await page.evaluate(() => {
    window.plugin.readWith(null);
    return window.plugin.refresh();
  });
  assert.ok(requests.includes("/d/throughput-a.csv"));
  assert.equal((await chartData(page)).datasets.length, 3);
});

test("marks: the axis reaches them, their names are inside the plot and do not touch, and the deck may add some", async () => {
  csv("/d/a.csv", "x,1,2,3\nA,10,20,30\n");
  const items = [
    { axis: "y", value: 90, label: "published, highest" },
    { axis: "y", value: 89, label: "published, a bit lower" },
    { axis: "y", low: 10, high: 25, label: "claimed" },
    { axis: "x", value: 2, label: "here" },
    { x: 3, y: 60, label: "one run" },
    { axis: "y", value: 1e6, label: "too far", reach: false },
    { axis: "y", value: 70, label: "wider than the plot, ".repeat(20) },
  ];
  const json = JSON.stringify({ options: { plugins: { csvMarks: { items } } } });
  const page = await openDeck({
    sections: [canvas("/d/a.csv", "line", `<!-- ${json} -->`)],
    options: `{ marks: (slot) => [{ axis: "y", value: 50, label: "of " + slot.kind, color: "var(--none, rgb(1, 2, 3))" }] }`,
  });
  const { placed, area, max } = await page.evaluate(async () => {
    const { placedMarks } = await import("/plugin/src/marks.js");
    const chart = window.Chart.getChart(document.querySelector("canvas"));
    return { placed: placedMarks(chart), area: chart.chartArea, max: chart.scales.y.max };
  });
  assert.deepEqual(placed.map(({ label }) => label).sort(), [
    "claimed",
    "here",
    "of line",
    "one run",
    "published, a bit lower",
    "published, highest",
  ]);
  assert.ok(max >= 90 && max < 1e6, `${max}`);
  for (const { label, left, top, width, height } of placed) {
    assert.ok(left >= area.left && left + width <= area.right, `${label} inside`);
    assert.ok(top >= area.top && top + height <= area.bottom, `${label} inside`);
  }
  placed.forEach((a, i) =>
    placed.slice(i + 1).forEach((b) => {
      const apart =
        a.left + a.width <= b.left ||
        b.left + b.width <= a.left ||
        a.top + a.height <= b.top ||
        b.top + b.height <= a.top;
      assert.ok(apart, `${a.label} and ${b.label}`);
    }),
  );
});

test("marks: the name of a point in a corner of the plot is beside it", async () => {
  csv("/d/a.csv", "x,1,2,3\nA,10,20,30\n");
  const items = [
    { x: 1, y: 30, label: "first" },
    { x: 3, y: 10, label: "last" },
  ];
  const options = { scales: { y: { min: 10, max: 30 } }, plugins: { csvMarks: { items } } };
  const page = await openDeck({
    sections: [canvas("/d/a.csv", "line", `<!-- ${JSON.stringify({ options })} -->`)],
  });
  const { placed, points } = await page.evaluate(async () => {
    const { placedMarks } = await import("/plugin/src/marks.js");
    const chart = window.Chart.getChart(document.querySelector("canvas"));
    const [first, , last] = chart.getDatasetMeta(0).data;
    return { placed: placedMarks(chart), points: { first: first.x, last: last.x } };
  });
  assert.equal(placed.length, 2);
  for (const { label, left, width } of placed)
    assert.ok(left > points[label] || left + width < points[label], `${label} covers its point`);
});
