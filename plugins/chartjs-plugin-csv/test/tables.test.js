/** The figures of charts in words and tables. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { counts, leastOf, place, range, shortRange, value } from "../src/figures.js";
import { yRange } from "../src/range.js";
import { summarize } from "../src/summary.js";
import { tablesOf } from "../src/tables.js";
import { formatValue } from "../src/units.js";
import { RATIO_AXES, bounded, point, ratioChart } from "./support/ratio-chart.js";

test("a ratio has three digits in tables as on slides, and what is missing is no zero", () => {
  assert.equal(formatValue(2, "ratio"), "2.00×");
  assert.equal(formatValue(30_658_995, "bytes_per_second"), "30.7 MB/s");
  assert.equal(formatValue(0, "seconds"), "0 s");
  assert.equal(formatValue(null, "ratio"), "–");
  assert.equal(place(4096, "bytes"), "4 KiB");
  assert.equal(place("osd.1", null), "osd.1");
  assert.equal(range({ low: 1.5, high: 2.5 }, "ratio"), "1.50× to 2.50×");
  assert.equal(range({ low: null, high: 2 }, "ratio"), null);
  assert.equal(shortRange({ y: 2, low: 1.5, high: 2.5 }, "ratio"), "1.50–2.50");
  assert.equal(shortRange({ y: 2e6, low: 1.5e6, high: 2.5e6 }, "bytes_per_second"), "1.5–2.5");
  assert.equal(shortRange({ y: 2e6, low: 9e5, high: 2.5e6 }, "bytes_per_second"), "900 kB/s to 2.5 MB/s");
  assert.equal(shortRange({ y: 2e-7, low: 1e-7, high: 3e-7 }, null), "1e-7–3e-7");
  assert.equal(shortRange({ y: 0, low: -1, high: 1 }, null), "-1 to 1");
  assert.equal(shortRange({ y: 2, low: null, high: 2 }, "ratio"), null);
});

test("a count is said once where all points have it", () => {
  assert.equal(counts([[point(1, 1, { n: 3 })], [point(2, 1, { n: 3 })]]), "n = 3");
  assert.equal(counts([[point(1, 1, { n: 3 }), point(2, 1, { n: 10 })]]), "n = 3–10");
  assert.equal(counts([[point(1, 1)]]), null);
});

test("panels over one axis share a table: a row per x, the columns of each panel under its heading", () => {
  const [table, ...others] = tablesOf([
    ratioChart("Sequential writes", [2, 3, 4]),
    ratioChart("Random writes", [5, 6, 7]),
  ]);
  assert.deepEqual(others, []);
  const caption = "Throughput: Without journal ÷ each line · interval beside it · n = 10";
  // The name that all lines have is said once.
  assert.equal(table.caption, `With journal · ${caption}`);
  assert.equal(table.valuesCaption, table.caption.replace(" · interval beside it", ""));
  assert.deepEqual(table.groups, [{ title: "", columns: ["Sequential writes", "Random writes"] }]);
  const [apart] = tablesOf([
    ratioChart("Sequential", [2, 3, 4]),
    ratioChart("Random", [5, 6, 7], "Mirrored"),
  ]);
  assert.equal(apart.caption, caption);
  assert.deepEqual(apart.groups, [
    { title: "Sequential", columns: ["With journal"] },
    { title: "Random", columns: ["Mirrored"] },
  ]);
  assert.deepEqual(
    table.rows.map(({ title }) => title),
    ["4 KiB", "64 KiB", "4 MiB"],
  );
  assert.deepEqual(table.rows[1].cells, [
    { value: 3, text: "3.00×", detail: "2.50–3.50" },
    { value: 6, text: "6.00×", detail: "5.50–6.50" },
  ]);
});

test("counts that differ stand in the cells; an x that one chart lacks is empty there", () => {
  const one = ratioChart("A", [2, 3, 4]);
  one.model.series[0].points[0].n = 6;
  const other = ratioChart("B", [5, 6, 7]);
  other.model.xs = [4096];
  other.model.series[0].points.length = 1;
  const [table] = tablesOf([one, other]);
  assert.match(table.caption, / · interval beside it$/);
  assert.equal(table.rows[0].cells[0].detail, "1.50–2.50, n = 6");
  assert.deepEqual(table.rows[2].cells[1], { value: null, text: "–", detail: null });
});

test("charts over other axes have tables of their own, and so do charts with many series", () => {
  const seconds = ratioChart("B", [1, 2, 3]);
  seconds.axes = { ...RATIO_AXES, xUnit: "seconds" };
  assert.equal(tablesOf([ratioChart("A", [1, 2, 3]), seconds]).length, 2);
  const wide = ratioChart("C", [1, 2, 3]);
  wide.model.series = Array.from({ length: 8 }, (_, at) => ({
    name: `S${at}`,
    points: [bounded(4096, at, 0, 9)],
  }));
  wide.shown = wide.model.series.map(({ name }) => name);
  assert.equal(tablesOf([wide, ratioChart("A", [1, 2, 3])]).length, 2);
});

test("of many points a table has the lowest, the median and the highest; the CSV has the rest", () => {
  const points = Array.from({ length: 700 }, (_, x) => point(x, x));
  const chart = {
    heading: "Lag",
    quantity: "Seconds behind",
    model: { kind: "long", xLabel: "x", xs: points.map(({ x }) => x), series: [{ name: "Journal", points }] },
    shown: ["Journal"],
    axes: { xLabel: "Elapsed", xUnit: "seconds", yUnit: "seconds" },
  };
  const [table] = tablesOf([chart]);
  assert.match(table.caption, / · the CSV has all 700 points$/);
  assert.deepEqual(table.groups[0].columns, ["Lowest", "Median", "Highest", "Points"]);
  assert.deepEqual(
    table.rows.map(({ title, cells }) => [title, ...cells.map(({ text }) => text)]),
    [["Journal", "0 s", "350 s", "699 s", "700"]],
  );
});

test("a few points that share an x are a list", () => {
  const points = [point(1, 2), point(1, 3), point(2, 4)];
  const model = { kind: "long", xLabel: "x", xs: [1, 2], series: [{ name: "Journal", points }] };
  const axes = { xLabel: "Elapsed", xUnit: "seconds", yUnit: "seconds" };
  const [table] = tablesOf([{ heading: null, quantity: null, model, shown: ["Journal"], axes }]);
  assert.deepEqual(table.groups[0].columns, ["Elapsed", "Value", "Least to greatest run"]);
  assert.equal(table.rows.length, 3);
  assert.equal(table.rows[1].cells[1].value, 3);
});

test("a table says which bounds were asked for, whatever the unit", () => {
  const captionOf = (bands) => tablesOf([{ ...ratioChart("A", [2, 3, 4]), settings: { bands } }])[0].caption;
  assert.match(captionOf("min-max"), / · least to greatest run beside it/);
  for (const bands of ["interval", "both", "auto"]) assert.match(captionOf(bands), / · interval beside it/);
});

test("every value that a chart shows is in its table exactly once", () => {
  const chart = fc.record({
    xs: fc.uniqueArray(fc.integer({ min: 1, max: 1e6 }), { minLength: 1, maxLength: 12 }),
    names: fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 }),
  });
  fc.assert(
    fc.property(
      chart,
      fc.infiniteStream(fc.double({ noNaN: true, noDefaultInfinity: true })),
      ({ xs, names }, values) => {
        const series = names.map((name) => ({ name, points: xs.map((x) => point(x, values.next().value)) }));
        const shown = names.slice(1).concat(names[0]);
        const [{ rows, groups }] = tablesOf([
          {
            heading: null,
            quantity: null,
            model: { kind: "wide", xLabel: "x", xs, series },
            shown,
            axes: { xLabel: null, xUnit: null, yUnit: null },
          },
        ]);
        assert.deepEqual(groups[0].columns, names);
        const sorted = [...xs].sort((a, b) => a - b);
        assert.deepEqual(
          rows.map(({ cells }) => cells.map(({ value }) => value)),
          sorted.map((x) => series.map(({ points }) => points.find((one) => one.x === x).y)),
        );
      },
    ),
  );
});

test("a lower bound is told as one: in cells, ranges and sentences, and never as a value", () => {
  const least = point(4_194_304, null, { low: 17.18, n: 3 });
  assert.equal(leastOf(least), 17.18);
  assert.equal(leastOf(point(1, null)), null);
  assert.equal(leastOf(bounded(1, 20, 17, 23)), null);
  assert.equal(value(least, "seconds"), "≥ 17.2 s");
  assert.equal(value(point(1, 2), "seconds"), "2 s");
  const chart = {
    kind: "line",
    heading: null,
    quantity: "99th percentile",
    model: {
      kind: "wide",
      xLabel: "I/O size",
      xs: [4096, 4_194_304],
      series: [{ name: "Writes", points: [bounded(4096, 2, 1, 3, 3), least] }],
    },
    shown: ["Writes"],
    axes: { xLabel: "I/O size", xUnit: "bytes", yUnit: "seconds" },
  };
  const [{ rows }] = tablesOf([chart]);
  assert.deepEqual(
    rows.map(({ cells: [cell] }) => [cell.value, cell.text]),
    [
      [2, "2 s"],
      [null, "≥ 17.2 s"],
    ],
  );
  assert.deepEqual(yRange(chart.model.series.map(({ points }) => points)), { low: 1, high: 17.18 });
  assert.match(summarize(chart.model, { yUnit: "seconds", xUnit: "bytes" }), /at least 17\.2 s at 4 MiB/);
});
