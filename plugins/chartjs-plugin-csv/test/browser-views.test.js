/** How charts look: sizes, sharpness, pointer, views of reveal.js, print, colours, labels, tables, many points. */
import assert from "node:assert/strict";
import { browserTests, canvas, chartData } from "./support/deck.js";

const { inDeck, inPage } = browserTests();

const WIDE = "I/O size,4096,65536,1048576\nWithout journal,30000000,200000000,900000000\nWith journal,6000000,,300000000\n";

/** Whether something is painted on the n-th canvas. */
const isPainted = (page, n = 0) =>
  page.evaluate((index) => {
    const one = document.querySelectorAll("canvas")[index];
    const { data } = one.getContext("2d").getImageData(0, 0, one.width, one.height);
    return data.some((value) => value !== 0);
  }, n);

for (const [ratio, viewport] of [[1, { width: 1280, height: 720 }], [2, { width: 1920, height: 1080 }], [1, { width: 640, height: 360 }]]) {
  inDeck(
    `a chart fills its box and has one pixel per screen pixel at ratio ${ratio}, ${viewport.width}×${viewport.height}`,
    ({ csv }) => {
      csv("/d/a.csv", WIDE);
      return { sections: [`<h2>Finding</h2>${canvas("/d/a.csv")}`], viewport, deviceScaleFactor: ratio };
    },
    async (page) => {
      const { box, drawn, slide, scale } = await page.evaluate(() => {
        const one = document.querySelector("canvas");
        const frame = one.closest(".chart-box");
        const section = one.closest("section");
        return {
          box: [frame.offsetWidth, frame.offsetHeight],
          drawn: { css: [one.offsetWidth, one.offsetHeight], pixels: [one.width, one.height] },
          slide: { content: section.scrollHeight, height: window.deck.getConfig().height },
          scale: window.deck.getScale(),
        };
      });
      assert.ok(Math.abs(scale - viewport.width / 1280) < 0.01);
      assert.deepEqual(drawn.css, box);
      box.forEach((side, i) => assert.ok(Math.abs(drawn.pixels[i] - side * ratio * scale) <= 1, `${drawn.pixels[i]}`));
      assert.ok(slide.content <= slide.height, "the slide does not overflow");
    },
  );
}

inDeck(
  "resizing the window again and again neither grows the chart nor blurs it",
  ({ csv }) => {
    csv("/d/a.csv", WIDE);
    return { sections: [canvas("/d/a.csv")] };
  },
  async (page) => {
    for (const width of [900, 1600, 700, 1280]) {
      await page.setViewportSize({ width, height: Math.round((width * 9) / 16) });
      await page.waitForFunction((w) => Math.abs(window.deck.getScale() - w / 1280) < 0.01, width);
      await page.waitForFunction(() => Math.abs(document.querySelector("canvas").height - 418 * window.deck.getScale()) <= 1);
      assert.deepEqual(await page.evaluate(() => [document.querySelector("canvas").offsetHeight, document.querySelector("section").scrollHeight]), [418, 418]);
    }
  },
);

for (const kind of ["mouse", "touch"]) {
  inDeck(
    `the tooltip belongs to the point under the ${kind} on a scaled slide, with unit, bounds and n`,
    ({ csv }) => {
      csv("/d/throughput-a.csv", WIDE);
      csv("/d/throughput-a.min.csv", WIDE.replace("200000000", "150000000"));
      csv("/d/throughput-a.max.csv", WIDE.replace("200000000", "250000000"));
      csv("/d/throughput-a.n.csv", "I/O size,4096,65536,1048576\nWithout journal,10,9,10\n");
      return { sections: [canvas("/d/throughput-a.csv")], viewport: { width: 800, height: 450 }, hasTouch: true };
    },
    async (page) => {
      const { x, y } = await page.evaluate(() => {
        const one = document.querySelector("canvas");
        const point = window.Chart.getChart(one).getDatasetMeta(0).data[1];
        const rect = one.getBoundingClientRect();
        return { x: rect.left + (point.x * rect.width) / one.offsetWidth, y: rect.top + (point.y * rect.height) / one.offsetHeight };
      });
      if (kind === "mouse") await page.mouse.move(x, y);
      else await page.touchscreen.tap(x, y);
      await page.waitForFunction(() => window.Chart.getChart(document.querySelector("canvas")).tooltip.opacity > 0);
      const { title, body } = await page.evaluate(() => {
        const { tooltip } = window.Chart.getChart(document.querySelector("canvas"));
        return { title: tooltip.title, body: tooltip.body.map(({ lines }) => lines).flat() };
      });
      assert.deepEqual(title, ["I/O size 64 KiB"]);
      assert.deepEqual(body, ["Without journal: 200 MB/s (150 MB/s to 250 MB/s, n = 9)"]);
    },
  );
}

inDeck(
  "print draws every chart, on the copies of fragments too, and then says so",
  ({ csv }) => {
    const names = Array.from({ length: 6 }, (_, i) => `/d/p${i}.csv`);
    names.forEach((name) => csv(name, WIDE));
    const slides = names.map((name) => `<h2>Finding</h2>${canvas(name)}<p class="fragment">one</p><p class="fragment">two</p>`);
    // reveal.js itself writes style elements for print.
    return { sections: slides, query: "?view=print", config: "{ pdfSeparateFragments: true }", policy: null };
  },
  async (page) => {
    await page.waitForFunction(() => document.documentElement.dataset.chartsReady === "true");
    const count = await page.locator("canvas").count();
    assert.equal(count, 18, "six slides, each with two fragments");
    for (let n = 0; n < count; n += 1) {
      assert.ok(await isPainted(page, n), `canvas ${n} is painted`);
      assert.equal((await chartData(page, n)).datasets.length, 2);
    }
    const pdf = await page.pdf({ preferCSSPageSize: true });
    assert.ok(pdf.length > 20_000, "a PDF with content");
  },
);

inDeck(
  "the overview shows the charts of the slides that it shows",
  ({ csv }) => {
    const names = Array.from({ length: 7 }, (_, i) => `/d/o${i}.csv`);
    names.forEach((name) => csv(name, WIDE));
    return { sections: names.map((name) => canvas(name)) };
  },
  async (page) => {
    await page.evaluate(() => window.deck.toggleOverview(true));
    const inSight = () =>
      page.evaluate(() =>
        [...document.querySelectorAll("canvas")]
          .map((one) => [one.getBoundingClientRect(), window.Chart.getChart(one)])
          .filter(([rect]) => rect.width > 0 && rect.left < innerWidth && rect.right > 0)
          .map(([, chart]) => chart?.data.datasets.length ?? 0),
      );
    await page.waitForFunction(() => window.deck.isOverview());
    for (let tries = 0; tries < 40 && (await inSight()).includes(0); tries += 1) await page.waitForTimeout(50);
    const charts = await inSight();
    assert.ok(charts.length >= 2, `${charts.length} slides in sight`);
    assert.deepEqual(charts, charts.map(() => 2));
  },
);

inDeck(
  "the scroll view draws what scrolls into sight, and leaving it brings the slides' charts back",
  ({ csv }) => {
    const names = Array.from({ length: 5 }, (_, i) => `/d/s${i}.csv`);
    names.forEach((name, i) => csv(name, `x,1,2\ns,${i},${i}\n`));
    return { sections: names.map((name) => canvas(name)), policy: null, viewport: { width: 400, height: 800 } };
  },
  async (page) => {
    assert.equal(await page.evaluate(() => window.deck.isScrollView()), true, "a narrow window gets the scroll view");
    await page.evaluate(() => document.querySelectorAll("canvas")[4].scrollIntoView());
    await page.waitForFunction(() => window.Chart.getChart(document.querySelectorAll("canvas")[4])?.data.datasets.length === 1);
    assert.ok(await isPainted(page, 4));
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.waitForFunction(() => !window.deck.isScrollView());
    await page.evaluate(() => window.deck.slide(4));
    await page.waitForFunction(() => window.Chart.getChart(document.querySelectorAll("canvas")[4])?.data.datasets.length === 1);
    assert.deepEqual((await chartData(page, 4)).datasets[0].data, [4, 4]);
    assert.ok(await isPainted(page, 4));
    assert.equal(await page.evaluate(() => window.plugin.charts.size), 5, "copies replaced the slides, nothing is left behind");
  },
);

inDeck(
  "a change of theme changes the colours of lines and text, and nothing else",
  ({ csv }) => {
    csv("/d/a.csv", WIDE);
    const css = `
      :root { color-scheme: light dark; --ink: #1b1d22; --series-one: var(--ink); --chart-text: light-dark(#1b1d22, #f0f0f0); }
      @media (prefers-color-scheme: dark) { :root { --ink: #e69f00; } }`;
    return { sections: [canvas("/d/a.csv")], css, options: `{ styles: { "With journal": { color: "var(--series-one)" } } }` };
  },
  async (page) => {
    const look = async () => {
      const { datasets } = await chartData(page);
      const text = await page.evaluate(() => window.Chart.getChart(document.querySelector("canvas")).scales.x.options.ticks.color);
      return { line: datasets[1].borderColor, text, data: datasets.map(({ data }) => data) };
    };
    const light = await look();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.evaluate(() => window.plugin.restyle());
    const dark = await look();
    assert.deepEqual([light.line, dark.line], ["rgb(27, 29, 34)", "rgb(230, 159, 0)"]);
    assert.deepEqual([light.text, dark.text], ["rgb(27, 29, 34)", "rgb(240, 240, 240)"]);
    assert.deepEqual(dark.data, light.data);
  },
);

inDeck(
  "labels stand at the line ends in their order, apart from each other, and make room for themselves",
  ({ csv }) => {
    csv("/d/a.csv", "x,1,2\nlow,1,100\nmiddle,2,101\na name so long that it needs more than one line,3,102\nhigh,4,300\n");
    return { sections: [canvas("/d/a.csv")] };
  },
  async (page) => {
    const { labels, area, width } = await page.evaluate(async () => {
      const { placedLabels } = await import("/plugin/src/labels.js");
      const chart = window.Chart.getChart(document.querySelector("canvas"));
      return { labels: placedLabels(chart), area: chart.chartArea, width: chart.width };
    });
    labels.sort((a, b) => a.centre - b.centre);
    assert.equal(labels[0].name, "high");
    assert.equal(labels.length, 4);
    labels.slice(1).forEach((label, i) => {
      assert.ok(label.centre - label.height / 2 >= labels[i].centre + labels[i].height / 2, `${label.name} is apart`);
    });
    assert.ok(labels.at(-1).centre + labels.at(-1).height / 2 <= area.bottom + 1);
    assert.ok(width - area.right > 60 && width - area.right < width / 3);
  },
);

inDeck(
  "100,000 points are drawn as a few thousand, whole at both ends, without a long wait",
  ({ csv }) => {
    csv("/d/many.csv", `series,x,y,low,high,n\n${Array.from({ length: 100_000 }, (_, i) => `a,${i},${Math.sin(i / 1000)},,,`).join("\n")}\n`);
    return { sections: [canvas("/d/many.csv")] };
  },
  async (page) => {
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
    assert.ok(drawn <= 4000, `${drawn} drawn`);
    assert.deepEqual(ends, [0, 99_999]);
    assert.ok(took < 1500, `${took} ms`);
  },
);

inPage(
  "without a deck: a chart of plain Chart.js loads its CSV, tells its errors, and follows a new address",
  ({ csv }) => {
    csv("/d/a.csv", "x,1,2\na,5,\n");
    csv("/d/b.csv", "x,1,2\nb,7,8\n");
    return {
      script: `
        window.chart = new Chart(canvas, { type: "line", data: { datasets: [] }, options: { plugins: { csv: { url: "/d/a.csv" } } } });
        window.plain = new Chart(document.createElement("canvas"), { type: "bar", data: { labels: ["a"], datasets: [{ data: [1] }] } });
        await csvOf(chart).ready;`,
    };
  },
  async (page) => {
    assert.deepEqual((await chartData(page)).datasets[0].data, [5, null]);
    const events = await page.evaluate(async () => {
      const seen = [];
      for (const type of ["updated", "error"]) {
        window.canvas.addEventListener(`chart-csv:${type}`, ({ detail }) => seen.push([type, detail.error?.url ?? detail.src]));
      }
      for (const url of ["/d/b.csv", "/d/none.csv"]) {
        window.chart.options.plugins.csv.url = url;
        window.chart.update();
        await Promise.resolve();
        await window.csvOf(window.chart).ready;
      }
      return seen;
    });
    assert.deepEqual(events, [["updated", "/d/b.csv"], ["error", "/d/none.csv"]]);
    assert.match(await page.locator("[role=alert]").innerText(), /none\.csv: the server answered 404/);
    assert.deepEqual(await page.evaluate(() => window.plain.data.datasets[0].data), [1], "charts without CSV are left alone");
    await page.evaluate(() => window.chart.destroy());
    assert.equal(await page.locator("[role=alert]").count(), 0);
  },
);

inPage(
  "CSV given as text is drawn at once, and as an accessible table",
  () => ({
    script: `
      window.chart = new Chart(canvas, {
        type: "line", data: { datasets: [] },
        options: { animation: false, plugins: { csv: { text: "I/O size,4096,8192\\nA<b>,5000,\\n", yUnit: "operations_per_second" } } },
      });
      window.now = chart.data.datasets[0]?.data.slice();
      document.body.append(csv.toHtmlTable(csvOf(chart).model, { caption: "IOPS <i>", yUnit: "operations_per_second", xUnit: "bytes" }));`,
  }),
  async (page) => {
    assert.deepEqual(await page.evaluate(() => window.now), [5000, null]);
    const cells = await page.locator("table").evaluate((table) => ({
      caption: table.caption.textContent,
      heads: [...table.querySelectorAll("th")].map((th) => [th.scope, th.textContent]),
      cells: [...table.querySelectorAll("td")].map((td) => td.textContent),
      markup: table.querySelectorAll("b, i").length,
    }));
    assert.deepEqual(cells, {
      caption: "IOPS <i>",
      heads: [["col", "I/O size"], ["col", "4 KiB"], ["col", "8 KiB"], ["row", "A<b>"]],
      cells: ["5k ops/s", "–"],
      markup: 0,
    });
    const error = await page.evaluate(() => {
      window.chart.options.plugins.csv.text = "x,1\na,b\n";
      return window.csvOf(window.chart).refresh().then(() => window.csvOf(window.chart).error?.message ?? null);
    });
    assert.equal(error, 'row 2, column 2: "b" is not a number (under "1")');
    assert.match(await page.locator("[role=alert]").innerText(), /^No chart: row 2/);
  },
);
