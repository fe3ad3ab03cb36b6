import assert from "node:assert/strict";
import { test } from "node:test";

import { ceilingMarks, ceilingWords, ceilingsOf, namesIn } from "../../../deck/data/ceilings.js";
import { formatValue } from "../../../deck/data/format.js";
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
      { name: NETWORK, text: "network: 6 GB/s", n: 6 },
      { name: WRITE, text: "media write: 2.4 GB/s", n: 6 },
    ],
  );
  assert.deepEqual(ceilingsOf("constructor", manifest), []);
  assert.deepEqual(ceilingsOf(WRITE, null), []);
  assert.deepEqual(ceilingsOf(WRITE, {}), []);
});

test("people who cannot see the lines can read each of them once", () => {
  const one = ceilingsOf(READ_OPERATIONS, manifest);
  assert.equal(ceilingWords([...one, ...one]), "dashed: media read: 93k ops/s (n = 6)");
  assert.equal(ceilingWords([]), "");
});

test("a bound ceiling is written as the chart writes it", () => {
  assert.equal(formatValue(2380324990, "median_bytes_per_second"), "2.4 GB/s");
  assert.equal(formatValue(93056.9715, "median_operations_per_second"), "93k ops/s");
});

const place = { manifest, entry: { y: { unit: "bytes_per_second" } } };
const marksOf = (names, given = place) => ceilingMarks({ dataset: { chartCeiling: names } }, given);

test("a chart's ceilings are dashed lines with their names, the highest first", () => {
  const marks = marksOf(`${WRITE} ${NETWORK}`);
  assert.deepEqual(
    marks.map(({ axis, value, label }) => [axis, value, label]),
    [
      ["value", 6008530190, "network: 6 GB/s"],
      ["value", 2380324990, "media write: 2.4 GB/s"],
    ],
  );
  for (const { dash, reach } of marks) {
    assert.ok(dash.length > 0);
    assert.notEqual(reach, false, "the axis reaches up to them");
  }
});

test("a ceiling in another unit, a chart without ceilings and one without a file have no line", () => {
  assert.deepEqual(marksOf(READ_OPERATIONS), []);
  assert.deepEqual(marksOf(NETWORK, { manifest, entry: { y: { unit: "seconds" } } }), []);
  assert.deepEqual(marksOf(undefined), []);
  assert.deepEqual(marksOf(NETWORK, { manifest: null, entry: null }), []);
});

test("the check names a ceiling that the shipped data lack, and one of another unit", async (t) => {
  const talk = await makeTalk(t);
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
