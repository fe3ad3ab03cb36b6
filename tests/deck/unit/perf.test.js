/** The pure parts of the performance program: what it generates, computes and prints. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { parse } from "csv-parse/sync";
import fc from "fast-check";

import { talkOfCharts, talkOfPoints } from "../../../scripts/deck/perf/generated-talk.js";
import { chaptersIn, withChapters } from "../../../scripts/deck/perf/perf-server.js";
import { digits, machineLine, tableOf } from "../../../scripts/deck/perf/report.js";
import { compare, quantile, spread } from "../../../scripts/deck/perf/statistics.js";

test("a quantile is between its neighbours, and the median of an even number in their middle", () => {
  assert.equal(quantile([4, 1, 3, 2], 0.5), 2.5);
  assert.equal(quantile([7], 0.95), 7);
  assert.ok(Number.isNaN(quantile([], 0.5)));
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (values, p) => {
        const found = quantile(values, p);
        const slack = 1e-9 * Math.max(...values);
        return found >= Math.min(...values) - slack && found <= Math.max(...values) + slack;
      },
    ),
  );
});

test("a ratio is taken within each round, so that a slow round of the machine does not count twice", () => {
  const { chartsReady } = compare(
    [{ chartsReady: 100 }, { chartsReady: 1000 }, { chartsReady: 200 }],
    [{ chartsReady: 200 }, { chartsReady: 2000 }, { chartsReady: 500 }],
  );
  assert.deepEqual(chartsReady.ratio, { median: 2, low: 2, high: 2.5 });
  assert.deepEqual(chartsReady.deck, spread([100, 1000, 200]));
  assert.equal(chartsReady.plain.median, 500);
  assert.throws(() => compare([], []), /same rounds/);
  assert.throws(() => compare([{ chartsReady: 1 }], []), /same rounds/);
});

test("a generated talk has a slide and the files of a usual chart for each chart asked for", () => {
  const { chapter, files } = talkOfCharts(5);
  const sources = [...chapter.matchAll(/data-chart-src="([^"]+)"/g)].map(([, src]) => src);
  assert.equal(new Set(sources).size, 5);
  assert.equal(chapter.split("\n\n\n").length, 5);
  for (const src of sources) {
    const values = parse(files.get(src));
    const low = parse(files.get(src.replace(".csv", ".min.csv")));
    assert.equal(values.length, 5);
    assert.deepEqual(values[0], low[0]);
    assert.ok(Number(low[1][1]) < Number(values[1][1]));
  }
});

test("a generated series has as many points as were asked for, along an axis that only grows", () => {
  const { files } = talkOfPoints(3000);
  const [text] = files.values();
  const rows = parse(text, { columns: true });
  assert.equal(rows.length, 3000);
  assert.ok(rows.every(({ x }, at) => at === 0 || Number(x) > Number(rows[at - 1].x)));
  assert.ok(rows.every(({ y }) => Number.isFinite(Number(y))));
});

test("the chapters of a page are found and replaced, and nothing else of it is touched", () => {
  const page = `<body><div class="reveal"><div class="slides"><section data-markdown="slides/talk/a.md"></section>
    <section data-markdown="slides/talk/b.md"></section></div></div><p>kept</p></body>`;
  assert.deepEqual(chaptersIn(page), ["slides/talk/a.md", "slides/talk/b.md"]);
  const changed = withChapters(page, ["slides/c$&.md"]);
  assert.deepEqual(chaptersIn(changed), ["slides/c$&.md"]);
  assert.match(changed, /<\/div><\/div><p>kept<\/p>/);
  assert.throws(() => withChapters("<body></body>", []), /no <div class="slides">/);
});

test("the table has a line for each measure, with both sides, their spread and their ratio", () => {
  const measures = compare(
    [{ chartsReady: 100 }, { chartsReady: 110 }],
    [{ chartsReady: 250 }, { chartsReady: 220 }],
  );
  const lines = tableOf([{ title: "The talk", measures }]).split("\n");
  assert.equal(lines.length, 3);
  assert.match(lines[0], /Replay +plain +plain ÷ Replay$/);
  assert.equal(lines[1], "The talk");
  assert.match(lines[2], /its charts drawn +105 ms \(100–110\) +235 ms \(220–250\) +2\.25× \(2\.00–2\.50\)$/);
});

test("a figure has three digits, and what could not be measured is a dash", () => {
  assert.deepEqual([1.234, 12.34, 123.4, NaN, Infinity].map(digits), ["1.23", "12.3", "123", "–", "–"]);
});

test("the machine is described with everything that a reader needs to compare", () => {
  const line = machineLine({
    cpu: "A processor",
    cores: 2,
    memoryBytes: 8 * 2 ** 30,
    chromium: "1.2",
    node: "22.1.0",
    date: "2026-01-01",
  });
  assert.equal(
    line,
    "A processor, 2 cores, 8 GiB; Chromium 1.2 without graphics card; Node 22.1.0; 2026-01-01",
  );
});
