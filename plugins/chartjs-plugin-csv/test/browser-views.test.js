/** Charts in every view of reveal.js: sizes, sharpness, pointer, overview, scroll view, print. */
import assert from "node:assert/strict";
import { canvas, chartData, csv, openDeck, painted, test } from "./support/deck.js";

const WIDE =
  "I/O size,4096,65536,1048576\nWithout journal,30000000,200000000,900000000\nWith journal,6000000,,300000000\n";

for (const [ratio, viewport] of [
  [1, { width: 1280, height: 720 }],
  [2, { width: 1920, height: 1080 }],
  [1, { width: 640, height: 360 }],
]) {
  test(`a chart fills its box and has one pixel per screen pixel at ratio ${ratio}, ${viewport.width}×${viewport.height}`, async () => {
    csv("/d/a.csv", WIDE);
    const page = await openDeck({
      sections: [`<h2>Finding</h2>${canvas("/d/a.csv")}`],
      viewport,
      deviceScaleFactor: ratio,
    });
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
    box.forEach((side, i) =>
      assert.ok(Math.abs(drawn.pixels[i] - side * ratio * scale) <= 1, `${drawn.pixels[i]}`),
    );
    assert.ok(slide.content <= slide.height, "the slide does not overflow");
  });
}

test("resizing the window again and again neither grows the chart nor blurs it", async () => {
  csv("/d/a.csv", WIDE);
  const page = await openDeck({ sections: [canvas("/d/a.csv")] });
  for (const width of [900, 1600, 700, 1280]) {
    await page.setViewportSize({ width, height: Math.round((width * 9) / 16) });
    await page.waitForFunction((w) => Math.abs(window.deck.getScale() - w / 1280) < 0.01, width);
    await page.waitForFunction(
      () => Math.abs(document.querySelector("canvas").height - 418 * window.deck.getScale()) <= 1,
    );
    assert.deepEqual(
      await page.evaluate(() => [
        document.querySelector("canvas").offsetHeight,
        document.querySelector("section").scrollHeight,
      ]),
      [418, 418],
    );
  }
});

for (const kind of ["mouse", "touch"]) {
  test(`the tooltip belongs to the point under the ${kind} on a scaled slide, with unit, bounds and n`, async () => {
    csv("/d/throughput-a.csv", WIDE);
    csv(
      "/d/throughput-a.spread.csv",
      "series,x,low,high,min,max,n\nWithout journal,1048576,,,850000000,950000000,9\n",
    );
    const page = await openDeck({
      sections: [canvas("/d/throughput-a.csv", "line", "", 'data-chart-bands="auto"')],
      viewport: { width: 800, height: 450 },
      hasTouch: true,
    });
    const { x, y } = await page.evaluate(() => {
      const one = document.querySelector("canvas");
      const point = window.Chart.getChart(one).getDatasetMeta(0).data[2];
      const rect = one.getBoundingClientRect();
      return {
        x: rect.left + (point.x * rect.width) / one.offsetWidth,
        y: rect.top + (point.y * rect.height) / one.offsetHeight,
      };
    });
    if (kind === "mouse") await page.mouse.move(x, y);
    else await page.touchscreen.tap(x, y);
    await page.waitForFunction(
      () => window.Chart.getChart(document.querySelector("canvas")).tooltip.opacity > 0,
    );
    const { title, body } = await page.evaluate(() => {
      const { tooltip } = window.Chart.getChart(document.querySelector("canvas"));
      return { title: tooltip.title, body: tooltip.body.map(({ lines }) => lines).flat() };
    });
    assert.deepEqual(title, ["I/O size 1 MiB"]);
    assert.deepEqual(body, [
      "Without journal: 900 MB/s (850 MB/s to 950 MB/s, n = 9)",
      "With journal: 300 MB/s",
    ]);
  });
}

test("print draws every chart, also on copies of fragments, and then says so", async () => {
  const names = Array.from({ length: 6 }, (_, i) => `/d/p${i}.csv`);
  names.forEach((name) => csv(name, WIDE));
  const slides = names.map(
    (name) => `<h2>Finding</h2>${canvas(name)}<p class="fragment">one</p><p class="fragment">two</p>`,
  );
  // reveal.js itself writes style elements for print.
  const page = await openDeck({
    sections: slides,
    query: "?view=print",
    config: "{ pdfSeparateFragments: true }",
    policy: null,
  });
  await page.waitForFunction(() => document.documentElement.dataset.chartsReady === "true");
  const count = await page.locator("canvas").count();
  assert.equal(count, 18, "six slides, each with two fragments");
  for (let n = 0; n < count; n += 1) {
    assert.ok(await painted(page, n), `canvas ${n} is painted`);
    assert.equal((await chartData(page, n)).datasets.length, 2);
  }
  const pdf = await page.pdf({ preferCSSPageSize: true });
  assert.ok(pdf.length > 20_000, "a PDF with content");
});

test("the overview shows the charts of its visible slides", async () => {
  const names = Array.from({ length: 7 }, (_, i) => `/d/o${i}.csv`);
  names.forEach((name) => csv(name, WIDE));
  const page = await openDeck({ sections: names.map((name) => canvas(name)) });
  await page.evaluate(() => window.deck.toggleOverview(true));
  await page.waitForFunction(() => {
    const inSight = [...document.querySelectorAll("canvas")].filter((one) => {
      const { width, left, right } = one.getBoundingClientRect();
      return width > 0 && left < innerWidth && right > 0;
    });
    const isDrawn = (one) => window.Chart.getChart(one)?.data.datasets.length === 2;
    return window.deck.isOverview() && inSight.length >= 2 && inSight.every(isDrawn);
  });
});

test("the scroll view draws charts that scroll into sight, and leaving it restores the slides' charts", async () => {
  const names = Array.from({ length: 5 }, (_, i) => `/d/s${i}.csv`);
  names.forEach((name, i) => csv(name, `x,1,2\ns,${i},${i}\n`));
  const page = await openDeck({
    sections: names.map((name) => canvas(name)),
    policy: null,
    viewport: { width: 400, height: 800 },
  });
  assert.equal(
    await page.evaluate(() => window.deck.isScrollView()),
    true,
    "a narrow window gets the scroll view",
  );
  await page.evaluate(() => document.querySelectorAll("canvas")[4].scrollIntoView());
  await page.waitForFunction(
    () => window.Chart.getChart(document.querySelectorAll("canvas")[4])?.data.datasets.length === 1,
  );
  assert.ok(await painted(page, 4));
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.waitForFunction(() => !window.deck.isScrollView());
  await page.evaluate(() => window.deck.slide(4));
  await page.waitForFunction(
    () => window.Chart.getChart(document.querySelectorAll("canvas")[4])?.data.datasets.length === 1,
  );
  assert.deepEqual((await chartData(page, 4)).datasets[0].data, [4, 4]);
  assert.ok(await painted(page, 4));
  assert.equal(
    await page.evaluate(() => window.plugin.charts.size),
    5,
    "copies replaced the slides, and nothing is left behind",
  );
});
