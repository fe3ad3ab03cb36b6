/** Small panels: names and ticks are complete, do not touch and are large enough. */
import assert from "node:assert/strict";
import { canvas, csv, labelsIn, openDeck, test } from "./support/deck.js";

const SEVEN = [
  "Without journal",
  "With journal",
  "Journal mirrored",
  "Snapshot mirrored",
  "Without journal, again",
  "Without journal, cached",
  "With journal, cached",
];
const PANELS = `
  .panels { display: grid; grid-template-columns: 1fr 1fr; gap: 14px 44px; width: 1120px; }
  .three { grid-template-columns: 1fr 1fr 1fr; }`;

test("seven names at one place in a half-width panel do not touch, stay inside and are at least 20 px", async () => {
  csv(
    "/d/a.csv",
    `I/O size,4096,4194304\n${SEVEN.map((name, i) => `"${name}",${i},${100 + i}`).join("\n")}\n`,
  );
  csv("/d/b.csv", `I/O size,4096,4194304\n${SEVEN.map((name, i) => `"${name}",9,${i % 2}`).join("\n")}\n`);
  const panel = (src) => `<div>${canvas(src, "line", "", 'data-chart-height="210"')}</div>`;
  const page = await openDeck({
    sections: [`<div class="panels">${panel("/d/a.csv")}${panel("/d/b.csv")}</div>`],
    css: PANELS,
  });
  for (const n of [0, 1]) {
    const { labels, width, height, area } = await labelsIn(page, n);
    assert.equal(labels.length, 7);
    labels.sort((a, b) => a.centre - b.centre);
    labels.forEach((label, i) => {
      assert.ok(label.fontSize >= 20, `${label.name}: ${label.fontSize} px`);
      assert.ok(label.centre - label.height / 2 >= -1, `${label.name} is not above the chart`);
      assert.ok(label.centre + label.height / 2 <= height + 1, `${label.name} is not below the chart`);
      if (i === 0) return;
      const above = labels[i - 1];
      assert.ok(label.centre - label.height / 2 >= above.centre + above.height / 2 - 0.5, label.name);
    });
    assert.ok(area.right - area.left > width / 3, "the plot keeps a third of the width");
  }
});

test("figures of a y axis are complete in three panels side by side, with names at the line ends", async () => {
  csv("/d/throughput-a.csv", "I/O size,4096,4194304\nWithout journal again,1e9,1.75e9\n");
  const panel = `<div>${canvas("/d/throughput-a.csv", "line", "", 'data-chart-height="220" data-chart-y-title="Throughput"')}</div>`;
  const page = await openDeck({
    sections: [`<div class="panels three">${panel.repeat(3)}</div>`],
    css: PANELS,
  });
  for (const n of [0, 1, 2]) {
    const { needed, has } = await page.evaluate((index) => {
      const chart = window.Chart.getChart(document.querySelectorAll("canvas")[index]);
      const { y } = chart.scales;
      chart.ctx.font = `20px ${y.options.ticks.font.family}`;
      const widest = Math.max(...y.ticks.map(({ label }) => chart.ctx.measureText(label).width));
      return { needed: widest + 20, has: y.width };
    }, n);
    assert.ok(has >= needed, `${has} px for ${needed}`);
  }
});

test("a chart in a hidden panel, which is never made, keeps its neighbours from nothing", async () => {
  csv("/d/throughput-a.csv", "I/O size,4096,4194304\nWithout journal,1e8,1.75e9\n");
  csv("/d/iops-a.csv", "I/O size,4096,4194304\nWith journal mirrored,4000,10\n");
  const panel = (src, hidden) => `<div${hidden}>${canvas(src, "line", "", 'data-chart-height="180"')}</div>`;
  const panels = [
    panel("/d/throughput-a.csv", ""),
    panel("/d/iops-a.csv", ""),
    panel("/d/iops-a.csv", " hidden"),
  ];
  const page = await openDeck({
    sections: [`<div class="panels">${panels.join("")}</div>`],
    css: `${PANELS} .panels { grid-template-columns: 1fr; } [hidden] { display: none; }`,
    options: "{ alignIn: '.panels' }",
  });
  const slots = await page.evaluate(() =>
    [...window.plugin.charts.values()].map(({ chart, coming }) => ({
      coming,
      left: chart && Math.round(chart.chartArea.left),
    })),
  );
  assert.deepEqual(slots[2], { coming: false, left: null });
  assert.equal(slots[1].left, slots[0].left);
});

test("bars beside each other with the same series have one key, the last one's; others keep theirs", async () => {
  csv("/d/a.csv", "I/O size,4096,4194304\nWithout journal,1,2\nWith journal,3,4\n");
  csv("/d/b.csv", "I/O size,4096,4194304\nWithout journal,5,6\nWith journal,7,8\n");
  csv("/d/c.csv", "I/O size,4096,4194304\nWithout journal,5,6\nSnapshots,7,8\n");
  const panel = (src) => `<div>${canvas(src, "bar", "", 'data-chart-height="180"')}</div>`;
  const panels = (...files) => `<div class="panels">${files.map(panel).join("")}</div>`;
  const sections = [`${panels("/d/a.csv", "/d/b.csv")}${panels("/d/a.csv", "/d/c.csv")}`];
  const page = await openDeck({ sections, css: PANELS, options: "{ alignIn: '.panels' }" });
  const keys = await Promise.all([0, 1, 2, 3].map((n) => labelsIn(page, n)));
  assert.deepEqual(
    keys.map(({ labels }) => labels.length),
    [0, 2, 2, 2],
  );
  assert.ok(keys[0].area.right > keys[1].area.right, "what has no key has a wider plot");
});

test("plots below each other have the same width and place; those beside each other have their own", async () => {
  csv("/d/throughput-a.csv", "I/O size,4096,4194304\nWithout journal,1e8,1.75e9\n");
  csv("/d/iops-a.csv", "I/O size,4096,4194304\nWith journal mirrored,4000,10\n");
  const panel = (src) => `<div>${canvas(src, "line", "", 'data-chart-height="180"')}</div>`;
  const [wide, narrow] = ["/d/throughput-a.csv", "/d/iops-a.csv"].map(panel);
  const page = await openDeck({
    sections: [`<div class="panels">${wide}${narrow}${narrow}${narrow}</div>`],
    css: PANELS,
    options: "{ alignIn: '.panels' }",
  });
  const edges = () =>
    page.evaluate(() =>
      [...window.plugin.charts.values()].map(({ chart }) => [
        Math.round(chart.chartArea.left),
        Math.round(chart.chartArea.right),
      ]),
    );
  const [first, second, third, fourth] = await edges();
  assert.deepEqual(third, first, "the left column");
  assert.deepEqual(fourth, second, "the right column");
  assert.ok(first[0] > second[0] + 20, "a column is as narrow as it can be");
  csv("/d/throughput-a.csv", "I/O size,4096,4194304\nA,1,2\n");
  await page.evaluate(async () => {
    await window.plugin.refresh();
    await window.plugin.ready();
  });
  const later = await edges();
  assert.deepEqual(later[2], later[0]);
  assert.ok(later[0][0] < first[0], "what is no longer needed is given back");
});

test("a chart whose slide is not on show is fitted to its box when there is time, or when its slide is shown", async () => {
  csv("/d/a.csv", "I/O size,4096,4194304\nWithout journal,1,2\n");
  const page = await openDeck({ sections: [canvas("/d/a.csv", "line"), canvas("/d/a.csv", "line")] });
  const widths = await page.evaluate(async () => {
    const { deck, plugin } = window;
    await plugin.ready();
    const [slot] = plugin.charts.values();
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const narrow = async (width) => {
      slot.box.style.width = `${width}px`;
      // The observer has told it after the second of these frames.
      await frame();
      await frame();
      return slot.chart.width;
    };
    // Nobody is idle until this says so.
    const idle = [];
    window.requestIdleCallback = (work) => idle.push(work);
    const inSight = await narrow(600);
    deck.next();
    const left = await narrow(500);
    deck.prev();
    const back = slot.chart.width;
    deck.next();
    await narrow(400);
    while (idle.length) idle.shift()();
    return { inSight, left, back, later: slot.chart.width };
  });
  assert.deepEqual(widths, { inSight: 600, left: 600, back: 500, later: 400 });
});
