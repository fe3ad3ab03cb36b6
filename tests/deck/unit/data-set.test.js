import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import {
  chooseDataSet,
  isDataSetName,
  partsOf,
  requestedDataSet,
  withDataSet,
} from "../../../deck/data/data-set.js";

const CHART = "benchmarks/reference/rbd-journaling/aggregate/throughput-write-seq.csv";

test("the data set of a chart's address is its second segment, and only that is replaced", () => {
  assert.equal(withDataSet(CHART, "mine"), CHART.replace("reference", "mine"));
  assert.equal(
    withDataSet("benchmarks/hardware/csv/aggregate/x.csv", "local"),
    "benchmarks/local/csv/aggregate/x.csv",
  );
  assert.equal(
    withDataSet("benchmarks/reference/reference/aggregate/reference.csv?v=reference", "b"),
    "benchmarks/b/reference/aggregate/reference.csv?v=reference",
  );
});

test("addresses of another form, and a request for none, leave the address as it is", () => {
  for (const src of [
    "data/x.csv",
    "https://example.org/benchmarks/a/b.csv",
    "benchmarks",
    "/x/benchmarks/a/b.csv",
  ])
    assert.equal(withDataSet(src, "mine"), src);
  assert.equal(withDataSet(CHART, null), CHART);
});

test("a name that leaves its folder, or needs escaping, is not a data set name", () => {
  for (const name of [
    "..",
    "a/b",
    "../raw",
    "a\\b",
    "",
    ".hidden",
    "a..b",
    "%2e%2e",
    "a b",
    "a<b",
    "ä",
    "x".repeat(65),
  ])
    assert.equal(isDataSetName(name), false, name);
  for (const name of ["local", "reference", "site-2", "2026.11", "A_b"])
    assert.equal(isDataSetName(name), true, name);
  assert.throws(() => withDataSet(CHART, "../secret"), RangeError);
});

test("whatever follows ?data=, the address stays within benchmarks/<one segment>/", () => {
  fc.assert(
    fc.property(fc.string(), (name) => {
      const { override } = chooseDataSet({ requested: name, usual: "reference", available: null });
      const src = withDataSet(CHART, override);
      assert.match(
        src,
        /^benchmarks\/[A-Za-z0-9][\w.-]*\/rbd-journaling\/aggregate\/throughput-write-seq\.csv$/,
      );
    }),
  );
});

test("the query is read as a form: the first value counts, an empty one asks for nothing", () => {
  assert.equal(requestedDataSet("?data=local&view=print"), "local");
  assert.equal(requestedDataSet("?data=a%2Fb"), "a/b");
  assert.equal(requestedDataSet("?data="), null);
  assert.equal(requestedDataSet("?dataset=local"), null);
});

test("an unknown or impossible data set is refused with a sentence, and the usual one is shown", () => {
  const facts = { usual: "reference", available: ["reference", "local"] };
  assert.deepEqual(chooseDataSet({ ...facts, requested: "local" }), {
    dataSet: "local",
    override: "local",
    problem: null,
  });
  const unknown = chooseDataSet({ ...facts, requested: "lokal" });
  assert.equal(unknown.dataSet, "reference");
  assert.equal(unknown.override, null);
  assert.match(unknown.problem, /no data set “lokal”/);
  assert.match(chooseDataSet({ ...facts, requested: "../etc" }).problem, /is not a valid data set name/);
  const spoofed = chooseDataSet({ ...facts, requested: "a\u202Eb\n" }).problem;
  assert.ok(!/[\u202E\n]/.test(spoofed));
});

test("an address names its data set, experiment and chart, in the long and in the short form", () => {
  assert.deepEqual(partsOf(CHART), {
    dataSet: "reference",
    experiment: "rbd-journaling",
    chart: "throughput-write-seq",
  });
  assert.deepEqual(partsOf("benchmarks/hardware/csv/aggregate/iops-read-seq.csv"), {
    dataSet: "hardware",
    experiment: null,
    chart: "iops-read-seq",
  });
  for (const src of [
    "benchmarks/a/b.csv",
    "benchmarks/a/b/raw/x.csv",
    "x.csv",
    "benchmarks/a/b/aggregate/x.txt",
  ])
    assert.equal(partsOf(src), null, src);
});
