import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { CeilingLines, ceilingWords, ceilingsOf, namesIn } from "../../../deck/ceilings.js";
import { formatValue } from "../../../deck/format.js";
import { CHART, MANIFEST, makeTalk, slideWith } from "../support/talk.js";

const WRITE = "media_write_bytes_per_second";
const READ_OPERATIONS = "media_read_operations_per_second";
const NETWORK = "network_bytes_per_second";
const ceilings = {
  [WRITE]: { n: 6, unit: "bytes_per_second", median_bytes_per_second: 2380324990 },
  [NETWORK]: { n: 6, unit: "bytes_per_second", median_bytes_per_second: 6008530190 },
  [READ_OPERATIONS]: { n: 6, unit: "operations_per_second", median_operations_per_second: 93056.9715 },
  empty_bytes_per_second: { n: 0, unit: "bytes_per_second", median_bytes_per_second: null },
};
const manifest = { ceilings };

test("a canvas gets the ceilings that it names and the data have, the greatest first", () => {
  assert.deepEqual(namesIn(undefined), []);
  const found = ceilingsOf(`${WRITE}  ${NETWORK} nobody_knows_per_second empty_bytes_per_second`, manifest);
  assert.deepEqual(
    found.map(({ name, text, n }) => ({ name, text, n })),
    [
      { name: NETWORK, text: "network: 6.01 GB/s", n: 6 },
      { name: WRITE, text: "media write: 2.38 GB/s", n: 6 },
    ],
  );
  assert.deepEqual(ceilingsOf("constructor", manifest), []);
  assert.deepEqual(ceilingsOf(WRITE, null), []);
  assert.deepEqual(ceilingsOf(WRITE, {}), []);
});

test("who cannot see the lines reads them, each of them once", () => {
  const one = ceilingsOf(READ_OPERATIONS, manifest);
  assert.equal(ceilingWords([...one, ...one]), "dashed: media read: 93.1k ops/s (n = 6)");
  assert.equal(ceilingWords([]), "");
});

test("a bound ceiling is written as the chart writes it", () => {
  assert.equal(formatValue(2380324990, "median_bytes_per_second"), "2.38 GB/s");
  assert.equal(formatValue(93056.9715, "median_operations_per_second"), "93.1k ops/s");
});

/** A chart that notes what is drawn on it: y from 0 at 100 px to 1e10 at 0 px. */
function fakeChart(names, { unit = "bytes_per_second", highest = 1e9, userMax = false } = {}) {
  const drawn = [];
  const note =
    (what) =>
    (...values) =>
      drawn.push([what, ...values]);
  const ctx = Object.fromEntries(
    [
      "save",
      "restore",
      "beginPath",
      "stroke",
      "setLineDash",
      "moveTo",
      "lineTo",
      "fillText",
      "strokeText",
    ].map((what) => [what, note(what)]),
  );
  const y = {
    axis: "y",
    max: highest,
    getUserBounds: () => ({ maxDefined: userMax }),
    getPixelForValue: (value) => 100 - value / 1e8,
  };
  const plugin = CeilingLines({
    manifestOf: () => manifest,
    entryOf: () => ({ y: { unit } }),
    colorOf: () => "red",
  });
  const canvas = { dataset: { chartCeiling: names, chartSrc: CHART } };
  const chart = { canvas, ctx, chartArea: { left: 10, right: 110, top: 0, bottom: 100 }, scales: { y } };
  return { plugin, chart, y, drawn, of: (what) => drawn.filter(([name]) => name === what) };
}

let before;
beforeEach(() => {
  before = globalThis.getComputedStyle;
  globalThis.getComputedStyle = () => ({ fontFamily: "Inter" });
});
afterEach(() => {
  globalThis.getComputedStyle = before;
});

test("the line is drawn over the whole plot, where its value is, with its name", () => {
  const { plugin, chart, of } = fakeChart(NETWORK);
  plugin.afterDatasetsDraw(chart);
  const [[, left, top]] = of("moveTo");
  const [[, right, same]] = of("lineTo");
  assert.deepEqual([left, right], [10, 110]);
  assert.ok(Math.abs(top - 39.9147) < 1e-3 && same === top);
  assert.equal(of("fillText")[0][1], "network: 6.01 GB/s");
  assert.equal(of("save").length, of("restore").length);
});

test("names of lines that are close stand below each other", () => {
  const close = "close_bytes_per_second";
  const median = ceilings[NETWORK].median_bytes_per_second;
  ceilings[close] = { n: 1, unit: "bytes_per_second", median_bytes_per_second: median * 0.99 };
  const { plugin, chart, of } = fakeChart(`${close} ${NETWORK}`);
  plugin.afterDatasetsDraw(chart);
  delete ceilings[close];
  const [first, second] = of("fillText");
  assert.ok(second[3] - first[3] >= 20);
});

test("the axis reaches up to the line, unless its end is set", () => {
  const open = fakeChart(`${WRITE} ${NETWORK}`);
  open.plugin.afterDataLimits(open.chart, { scale: open.y });
  assert.ok(open.y.max > 6008530190);
  const fixed = fakeChart(NETWORK, { userMax: true });
  fixed.plugin.afterDataLimits(fixed.chart, { scale: fixed.y });
  assert.equal(fixed.y.max, 1e9);
  const above = fakeChart(NETWORK, { highest: 1e12 });
  above.plugin.afterDataLimits(above.chart, { scale: above.y });
  assert.equal(above.y.max, 1e12);
});

test("a line of another unit, beyond the axis or of a chart that asks for none is not drawn", () => {
  for (const { plugin, chart, drawn, of } of [
    fakeChart(READ_OPERATIONS),
    fakeChart(NETWORK, { unit: "seconds" }),
    fakeChart(undefined),
  ]) {
    plugin.afterDatasetsDraw(chart);
    assert.deepEqual(drawn, []);
    assert.equal(of("stroke").length, 0);
  }
  const beyond = fakeChart(NETWORK);
  beyond.chart.scales.y.getPixelForValue = () => -5;
  beyond.plugin.afterDatasetsDraw(beyond.chart);
  assert.equal(beyond.of("stroke").length, 0);
});

test("the check names a ceiling that the shipped data lack, and one of another unit", async (t) => {
  const talk = await makeTalk();
  t.after(() => talk.remove());
  const entry = MANIFEST.experiments["rbd-journaling"];
  const withUnit = {
    ...MANIFEST,
    ceilings,
    experiments: {
      "rbd-journaling": {
        ...entry,
        charts: { "iops-read-seq": { n: 6, y: { unit: "operations_per_second" } } },
      },
    },
  };
  await talk.saveData({ manifest: withUnit });
  const problems = async (attribute) =>
    (
      await talk.problemsOf(
        slideWith(`<canvas data-chart="line" data-chart-src="${CHART}" ${attribute}></canvas>`),
      )
    ).filter((problem) => problem.includes("ceiling"));
  assert.deepEqual(await problems(`data-chart-ceiling="${READ_OPERATIONS}"`), []);
  assert.match((await problems('data-chart-ceiling="roof_bytes_per_second"'))[0], /has no ceiling "roof_/);
  assert.match(
    (await problems(`data-chart-ceiling="${WRITE}"`))[0],
    /is in bytes_per_second, its chart in operations/,
  );
  assert.match((await problems('data-chart-ceiling=" "'))[0], /data-chart-ceiling without a name/);
});
