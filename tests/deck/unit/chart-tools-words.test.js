/** The texts of the chart tools: sentences, and the words of the two views. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { sentenceOf } from "../../../deck/chart-tools/sentence.js";
import {
  measureWords,
  otherSource,
  quantity,
  referenceOf,
  seriesInView,
  viewOf,
} from "../../../deck/chart-tools/views.js";
import { ratioChart } from "../../../plugins/chartjs-plugin-csv/test/support/ratio-chart.js";

test("a chart is one sentence: heading, measure, range, ends, extremes with intervals, n, data set", () => {
  assert.equal(
    sentenceOf({ ...ratioChart("Sequential writes", [2, 7.5, 3]), dataSet: "mine" }),
    "Line chart of Sequential writes, Throughput: Without journal ÷ each line: I/O size from 4 KiB to 4 MiB; " +
      "With journal 2.00× (1.50× to 2.50×) at 4 KiB, 3.00× (2.50× to 3.50×) at 4 MiB, " +
      "highest 7.50× (7.00× to 8.00×) at 64 KiB; n = 10; data set mine.",
  );
});

test("a sentence names only visible series, what counts as no difference, and what it is compared with", () => {
  const chart = { ...ratioChart(null, [2, 7.5, 3]), quantity: null, dataSet: null };
  assert.match(sentenceOf(chart), /^Line chart: I\/O size from .*; With journal 2\.00× /);
  assert.match(sentenceOf({ ...chart, shown: [] }), /no series shown yet/);
  assert.match(
    sentenceOf({ ...chart, margin: { low: 0.9, high: 1.1 }, compared: "reference" }),
    /; shaded, 0\.900× to 1\.10× counts as no difference; compared with reference\.$/,
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
