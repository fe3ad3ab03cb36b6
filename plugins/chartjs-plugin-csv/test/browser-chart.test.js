/** One chart by itself: colours, labels, many points, a page without a deck, the table. */
import assert from "node:assert/strict";
import { PATIENCE, canvas, chartData, csv, labelsIn, openChart, openDeck, test } from "./support/deck.js";

const WIDE =
  "I/O size,4096,65536,1048576\nWithout journal,30000000,200000000,900000000\nWith journal,6000000,,300000000\n";

test("a change of theme changes the colours of lines and text, and nothing else", async () => {
  csv("/d/a.csv", WIDE);
  const css = `
    :root { color-scheme: light dark; --ink: #1b1d22; --series-one: var(--ink); --chart-text: light-dark(#1b1d22, #f0f0f0); }
    @media (prefers-color-scheme: dark) { :root { --ink: #e69f00; } }`;
  const page = await openDeck({
    sections: [canvas("/d/a.csv")],
    css,
    options: `{ styles: { "With journal": { color: "var(--series-one)" } } }`,
  });
  const look = async () => {
    const { datasets } = await chartData(page);
    const text = await page.evaluate(
      () => window.Chart.getChart(document.querySelector("canvas")).scales.x.options.ticks.color,
    );
    return { line: datasets[1].borderColor, text, data: datasets.map(({ data }) => data) };
  };
  const light = await look();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.evaluate(() => window.plugin.restyle());
  const dark = await look();
  assert.deepEqual([light.line, dark.line], ["rgb(27, 29, 34)", "rgb(230, 159, 0)"]);
  assert.deepEqual([light.text, dark.text], ["rgb(27, 29, 34)", "rgb(240, 240, 240)"]);
  assert.deepEqual(dark.data, light.data);
});

test("labels are at the line ends in their order, do not touch, and make room for themselves", async () => {
  csv(
    "/d/a.csv",
    "x,1,2\nlow,1,100\nmiddle,2,101\na name so long that it needs more than one line,3,102\nhigh,4,300\n",
  );
  const page = await openDeck({ sections: [canvas("/d/a.csv")] });
  const { labels, area, width } = await labelsIn(page);
  labels.sort((a, b) => a.centre - b.centre);
  assert.equal(labels[0].name, "high");
  assert.equal(labels.length, 4);
  labels.slice(1).forEach((label, i) => {
    assert.ok(
      label.centre - label.height / 2 >= labels[i].centre + labels[i].height / 2,
      `${label.name} is apart`,
    );
  });
  assert.ok(labels.at(-1).centre + labels.at(-1).height / 2 <= area.bottom + 1);
  assert.ok(width - area.right > 60 && width - area.right < width / 3);
});

test("100,000 points are drawn as a few thousand, with both ends, without a long wait", async () => {
  csv(
    "/d/many.csv",
    `series,x,y,low,high,n\n${Array.from({ length: 100_000 }, (_, i) => `a,${i},${Math.sin(i / 1000)},,,`).join("\n")}\n`,
  );
  const page = await openDeck({ sections: [canvas("/d/many.csv")] });
  const { points, drawn, ends, took } = await page.evaluate(() => {
    const [{ model, chart }] = window.plugin.charts.values();
    const start = performance.now();
    chart.update("none");
    const took = performance.now() - start;
    const { data } = chart.getDatasetMeta(0);
    const { x } = chart.scales;
    return { points: model.series[0].points.length, drawn: data.length, ends: [x.min, x.max], took };
  });
  assert.equal(points, 100_000);
  // Chart.js' Decimation keeps at most four points of each pixel.
  assert.ok(drawn <= 4 * 1280, `${drawn} drawn`);
  assert.deepEqual(ends, [0, 99_999]);
  assert.ok(took < 1500 * PATIENCE, `${took} ms`);
});

test("without a deck: a chart of plain Chart.js loads its CSV, reports its errors, and follows a new address", async () => {
  csv("/d/a.csv", "x,1,2\na,5,\n");
  csv("/d/b.csv", "x,1,2\nb,7,8\n");
  const page = await openChart({
    script: `
      window.chart = new Chart(canvas, { type: "line", data: { datasets: [] }, options: { plugins: { csv: { url: "/d/a.csv" } } } });
      window.plain = new Chart(document.createElement("canvas"), { type: "bar", data: { labels: ["a"], datasets: [{ data: [1] }] } });
      await csvOf(chart).ready;`,
  });
  assert.deepEqual((await chartData(page)).datasets[0].data, [5, null]);
  const events = await page.evaluate(async () => {
    const seen = [];
    for (const type of ["updated", "error"]) {
      window.canvas.addEventListener(`chart-csv:${type}`, ({ detail }) =>
        seen.push([type, detail.error?.url ?? detail.src]),
      );
    }
    for (const url of ["/d/b.csv", "/d/none.csv"]) {
      window.chart.options.plugins.csv.url = url;
      window.chart.update();
      await Promise.resolve();
      await window.csvOf(window.chart).ready;
    }
    return seen;
  });
  assert.deepEqual(events, [
    ["updated", "/d/b.csv"],
    ["error", "/d/none.csv"],
  ]);
  assert.match(await page.locator("[role=alert]").innerText(), /none\.csv: the server answered 404/);
  assert.deepEqual(
    await page.evaluate(() => window.plain.data.datasets[0].data),
    [1],
    "charts without CSV are left alone",
  );
  await page.evaluate(() => window.chart.destroy());
  assert.equal(await page.locator("[role=alert]").count(), 0);
});

test("CSV given as text is drawn at once, and as an accessible table", async () => {
  const page = await openChart({
    script: `
      window.chart = new Chart(canvas, {
        type: "line", data: { datasets: [] },
        options: { animation: false, plugins: { csv: { text: "I/O size,4096,8192\\nA<b>,5000,\\n", yUnit: "operations_per_second" } } },
      });
      window.now = chart.data.datasets[0]?.data.slice();
      document.body.append(csv.toHtmlTable(csvOf(chart).model, { caption: "IOPS <i>", yUnit: "operations_per_second", xUnit: "bytes" }));`,
  });
  assert.deepEqual(await page.evaluate(() => window.now), [5000, null]);
  const cells = await page.locator("table").evaluate((table) => ({
    caption: table.caption.textContent,
    heads: [...table.querySelectorAll("th")].map((th) => [th.scope, th.textContent]),
    cells: [...table.querySelectorAll("td")].map((td) => td.textContent),
    markup: table.querySelectorAll("b, i").length,
  }));
  assert.deepEqual(cells, {
    caption: "IOPS <i>",
    heads: [
      ["col", "I/O size"],
      ["col", "A<b>"],
      ["row", "4 KiB"],
      ["row", "8 KiB"],
    ],
    cells: ["5k ops/s", "–"],
    markup: 0,
  });
  const error = await page.evaluate(() => {
    window.chart.options.plugins.csv.text = "x,1\na,b\n";
    return window
      .csvOf(window.chart)
      .refresh()
      .then(() => window.csvOf(window.chart).error?.message ?? null);
  });
  assert.equal(error, 'row 2, column 2: "b" is not a number (under "1")');
  assert.match(await page.locator("[role=alert]").innerText(), /^No chart: row 2/);
});

test("a lower bound is an arrow that points up from it, within the axis, and no value of the chart", async () => {
  const page = await openChart({
    script: `
      window.chart = new Chart(canvas, {
        type: "line", data: { datasets: [] },
        options: { animation: false, plugins: { csv: {
          text: "series,x,y,low,high,n\\nA,1,2,1,3,3\\nA,2,3,2,4,3\\nA,3,,17,,3\\n",
          bands: true, yUnit: "seconds", xScale: "linear", styles: { A: { color: "#c4500a" } },
        } } },
      });
      await csvOf(chart).ready;`,
  });
  const found = await page.evaluate(() => {
    const { chart } = window;
    const { x, y } = chart.scales;
    const ratio = chart.currentDevicePixelRatio;
    const inked = (left, top) => {
      const [r, g, b, alpha] = chart.ctx.getImageData(left * ratio, top * ratio, 1, 1).data;
      return alpha > 128 && r > 150 && g < 130 && b < 80;
    };
    const column = (at) =>
      Array.from({ length: 20 }, (_, up) => inked(x.getPixelForValue(at), y.getPixelForValue(17) - up - 1));
    return {
      data: chart.data.datasets[0].data.map((one) => one.y),
      max: y.max,
      bound: column(3),
      none: column(2),
    };
  });
  assert.deepEqual(found.data, [2, 3, null]);
  assert.ok(found.max >= 17, String(found.max));
  assert.ok(found.bound.filter(Boolean).length > 15, "there is no arrow");
  assert.ok(!found.none.some(Boolean), "another point has one");
});

test("even if a fetch cannot be aborted, an older answer never replaces a newer one or draws on a destroyed chart", async () => {
  const page = await openChart({
    script: `
      const answers = [];
      const fetch = () => new Promise((resolve) => answers.push((y) => resolve(
        new Response("x,1\\na," + y + "\\n", { headers: { "content-type": "text/csv" } }))));
      const csvOptions = { url: "/d/a.csv", bands: false, fetch };
      window.chart = new Chart(canvas, { type: "line", data: { datasets: [] }, options: { plugins: { csv: csvOptions } } });
      const older = csvOf(chart).ready;
      const newer = csvOf(chart).refresh();
      answers[1](2);
      await newer;
      answers[0](1);
      await older;
      window.value = chart.data.datasets[0].data[0];
      const last = csvOf(chart).refresh();
      chart.destroy();
      answers[2](3);
      window.late = await last;`,
  });
  assert.equal(await page.evaluate(() => window.value), 2);
  assert.equal(await page.evaluate(() => window.late), false);
});

test("text in place of a file is neither overwritten by an answer that comes later nor in the way of the file afterwards", async () => {
  const page = await openChart({
    script: `
      const answers = [];
      const fetch = () => new Promise((resolve) => answers.push((y) => resolve(
        new Response("x,1\\na," + y + "\\n", { headers: { "content-type": "text/csv" } }))));
      window.chart = new Chart(canvas, { type: "line", data: { datasets: [] }, options: { plugins: { csv: { url: "/d/a.csv", fetch } } } });
      const value = () => chart.data.datasets[0].data[0];
      const use = (text) => {
        chart.options.plugins.csv.text = text;
        return csvOf(chart).refresh();
      };
      answers[0](1);
      await csvOf(chart).ready;
      window.values = [value()];
      await use("x,1\\na,9\\n");
      values.push(value());
      const back = use(null);
      answers[1](1);
      await back;
      values.push(value());
      const slow = csvOf(chart).refresh();
      await use("x,1\\na,7\\n");
      answers[2](3);
      await slow;
      values.push(value());`,
  });
  assert.deepEqual(await page.evaluate(() => window.values), [1, 9, 1, 7]);
});

test("a chart that gets its CSV later says values in their unit, and those of the page's own data as Chart.js does", async () => {
  const page = await openChart({
    script: `
      window.chart = new Chart(canvas, {
        type: "line",
        data: { datasets: [{ label: "Target", data: [{ x: 1, y: 4 }, { x: 2, y: 6 }] }] },
        options: { animation: false, plugins: { csv: { yUnit: "seconds" } } },
      });
      chart.options.plugins.csv.text = "x,a\\n1,2\\n2,3\\n";
      await csvOf(chart).refresh();`,
  });
  const body = await page.evaluate(() => {
    const { tooltip } = window.chart;
    const active = [0, 1].map((datasetIndex) => ({ datasetIndex, index: 0 }));
    tooltip.setActiveElements(active, { x: 0, y: 0 });
    return tooltip.body.flatMap(({ lines }) => lines);
  });
  assert.deepEqual(body, ["a: 2 s", "Target: 4"]);
});

test("with indexAxis y bars, lines and points lie on their side with their bounds, and the page's scales stay where they are", async () => {
  const page = await openChart({
    script: `
      const long = "series,x,y,low,high,n\\nA,10,5,4,8,3\\nA,30,6,5,7,3\\n";
      const lying = (type, text, scales = {}) => {
        const place = document.createElement("canvas");
        document.getElementById("place").append(place);
        const options = { animation: false, responsive: false, indexAxis: "y", scales, plugins: { csv: { text } } };
        return new Chart(place, { type, data: { datasets: [] }, options });
      };
      window.charts = [
        lying("bar", "device,reads\\nfast,5\\nslow,6\\n"),
        lying("bar", long),
        lying("line", long),
        lying("scatter", long),
        lying("line", long, { x: { type: "logarithmic" }, y: { title: { display: true, text: "own" } } }),
      ];`,
  });
  const drawn = await page.evaluate(() =>
    window.charts.map((chart) => {
      const { x, y } = chart.scales;
      const ratio = chart.currentDevicePixelRatio;
      const placeOf = (value, index) => [
        x.getPixelForValue(value),
        y.getPixelForValue(y.type === "category" ? index : [10, 30][index]),
      ];
      const elements = chart.getDatasetMeta(0).data;
      const [left, top] = placeOf(7, 0);
      const { data } = chart.ctx.getImageData(left * ratio - 1, top * ratio - 1, 3, 3);
      return {
        types: [x.type, y.type],
        inPlace: [5, 6].every((value, index) => {
          const [across, down] = placeOf(value, index);
          return Math.hypot(elements[index].x - across, elements[index].y - down) < 1;
        }),
        bounds: data.some((channel, at) => at % 4 === 3 && channel > 20),
        title: y.options.title.text,
      };
    }),
  );
  const inPlace = true;
  assert.deepEqual(drawn, [
    { types: ["linear", "category"], inPlace, bounds: false, title: "device" },
    { types: ["linear", "category"], inPlace, bounds: true, title: "" },
    { types: ["linear", "linear"], inPlace, bounds: true, title: "" },
    { types: ["linear", "linear"], inPlace, bounds: true, title: "" },
    { types: ["logarithmic", "linear"], inPlace, bounds: true, title: "own" },
  ]);
});

/** The parts of a date adapter that a time axis needs, in days of UTC. */
const ADAPTER = `{
  init() {},
  formats: () => ({ datetime: "d", day: "d" }),
  parse: (value) => (typeof value === "number" ? value : Date.parse(value)),
  format: (time) => new Date(time).toISOString().slice(0, 10),
  add: (time, amount) => time + amount * 864e5,
  diff: (a, b) => (a - b) / 864e5,
  startOf: (time) => Math.floor(time / 864e5) * 864e5,
  endOf: (time) => Math.ceil(time / 864e5) * 864e5 - 1,
}`;

test("a time axis and an end of the page's own stay; a dataset's colour is that of its line, its markers and its name", async () => {
  const page = await openChart({
    script: `
      const { _adapters } = await import("chart.js");
      _adapters._date.override(${ADAPTER});
      window.chart = new Chart(canvas, {
        type: "line",
        data: { datasets: [{ label: "Target", data: [{ x: "2024-01-01", y: 9 }, { x: "2024-01-05", y: 9 }] }, { label: "b", borderWidth: 7 }] },
        options: {
          animation: false,
          scales: { x: { type: "time", time: { unit: "day" } }, y: { min: -5, ticks: { stepSize: 5 } } },
          plugins: { csv: { text: "date,a,b\\n2024-01-02,1,2\\n2024-01-04,3,4\\n", datasets: { a: { borderColor: "#ff0000" } } } },
        },
      });`,
  });
  const drawn = await page.evaluate(() => {
    const { scales, data } = window.chart;
    const { x, y } = scales;
    return {
      error: window.csvOf(window.chart).error?.message ?? null,
      x: [x.type, new Date(x.min).toISOString().slice(0, 10), new Date(x.max).toISOString().slice(0, 10)],
      y: [y.min, y.max, y.options.ticks.stepSize],
      labels: data.datasets.map(({ label }) => label),
      colors: ["borderColor", "pointBackgroundColor", "pointBorderColor", "csvColor"].map(
        (key) => data.datasets[0][key],
      ),
      width: data.datasets[1].borderWidth,
      inAxis: window.chart.getDatasetMeta(0).data.every((point) => Number.isFinite(point.x)),
    };
  });
  assert.deepEqual(drawn, {
    error: null,
    x: ["time", "2024-01-01", "2024-01-05"],
    y: [-5, 10, 5],
    labels: ["a", "b", "Target"],
    colors: Array(4).fill("#ff0000"),
    width: 7,
    inAxis: true,
  });
});
