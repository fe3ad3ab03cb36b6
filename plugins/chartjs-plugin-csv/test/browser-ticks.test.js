/** Ticks along x in a real Chromium: their labels never touch, whatever the file and the width; dates are to scale. */
import assert from "node:assert/strict";
import { canvas, csv, goTo, openChart, openDeck, test } from "./support/deck.js";

const WIDTHS = [292, 330, 560, 1136];
const day = (at) => new Date(Date.UTC(2026, 0, 1) + at * 24 * 3600 * 1000).toISOString().slice(0, 10);
const long = (xs) => `series,x,y,low,high,n\n${xs.map((x, i) => `a,${x},${i + 1},,,`).join("\n")}\n`;
const FILES = {
  "depth.csv": "Queue depth,1,2,4,8,16,32,64\na,9,13,18,37,56,58,57\nb,7,11,17,32,50,47,44\n",
  "sizes.csv": `I/O size,${Array.from({ length: 11 }, (_, i) => 4096 * 2 ** i).join()}\na,1,2,3,4,5,6,7,8,9,10,11\n`,
  "steps.csv": "Trial,1,2,3,4,9,10,60,61,62\na,1,2,3,4,5,6,7,8,9\n",
  "days.csv": `date,a\n${[0, 1, 2, 9, 40].map((at) => `${day(at)},${at}`).join("\n")}\n`,
  "years.csv": `date,a\n${[0, 400, 3000].map((at) => `${day(at)},${at}`).join("\n")}\n`,
  "hours.csv": long(["2026-11-22 21:30", "2026-11-22 23:50", "2026-11-23 04:10"]),
  "moments.csv": long(["18:20:05.125", "18:20:05.250", "18:20:07"]),
};
const LINEAR = ["depth.csv", "steps.csv"];

/** The labels that are drawn along an axis of the n-th chart, with their ends in px. */
const labelsOf = (page, n, axis = "x") =>
  page.evaluate(
    ([index, id]) => {
      const chart = window.Chart.getChart(document.querySelectorAll("canvas")[index]);
      const { ctx, scales } = chart;
      return scales[id].getLabelItems().map(({ label, font, options }) => {
        ctx.save();
        ctx.font = font.string;
        const lines = [label].flat();
        const width = Math.max(...lines.map((line) => ctx.measureText(line).width));
        ctx.restore();
        const [x, y] = options.translation;
        return { text: lines.join(" "), left: x - width / 2, right: x + width / 2, y, size: font.size };
      });
    },
    [n, axis],
  );

test("labels of ticks never touch, and the ends of an axis have theirs, on a phone and on a stage", async () => {
  for (const [name, text] of Object.entries(FILES)) csv(`/d/${name}`, text);
  const boxed = (inner) => WIDTHS.map((width) => `<div class="w${width}">${inner}</div>`).join("");
  const height = 'data-chart-height="180"';
  const page = await openDeck({
    sections: [
      ...Object.keys(FILES).map((name) => boxed(canvas(`/d/${name}`, "line", "", height))),
      ...LINEAR.map((name) =>
        boxed(
          canvas(`/d/${name}`, "line", "", `${height} data-chart-x-scale="linear" data-chart-x-unit="count"`),
        ),
      ),
    ],
    css: WIDTHS.map((width) => `.w${width} { width: ${width}px; }`).join(" "),
    options: "{ limit: 40 }",
  });
  for (const [at, name] of [...Object.keys(FILES), ...LINEAR].entries()) {
    await goTo(page, at);
    for (const [n, width] of WIDTHS.entries()) {
      const labels = await labelsOf(page, at * WIDTHS.length + n);
      const where = `${name} at ${width} px: ${labels.map(({ text }) => text).join(" | ")}`;
      assert.ok(labels.length >= 2, where);
      labels.slice(1).forEach(({ left }, i) => assert.ok(left - labels[i].right >= 4, where));
      if (name === "depth.csv") assert.deepEqual([labels[0].text, labels.at(-1).text], ["1", "64"], where);
      if (/hours|days/.test(name)) assert.match(labels[0].text, /2026/, where);
    }
  }
});

test("a queue depth is on a log2 axis and its points are joined; days are as far apart as they are", async () => {
  for (const name of ["depth.csv", "days.csv"]) csv(`/d/${name}`, FILES[name]);
  const page = await openDeck({ sections: [canvas("/d/depth.csv") + canvas("/d/days.csv")] });
  const [depth, days] = await page.evaluate(() =>
    [...document.querySelectorAll("canvas")].map((one) => {
      const chart = window.Chart.getChart(one);
      const { data, dataset } = chart.getDatasetMeta(0);
      return {
        type: chart.scales.x.type,
        xs: data.map(({ x }) => x),
        isJoined: dataset.options.borderWidth > 0,
      };
    }),
  );
  const steps = ({ xs }) => xs.slice(1).map((x, i) => (x - xs[i]) / (xs.at(-1) - xs[0]));
  assert.deepEqual([depth.type, depth.isJoined], ["log2", true]);
  for (const step of steps(depth)) assert.ok(Math.abs(step - 1 / 6) < 0.01);
  assert.equal(days.type, "date");
  [1, 1, 7, 31].forEach((length, i) => assert.ok(Math.abs(steps(days)[i] - length / 40) < 0.01));
});

test("dates have tooltips and marks as the file writes them, a band, and a second data set in the same axes", async () => {
  csv("/d/days.csv", FILES["days.csv"]);
  csv("/d/days.spread.csv", `series,x,low,high,min,max,n\na,${day(0)},,,0,1,3\na,${day(1)},,,0,5,3\n`);
  csv("/d/more.csv", `date,a\n${day(5)},3\n${day(50)},4\n`);
  csv("/d/labels.csv", "case,a\nfirst,3\nlast,4\n");
  const page = await openDeck({
    sections: [canvas("/d/days.csv", "line", "", 'data-chart-bands="auto"')],
    options: `{ marks: () => [{ x: "${day(9)}", y: 20, label: "here" }] }`,
  });
  const found = await page.evaluate(async () => {
    const [slot] = window.plugin.charts.values();
    const { chart } = slot;
    const ends = () =>
      [chart.scales.x.min, chart.scales.x.max].map((at) => new Date(at).toISOString().slice(0, 10));
    const before = ends();
    const isBeside = await slot.overlay({ src: "/d/more.csv", label: "later" });
    const after = ends();
    const point = slot.model.series[0].points[1];
    const { placedMarks } = await import("/plugin/src/marks.js");
    const mark = placedMarks(chart)[0];
    const isOther = await slot.overlay({ src: "/d/labels.csv", label: "words" });
    return { before, after, isBeside, isOther, point, mark: mark?.label ?? null };
  });
  assert.deepEqual([found.before, found.after], [[day(0), day(40)], [day(0), day(50)]]); // prettier-ignore
  assert.deepEqual([found.isBeside, found.isOther, found.mark], [true, false, "here"]);
  assert.deepEqual([found.point.x, found.point.low, found.point.high], [day(1), 0, 5]);
  assert.match(await page.locator(".chart-csv-note").innerText(), /words is not shown/);
});

test("text with dates is drawn at once, and to scale when what draws them is there", async () => {
  const page = await openChart({
    script: `
      const text = ${JSON.stringify(FILES["days.csv"])};
      window.chart = new Chart(canvas, { type: "line", data: { datasets: [] }, options: { plugins: { csv: { text } } } });
      window.types = [chart.scales.x.type, chart.data.datasets.length];
      await csvOf(chart).ready;
      window.types.push(chart.scales.x.type);`,
  });
  assert.deepEqual(await page.evaluate(() => window.types), ["category", 1, "date"]);
});
