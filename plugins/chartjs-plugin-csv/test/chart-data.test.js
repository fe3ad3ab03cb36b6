import assert from "node:assert/strict";
import { test } from "node:test";
import { scalesFor, xScaleType } from "../src/axes.js";
import { boundedRuns, boundsOf } from "../src/bands.js";
import { dataFor } from "../src/datasets.js";
import { powersOfTwo } from "../src/log2-scale.js";
import { summarize } from "../src/summary.js";
import { joinCompanions, readModel } from "../src/table.js";
import { describePoint } from "../src/tooltip.js";

const wide = readModel(
  "I/O size,4096,65536,4194304\nWithout journal,30658995.65,60612439.23,1e9\nWith journal,5943684.21,,2e8\n",
);
const long = readModel("series,x,y,low,high,n\nlag,0,1,,,\nlag,10,3,2,4,6\nlag,10,5,,,\n");
const look = (name) => ({ color: `color of ${name}`, dash: [], pointStyle: "circle" });
const theme = { text: "#000", grid: "#ccc", font: { size: 20 } };

test("wide: labels are the header, data are exactly the file's numbers, null where empty", () => {
  const { labels, datasets } = dataFor(wide, "line", look);
  assert.deepEqual(labels, [4096, 65536, 4194304]);
  assert.deepEqual(
    datasets.map(({ label, data }) => [label, data]),
    [
      ["Without journal", [30658995.65, 60612439.23, 1e9]],
      ["With journal", [5943684.21, null, 2e8]],
    ],
  );
});

test("long: data are the file's points in its order", () => {
  const { labels, datasets } = dataFor(long, "line", look);
  assert.equal(labels, undefined);
  assert.deepEqual(datasets[0].data, [
    { x: 0, y: 1 },
    { x: 10, y: 3 },
    { x: 10, y: 5 },
  ]);
  assert.equal(datasets[0].parsing, false);
});

test("long with x that goes back is parsed by Chart.js, which does not assume order then", () => {
  const model = readModel("series,x,y,low,high,n\na,2,1,,,\na,1,3,,,\n");
  assert.equal(dataFor(model, "line", look).datasets[0].parsing, true);
});

test("bounds stay out of the datasets", () => {
  const joined = joinCompanions(wide, { low: wide, high: wide });
  assert.deepEqual(dataFor(joined, "line", look).datasets[0].data, [30658995.65, 60612439.23, 1e9]);
});

test("a dataset is updated in place by name, so that what the page set on it stays", () => {
  const first = dataFor(wide, "line", look);
  first.datasets[1].hidden = true;
  const fresh = readModel("I/O size,4096\nWith journal,7\nThird,1\n");
  const second = dataFor(fresh, "line", look, { existing: first.datasets });
  assert.equal(second.datasets[0], first.datasets[1]);
  assert.equal(second.datasets[0].hidden, true);
  assert.deepEqual(second.datasets[0].data, [7]);
});

test("properties given for datasets win over the style, but never over name and data", () => {
  const overrides = [{ borderColor: "red", data: [0], label: "x" }];
  const [dataset] = dataFor(wide, "line", look, { overrides }).datasets;
  assert.equal(dataset.borderColor, "red");
  assert.equal(dataset.label, "Without journal");
  assert.equal(dataset.data[0], 30658995.65);
  const byName = dataFor(wide, "line", look, { overrides: { "With journal": { borderWidth: 9 } } });
  assert.equal(byName.datasets[1].borderWidth, 9);
});

test("sizes make a log2 axis, other numbers a linear one, labels and bars categories", () => {
  assert.equal(xScaleType(wide, "line", { xScale: "auto" }), "log2");
  assert.equal(xScaleType(wide, "line", { xScale: "linear" }), "linear");
  assert.equal(xScaleType(wide, "bar", { xScale: "auto" }), "category");
  assert.equal(xScaleType(long, "line", { xScale: "auto" }), "linear");
  assert.equal(xScaleType(readModel("OSD,a,b\ns,1,2\n"), "line", { xScale: "log2" }), "category");
});

test("a size axis that holds 0 is linear: 0 has no logarithm", () => {
  assert.equal(xScaleType(readModel("I/O size,0,4096\na,1,2\n"), "line", { xScale: "auto" }), "linear");
});

test("the x axis carries the file's own sizes, y starts at zero", () => {
  const { x, y } = scalesFor(
    wide,
    "line",
    { xScale: "auto", yScale: "linear", yUnit: "bytes_per_second", prefix: "si" },
    theme,
  );
  assert.deepEqual(x.ticks.values, [4096, 65536, 4194304]);
  assert.deepEqual(
    x.ticks.values.map((value) => x.ticks.callback(value)),
    ["4K", "64K", "4M"],
  );
  assert.equal(x.title.text, "I/O size");
  assert.equal(y.beginAtZero, true);
  assert.equal(y.ticks.callback(2.5e8), "250 MB/s");
  assert.equal(y.ticks.stepSize({ scale: { min: 0, max: 1e9 } }), 2e8);
});

test("an axis of counts has its ticks at what was counted, or at whole numbers where that is much", () => {
  const rows = (counts) =>
    readModel(`series,x,y,low,high,n\n${counts.map((count) => `a,${count},1,,,`).join("\n")}\n`);
  const axis = (counts) => scalesFor(rows(counts), "scatter", { xUnit: "count", prefix: "si" }, theme).x;
  const scale = { min: 1, max: 8 };
  axis([1, 2, 4, 8, 16]).afterBuildTicks(scale);
  assert.deepEqual(scale.ticks, [{ value: 1 }, { value: 2 }, { value: 4 }, { value: 8 }]);
  const many = axis(Array.from({ length: 40 }, (_, trial) => trial + 1));
  assert.equal(many.afterBuildTicks, undefined);
  assert.equal(many.ticks.stepSize({ scale: { min: 1, max: 5 } }), 1);
});

test("a decimal log axis writes 1, 2 and 5 of each decade only", () => {
  const { y } = scalesFor(wide, "line", { yScale: "logarithmic", yUnit: null, prefix: "si" }, theme);
  assert.deepEqual(
    [1, 2, 3, 5, 7, 10].map((value) => y.ticks.callback(value)),
    ["1", "2", "", "5", "", "10"],
  );
});

test("powers of two fill a log2 axis, thinned when there are many", () => {
  assert.deepEqual(powersOfTwo(4096, 16384), [4096, 8192, 16384]);
  assert.deepEqual(powersOfTwo(0.3, 5), [0.5, 1, 2, 4]);
  assert.ok(powersOfTwo(1, 2 ** 40).length <= 14);
});

test("a gap in the bounds is a gap in the band", () => {
  const point = (low, high) => ({ x: 0, y: 1, low, high, n: null });
  const runs = boundedRuns([point(1, 2), point(1, 2), point(null, 2), point(1, null), point(1, 3)]);
  assert.deepEqual(
    runs.map((run) => run.map(({ index }) => index)),
    [[0, 1], [4]],
  );
});

test("where the line is drawn across a gap, so is the band", () => {
  const point = (low, high) => ({ x: 0, y: 1, low, high, n: null });
  const runs = boundedRuns([point(1, 2), point(null, null), point(1, 3)], true);
  assert.deepEqual(
    runs.map((run) => run.map(({ index }) => index)),
    [[0, 2]],
  );
});

test("the bounds of a model are its lowest low and highest high, null without any", () => {
  assert.deepEqual(boundsOf(long.series), { low: 2, high: 4 });
  assert.equal(boundsOf(wide.series), null);
});

test("a point reads with bounds and number of runs where it has them", () => {
  assert.equal(describePoint(long.series[0].points[1], { yUnit: "seconds" }), "3 s (2 s to 4 s, n = 6)");
  assert.equal(describePoint(long.series[0].points[0], { yUnit: "seconds" }), "1 s");
  assert.equal(describePoint(wide.series[1].points[1], { yUnit: "seconds" }), "–");
});

test("the summary is one sentence with range, first and last values, and what is missing", () => {
  assert.equal(
    summarize(wide, { type: "line", title: "write throughput", yUnit: "bytes_per_second" }),
    "Line chart of write throughput: 2 series over I/O size from 4 KiB to 4 MiB: " +
      "Without journal 30.7 MB/s at 4 KiB, 1 GB/s at 4 MiB; " +
      "With journal 5.94 MB/s at 4 KiB, 200 MB/s at 4 MiB (1 of 3 not measured).",
  );
});

test("the summary says when a series was not measured at all, and counts what it leaves out", () => {
  assert.match(summarize(readModel("x,1,2\na,,\n")), /a not measured\.$/);
  const many = readModel(`x,1\n${Array.from({ length: 9 }, (_, i) => `s${i},${i}`).join("\n")}\n`);
  assert.match(summarize(many), /and 3 more\.$/);
});
