/** The texts of the chart tools: sentences, and the words of the two views. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { loadKind } from "chartjs-plugin-csv";

import { sentenceOf } from "../../../deck/chart-tools/sentence.js";
import {
  measureWords,
  otherSource,
  quantity,
  referenceOf,
  seriesInView,
  viewOf,
} from "../../../deck/chart-tools/views.js";
import { point, ratioChart } from "../../../plugins/chartjs-plugin-csv/test/support/ratio-chart.js";

test("a chart is one sentence: heading, measure, range, ends, extremes with intervals, n, data set", () => {
  assert.equal(
    sentenceOf({ ...ratioChart("Sequential writes", [2, 7.5, 3]), dataSet: "mine" }),
    "Line chart of Sequential writes, Throughput: Without journal ÷ each line: I/O size from 4 KiB to 4 MiB; " +
      "With journal 2.00× (1.50× to 2.50×) at 4 KiB, 3.00× (2.50× to 3.50×) at 4 MiB, " +
      "highest 7.50× (7.00× to 8.00×) at 64 KiB; n = 10; data set mine.",
  );
});

test("a sentence names only visible series, says what was not measured, and stays short", () => {
  const series = Array.from({ length: 9 }, (_, at) => ({
    name: `S${at}`,
    points: [point(1, at), point(2, null)],
  }));
  const chart = {
    kind: "scatter",
    heading: null,
    quantity: null,
    model: { kind: "long", xLabel: "x", xs: [1, 2], series },
    axes: { xLabel: "Trial", xUnit: "count", yUnit: null },
    dataSet: null,
  };
  const all = sentenceOf({ ...chart, shown: series.map(({ name }) => name) });
  assert.match(all, /^Dots: Trial from 1 to 2; S0 0 at 1, not measured at 1 of 2; /);
  assert.match(all, /; and 3 more\.$/);
  assert.doesNotMatch(all, /S6/);
  assert.match(sentenceOf({ ...chart, shown: ["S8"] }), /^Dots: Trial from 1 to 2; S8 8 at 1/);
  assert.match(sentenceOf({ ...chart, shown: [] }), /no series shown yet/);
  const none = { name: "S", points: [point(1, null)] };
  const model = { ...chart.model, series: [none] };
  assert.match(
    sentenceOf({ ...chart, model, shown: ["S"], compared: "reference" }),
    /S not measured; compared with reference\.$/,
  );
});

test("a strip is its median and its worst trial, since the order of trials means nothing", async () => {
  await loadKind("strip");
  const trials = (...ys) => ys.map((y, at) => point(at + 1, y, { n: 1 }));
  const series = [
    { name: "Journal", points: trials(0.5, 4.84, 2, null, 1) },
    { name: "Snapshots", points: trials(12) },
    { name: "Nothing", points: trials(null) },
  ];
  const chart = {
    kind: "strip",
    heading: "Forced",
    quantity: "Recovery point",
    model: { kind: "long", xLabel: "x", xs: [1, 2, 3, 4, 5], series },
    axes: { xLabel: "Trial", xUnit: "count", yUnit: "seconds" },
    dataSet: "mine",
  };
  assert.equal(
    sentenceOf({ ...chart, shown: ["Journal", "Snapshots", "Nothing"] }),
    "Trials of Forced, Recovery point: Journal median 1.5 s, worst 4.84 s of 4 trials; " +
      "Snapshots 12 s in the only trial; Nothing not measured; data set mine.",
  );
  assert.equal(
    sentenceOf({ ...chart, heading: null, quantity: null, dataSet: null, shown: [] }),
    "Trials: no series shown yet.",
  );
});

test("the other view of a file is beside it, or where the author says", () => {
  assert.equal(
    otherSource("benchmarks/a/b/aggregate/ratio-iops-x.csv"),
    "benchmarks/a/b/aggregate/iops-x.csv",
  );
  assert.equal(
    otherSource("benchmarks/a/b/aggregate/iops-x.csv"),
    "benchmarks/a/b/aggregate/ratio-iops-x.csv",
  );
  assert.equal(otherSource("benchmarks/a/b/aggregate/ratio-iops-x.csv", "else.csv"), "else.csv");
  assert.equal(otherSource("iops-x.csv", "else.csv"), "ratio-iops-x.csv");
  assert.equal(viewOf("a/ratio-x.csv"), "ratio");
  assert.equal(viewOf("ratio-a/x.csv"), "absolute");
});

test("the absolute view shows the reference, too, and a ratio has no line for it", () => {
  assert.deepEqual(seriesInView(["B", "C"], "A", "absolute"), ["A", "B", "C"]);
  assert.deepEqual(seriesInView(["B", "A"], "A", "absolute"), ["A", "B"]);
  assert.deepEqual(seriesInView(["A", "B"], "A", "ratio"), ["B"]);
  assert.equal(seriesInView(["A"], "A", "ratio"), null);
  assert.equal(seriesInView(null, "A", "absolute"), null);
  assert.deepEqual(seriesInView(["B"], null, "absolute"), ["B"]);
});

test("a view says what it measures, how to read its ratios, and which direction is better", () => {
  const experiment = {
    ratio_direction: "reference/variant",
    variants: [{ label: "Plain", reference: true }, { label: "Journal" }],
  };
  const x = { label: "I/O size", unit: "bytes" };
  const ratio = {
    path: "e/aggregate/ratio-throughput.csv",
    x,
    y: { label: "Throughput: ratio", unit: "ratio", better: null },
  };
  const absolute = {
    path: "e/aggregate/throughput.csv",
    x,
    y: { label: "Throughput", unit: "bytes_per_second", better: "higher" },
  };
  assert.equal(referenceOf(experiment), "Plain");
  assert.equal(quantity(ratio, experiment), "Throughput: Plain ÷ each line");
  assert.equal(
    quantity(ratio, { ...experiment, ratio_direction: "variant/reference" }),
    "Throughput: each line ÷ Plain",
  );
  assert.equal(quantity(ratio, { variants: experiment.variants }), "Throughput, as a ratio to Plain");
  assert.equal(quantity(ratio, null), "Throughput, as a ratio");
  assert.equal(quantity(null, experiment), null);
  assert.equal(
    measureWords(ratio, experiment),
    "Throughput: Plain ÷ each line, by I/O size; 1 is no difference",
  );
  assert.equal(
    measureWords(absolute, experiment),
    "Throughput by I/O size: median, least and greatest run; higher is better",
  );
  assert.equal(measureWords(null, experiment), null);
});
