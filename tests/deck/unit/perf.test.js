/** The pure parts of the performance program: what it computes and prints. */
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import {
  compare,
  digits,
  machineLine,
  quantile,
  spread,
  tableOf,
} from "../../../scripts/deck/perf/report.js";
import { pointsCsv, pointsPage } from "../../../scripts/deck/perf/points.js";
import { chapterElement } from "../../../scripts/deck/talk-page.js";

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
});

test("the table has a line for each measure, with both sides, their spread and their ratio", () => {
  const measures = compare(
    [{ chartsReady: 100 }, { chartsReady: 110 }],
    [{ chartsReady: 250 }, { chartsReady: 220 }],
  );
  const lines = tableOf(measures).split("\n");
  assert.equal(lines.length, 2);
  assert.match(lines[0], /Replay +plain +plain ÷ Replay$/);
  assert.match(
    lines[1],
    /^its charts drawn +105 ms \(100–110\) +235 ms \(220–250\) +2\.25× \(2\.00–2\.50\)$/,
  );
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

test("a page of either side shows the chart of very many points in place of its chapters", () => {
  const chapter = chapterElement("slides/rpo/00-loss.md");
  const html = pointsPage(`<div class="slides">${chapter}\n${chapter}</div><script></script>`);
  assert.match(
    html,
    /^<div class="slides"><section id="points"[^>]*><h2>100000 points<\/h2><canvas [^>]*><\/canvas><\/section>\s*<\/div><script>/,
  );
  assert.equal(
    pointsCsv(3),
    "series,x,y,low,high,n\nReplay lag,0.0,7.0000,,,\nReplay lag,0.1,3.1426,,,\nReplay lag,0.2,3.2823,,,\n",
  );
});
