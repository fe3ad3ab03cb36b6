import assert from "node:assert/strict";
import { test } from "node:test";
import { decadeTicks, multiplesOf, scalesFor, scalesNow, xScaleType, yScaleType } from "../src/axes.js";
import { boundedRuns } from "../src/bands.js";
import { dataFor } from "../src/datasets.js";
import { fetchDates } from "../src/dates.js";
import { entriesOf } from "../src/entries.js";
import { log2Ticks, powersOfTwo } from "../src/log2-scale.js";
import { summarize } from "../src/summary.js";
import { joinCompanions } from "../src/spread.js";
import { readModel } from "../src/table.js";
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

test("a long file with descending x is parsed by Chart.js, which then does not assume order", () => {
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
  assert.equal(
    xScaleType(readModel("OSD,a,b\ns,1,2\n", { orientation: "rows" }), "line", { xScale: "log2" }),
    "category",
  );
});

test("counts that grow by factors make a log2 axis, those that grow by steps a linear one", () => {
  const typeFor = (...xs) => {
    const values = xs.map(() => 1).join();
    return xScaleType(readModel(`Queue depth,${xs.join()}\na,${values}\n`), "line", { xScale: "auto" });
  };
  assert.equal(typeFor(1, 2, 4, 8, 16, 32, 64), "log2");
  assert.equal(typeFor(64, 16, 1), "log2", "whatever their order");
  assert.equal(typeFor(1, 4, 8, 12, 16), "log2");
  assert.equal(typeFor(1, 2, 4), "linear", "a small span");
  assert.equal(typeFor(0, 1, 8, 64), "linear", "0 has no logarithm");
  assert.equal(typeFor(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), "linear");
  assert.equal(typeFor(1, 2, 3, 9, 10), "linear", "trials, some of which failed");
  const { x } = scalesFor(readModel("Queue depth,64,1,8\na,1,2,3\n"), "line", { prefix: "si" }, theme);
  assert.deepEqual([x.type, x.ticks.values], ["log2", [1, 8, 64]]);
});

test("dates are on an axis to scale, unless the slide wants them side by side, or there are bars over them", async () => {
  const dates = readModel("date,a\n2026-11-01,1\n2026-11-02,2\n2026-11-30,3\n");
  assert.equal(xScaleType(dates, "line", {}), "category", "as long as nobody fetched what draws them");
  assert.equal(await fetchDates(wide), false);
  assert.equal(await fetchDates(dates), true);
  assert.equal(await fetchDates(dates), false, "once for all charts");
  assert.equal(xScaleType(dates, "line", { xScale: "auto" }), "date");
  assert.equal(xScaleType(dates, "scatter", {}), "date");
  assert.equal(xScaleType(dates, "line", { xScale: "category" }), "category");
  assert.equal(xScaleType(dates, "bar", { xScale: "auto" }), "category");
  assert.equal(xScaleType(dates, "line", { scales: { x: { type: "time" } } }), "time");
  const { x } = scalesFor(dates, "line", { prefix: "si" }, theme);
  assert.equal(x.parser("2026-11-02") - x.parser("2026-11-01"), 24 * 3600 * 1000);
  assert.deepEqual(dataFor(dates, "line", look).labels, dates.xs, "what the chart holds is the file's");
});

test("a size axis with 0 is linear, because 0 has no logarithm", () => {
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
  const amounts = scalesFor(wide, "line", { yUnit: "bytes", prefix: "si" }, theme).y.ticks;
  assert.deepEqual([0, 20 * 2 ** 20].map(amounts.callback), ["0", "20 MiB"]);
  assert.equal(y.ticks.stepSize({ scale: { min: 0, max: 1e9 } }), 2e8);
});

test("an axis of counts has its ticks at the counts, or at whole numbers if there are many", () => {
  const rows = (counts) =>
    readModel(`series,x,y,low,high,n\n${counts.map((count) => `a,${count},1,,,`).join("\n")}\n`);
  const axis = (counts) => scalesFor(rows(counts), "scatter", { xUnit: "count", prefix: "si" }, theme).x;
  const scale = { min: 1, max: 8 };
  axis([1, 2, 3, 8, 9]).afterBuildTicks(scale);
  assert.deepEqual(scale.ticks, [{ value: 1 }, { value: 2 }, { value: 3 }, { value: 8 }]);
  const many = axis(Array.from({ length: 40 }, (_, trial) => trial + 1));
  const ends = { min: 0.5, max: 41, options: { bounds: "data", ticks: {} } };
  many.afterBuildTicks(ends);
  assert.deepEqual(
    ends.ticks.map(({ value }) => value),
    [10, 20, 30, 40],
  );
  assert.equal(many.ticks.stepSize({ scale: { min: 1, max: 5 } }), 1);
});

test("ticks that few digits cannot tell apart are written in full", () => {
  const since1970 = readModel("series,x,y\na,1764380960,1\na,1764381000,2\n");
  const labels = (settings, ...values) => {
    const { callback } = scalesFor(since1970, "line", { prefix: "si", ...settings }, theme).x.ticks;
    const ticks = values.map((value) => ({ value }));
    return values.map((value, at) => callback(value, at, ticks));
  };
  assert.deepEqual(labels({}, 1764380960, 1764380970), ["1764380960", "1764380970"]);
  assert.deepEqual(labels({ xUnit: "seconds" }, 1764380960, 1764380970), ["1764380960 s", "1764380970 s"]);
  assert.deepEqual(labels({}, 20000, 30000), ["20k", "30k"]);
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

test("if the line is drawn across a gap, so is the band", () => {
  const point = (low, high) => ({ x: 0, y: 1, low, high, n: null });
  const runs = boundedRuns([point(1, 2), point(null, null), point(1, 3)], true);
  assert.deepEqual(
    runs.map((run) => run.map(({ index }) => index)),
    [[0, 2]],
  );
});

test("a point has its bounds and number of runs in its text if it has them", () => {
  assert.equal(describePoint(long.series[0].points[1], { yUnit: "seconds" }), "3 s (2 s to 4 s, n = 6)");
  assert.equal(describePoint(long.series[0].points[0], { yUnit: "seconds" }), "1 s");
  assert.equal(describePoint(wide.series[1].points[1], { yUnit: "seconds" }), "–");
});

test("the summary is one sentence with range, first and last values, and what is missing", () => {
  assert.equal(
    summarize(wide, { type: "line", title: "write throughput", yUnit: "bytes_per_second" }),
    "Line chart of write throughput: I/O size from 4 KiB to 4 MiB; " +
      "Without journal 30.7 MB/s at 4 KiB, 1 GB/s at 4 MiB; " +
      "With journal 5.94 MB/s at 4 KiB, 200 MB/s at 4 MiB, not measured at 1 of 3.",
  );
});

test("the summary names unmeasured series, and counts those that it leaves out", () => {
  assert.match(summarize(readModel("x,1,2\na,,\n")), /a not measured\.$/);
  const many = readModel(`x,1\n${Array.from({ length: 9 }, (_, i) => `s${i},${i}`).join("\n")}\n`);
  assert.match(summarize(many), /and 3 more\.$/);
});

test("a decimal log axis has few ticks, round ones, whatever its range", () => {
  const all = (from, to) => {
    const ticks = [];
    for (let power = from; power < to; power += 1)
      for (let mantissa = 1; mantissa < 10; mantissa += 1) ticks.push(mantissa * 10 ** power);
    return [...ticks, 10 ** to];
  };
  assert.deepEqual(decadeTicks(all(0, 1), 4), [1, 2, 5, 10]);
  assert.deepEqual(decadeTicks([3, 4, 5, 6]), [3, 4, 5, 6]);
  assert.deepEqual(decadeTicks(all(0, 2)), [1, 2, 5, 10, 20, 50, 100]);
  assert.deepEqual(decadeTicks(all(0, 3)), [1, 3, 10, 30, 100, 300, 1000]);
  assert.deepEqual(decadeTicks(all(-3, 3)), [1e-3, 1e-2, 1e-1, 1, 10, 100, 1000]);
  assert.ok(decadeTicks(all(-9, 9)).length <= 7);
});

test("a log2 axis with few powers has steps between them", () => {
  assert.deepEqual(log2Ticks(0.75, 1.6), [0.75, 1, 1.5]);
  assert.deepEqual(log2Ticks(1, 8), [1, 2, 4, 8]);
  assert.deepEqual(log2Ticks(3, 3.5), [3]);
});

test("the reader's scale: ratios become log2, other units decades, and a logarithmic axis stays as it is", () => {
  assert.equal(yScaleType({ yScale: "linear", yUnit: "ratio", scale: "log" }), "log2");
  assert.equal(yScaleType({ yScale: "linear", yUnit: "seconds", scale: "log" }), "logarithmic");
  assert.equal(yScaleType({ yScale: "log2", yUnit: "seconds", scale: "log" }), "log2");
  assert.equal(yScaleType({ yScale: "logarithmic", scale: "linear" }), "linear");
  assert.equal(yScaleType({ yScale: "logarithmic" }), "logarithmic");
});

test("a y axis of another kind drops options that hold only for the old one, and keeps the rest", () => {
  const ticks = { autoSkip: false, stepSize: 5 };
  const scales = { x: { min: 0 }, y: { min: 0, max: 9, suggestedMin: 0.5, title: { text: "a" }, ticks } };
  const linear = { yScale: "linear", yUnit: null };
  assert.equal(scalesNow(scales, { ...linear, scale: null }), scales);
  assert.deepEqual(scalesNow(scales, { ...linear, scale: "log" }), {
    x: { min: 0 },
    y: { max: 9, title: { text: "a" }, ticks: { autoSkip: false } },
  });
  assert.deepEqual(scalesNow(null, { ...linear, scale: "log" }), {});
  assert.equal(scales.y.ticks.stepSize, 5, "what the page gave is left as it is");
});

test("on a logarithmic axis values of 0 and below are gaps, not points at its lower end", () => {
  const model = readModel("x,1,2,3\na,5,0,-1\n");
  assert.deepEqual(dataFor(model, "line", look, { positive: true }).datasets[0].data, [5, null, null]);
  assert.deepEqual(dataFor(model, "line", look).datasets[0].data, [5, 0, -1]);
});

test("a second data set looks like the first, thinner and hollow, at its own x values", () => {
  const other = readModel("I/O size,4096,16384\nWithout journal,1,2\nThird,3,4\n");
  const second = { model: other, label: "mine" };
  const entries = entriesOf(wide, second);
  const { labels, datasets } = dataFor(wide, "line", look, { entries, otherXs: other.xs });
  assert.deepEqual(labels, wide.xs);
  assert.deepEqual(
    datasets.map(({ label }) => label),
    ["Without journal", "With journal", "Without journal · mine", "Third · mine"],
  );
  assert.deepEqual(datasets[0].data, [30658995.65, 60612439.23, 1e9], "its own values stay rows");
  assert.deepEqual(datasets[2].data, [
    { x: 4096, y: 1 },
    { x: 16384, y: 2 },
  ]);
  assert.equal(datasets[2].csvColor, datasets[0].csvColor);
  assert.ok(datasets[2].borderWidth < datasets[0].borderWidth);
  assert.notEqual(datasets[2].pointBackgroundColor, datasets[0].pointBackgroundColor);
});

test("categories of two data sets are united by value", () => {
  const own = readModel("OSD,b,d\ns,1,2\n", { orientation: "rows" });
  const other = readModel("OSD,a,b\ns,3,4\n", { orientation: "rows" });
  const options = { entries: entriesOf(own, { model: other, label: "mine" }), otherXs: other.xs };
  const words = dataFor(own, "bar", look, options);
  assert.deepEqual(words.labels, ["b", "d", "a"]);
  assert.deepEqual(words.datasets[0].data, [
    { x: "b", y: 1 },
    { x: "d", y: 2 },
  ]);
  const numbers = readModel("Clients,1,4\ns,1,2\n");
  const more = readModel("Clients,2,4\ns,3,4\n");
  const entries = entriesOf(numbers, { model: more, label: "mine" });
  assert.deepEqual(dataFor(numbers, "bar", look, { entries, otherXs: more.xs }).labels, [1, 2, 4]);
});

test("a ratio is spoken with its interval, and a peak between the ends is mentioned", () => {
  const interval = joinCompanions(readModel("I/O size,4096,65536\nWith journal,2,1.1\n"), {
    low: readModel("I/O size,4096,65536\nWith journal,1.9,1\n"),
    high: readModel("I/O size,4096,65536\nWith journal,2.1,1.2\n"),
  });
  assert.match(
    summarize(interval, { yUnit: "ratio" }),
    /; With journal 2\.00× \(1\.90× to 2\.10×\) at 4 KiB, 1\.10× \(1\.00× to 1\.20×\) at 64 KiB\.$/,
  );
  const peak = readModel("I/O size,4096,8192,16384\na,5,9,6\nb,5,2,6\nc,5,5.5,6\n");
  assert.match(
    summarize(peak),
    /a 5 at 4 KiB, 6 at 16 KiB, highest 9 at 8 KiB; b 5 at 4 KiB, 6 at 16 KiB, lowest 2 at 8 KiB; c 5 at 4 KiB, 6 at 16 KiB\.$/,
  );
  assert.match(summarize(peak, { second: "mine" }), /; compared with mine\.$/);
});

test("ticks of a measured axis are multiples of their step, whatever its first value is", () => {
  assert.deepEqual(multiplesOf(2, 0.5, 9), [2, 4, 6, 8]);
  assert.deepEqual(multiplesOf(0.1, -0.2, 0.3), [-0.2, -0.1, 0, 0.1, 0.2, 0.3]);
  assert.deepEqual(multiplesOf(5, 1, 4), []);
  const time = readModel("series,x,y,low,high,n\na,0.5,1,,,\na,23,2,,,\n");
  const { x } = scalesFor(time, "line", { xUnit: "seconds", prefix: "si" }, theme);
  const scale = { min: 0.5, max: 23, options: { bounds: "data", ticks: {} } };
  x.afterBuildTicks(scale);
  assert.deepEqual(
    scale.ticks.map(({ value }) => value),
    [5, 10, 15, 20],
  );
});

test("with values on both sides of 0 its line stands out; otherwise it is a line of the grid", () => {
  const { grid } = scalesFor(wide, "scatter", { yUnit: "fraction", prefix: "si" }, theme).y;
  const at = (value, min, max) =>
    [grid.color, grid.lineWidth].map((of) => of({ tick: { value }, scale: { min, max } }));
  assert.deepEqual(at(0, -1, 1), ["#000", 2]);
  assert.deepEqual(at(0, 0, 1), ["#ccc", 1]);
  assert.deepEqual(at(0.5, -1, 1), ["#ccc", 1]);
});

test("a line joins no fewer points than asked; others recede behind what is emphasised", () => {
  const short = readModel("size,1,2,3\nTwo,1,,3\nThree,1,2,3\n");
  const [two, three] = dataFor(short, "line", look, {
    lineFrom: 3,
    quiet: (name) => name === "Three",
  }).datasets;
  assert.deepEqual([two.showLine, two.pointRadius > 0, two.csvQuiet], [false, true, false]);
  assert.deepEqual([three.showLine, three.pointRadius, three.csvQuiet], [true, 0, true]);
  assert.ok(three.borderWidth < two.borderWidth);
  assert.equal(dataFor(short, "line", look).datasets[0].showLine, true);
  const [unseen] = dataFor(short, "line", look, { unseen: true }).datasets;
  assert.deepEqual([unseen.borderWidth, unseen.pointRadius, unseen.data], [0, 0, [1, null, 3]]);
});
