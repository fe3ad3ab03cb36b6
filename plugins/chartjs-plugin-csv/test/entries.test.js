import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { choiceOf, entriesOf, seriesNames, unitedXs, withSeries } from "../src/entries.js";
import { readModel } from "../src/table.js";
import { Chart, registerables } from "chart.js";
import { withOwnScales, xScaleType, yScaleType } from "../src/axes.js";
import { ownDatasets, ownScales } from "../src/own.js";

const model = readModel("x,1,2\nA,1,2\nB,3,4\nA · mine,5,6\n");

test("a chart's choice of series is read from its attribute", () => {
  assert.deepEqual(seriesNames("With journal | Without journal, again"), [
    "With journal",
    "Without journal, again",
  ]);
  for (const nothing of [null, undefined, "", " | "]) assert.equal(seriesNames(nothing), null);
});

test("without a choice everything is shown, with one only the chosen series; steps show some of them", () => {
  const shown = (settings) =>
    ["A", "B", "C"].filter(choiceOf({ series: null, shown: null, ...settings }).drawn);
  const about = (settings) =>
    ["A", "B", "C"].filter(choiceOf({ series: null, shown: null, ...settings }).about);
  assert.deepEqual(shown({}), ["A", "B", "C"]);
  assert.deepEqual(shown({ series: ["A", "B"] }), ["A", "B"]);
  assert.deepEqual(shown({ series: ["A", "B"], shown: ["B"] }), ["B"]);
  assert.deepEqual(shown({ shown: [] }), []);
  assert.deepEqual(about({ series: ["A", "B"], shown: ["B"] }), ["A", "B"]);
  assert.deepEqual(about({ series: ["A"], shown: ["C"] }), ["A", "C"], "what is shown counts");
});

test("a second data set's names stay distinct, whatever names the files contain", () => {
  const second = { model: readModel("x,1\nA,7\n"), label: "mine" };
  const entries = entriesOf(model, second);
  assert.deepEqual(
    entries.map(({ label, name, second: isSecond }) => [label, name, isSecond]),
    [
      ["A", "A", false],
      ["B", "B", false],
      ["A · mine", "A · mine", false],
      ["A · mine′", "A", true],
    ],
  );
});

test("a model with only some of its series keeps its order", () => {
  assert.deepEqual(
    withSeries(model, ["B", "A"]).series.map(({ name }) => name),
    ["A", "B"],
  );
  assert.equal(withSeries(model, null), model);
  const all = model.series;
  assert.equal(withSeries(model, ["B"]).all, all);
  assert.equal(withSeries(withSeries(model, ["A", "B"]), ["B"]).all, all);
});

test("property: united x values contain each value of both once, numbers in order", () => {
  const numbers = fc.uniqueArray(fc.integer({ min: 0, max: 50 })).map((xs) => xs.sort((a, b) => a - b));
  fc.assert(
    fc.property(numbers, numbers, (own, others) => {
      const united = unitedXs(own, others);
      assert.deepEqual(
        united,
        [...new Set([...own, ...others])].sort((a, b) => a - b),
      );
    }),
  );
});

Chart.register(...registerables);

/** The parts of a canvas that Chart.js needs without a page. */
function canvas() {
  const fake = { width: 300, height: 150, style: {} };
  const known = { canvas: fake, measureText: () => ({ width: 10 }) };
  const context = new Proxy(known, { get: (target, key) => (key in target ? target[key] : () => {}) });
  fake.getContext = () => context;
  return fake;
}

function ownOf(type, scales) {
  let own = null;
  const spy = { id: "spy", start: (chart) => (own = ownScales(chart)) };
  const options = { responsive: false, animation: false, ...(scales && { scales }) };
  new Chart(canvas(), { type, data: { datasets: [] }, options, plugins: [spy] });
  return own;
}

for (const type of ["line", "bar", "scatter", "pie", "radar"]) {
  test(`a ${type} chart without scale options has none of its own`, () => {
    assert.deepEqual(ownOf(type), {});
  });
}

test("types, ends, ticks and titles that the page set are its own, and nothing else is", () => {
  const x = { type: "linear", max: 12, title: { display: true, text: "T" } };
  assert.deepEqual(ownOf("line", { x, y: { min: -5, ticks: { stepSize: 5 } } }), {
    x,
    y: { min: -5, ticks: { stepSize: 5 } },
  });
  assert.deepEqual(ownOf("bar", { x: { type: "linear" } }), { x: { type: "linear" } });
  assert.deepEqual(ownOf("radar", { r: { min: 0 } }), { r: { min: 0 } });
  assert.deepEqual(ownOf("line", { y2: { position: "right" } }).y2, {
    ...{ position: "right", type: "linear", axis: "y" },
  });
});

test("the page's axes are used as they are, but the plugin's own option wins over them", () => {
  const words = readModel("date,a\n2024-01-01,1\n2024-01-02,2\n");
  const settings = { xScale: "auto", yScale: "linear", scale: null, scales: null };
  const own = withOwnScales(settings, { x: { type: "time" }, y: { type: "logarithmic", min: 1 } });
  assert.equal(xScaleType(words, "line", own), "time");
  assert.equal(yScaleType(own), "logarithmic");
  const both = withOwnScales({ ...settings, scales: { y: { min: 2 } } }, { y: { min: 1, max: 9 } });
  assert.deepEqual({ ...both.scales.y }, { min: 2, max: 9 });
  assert.equal(yScaleType(withOwnScales({ ...settings, yScale: "log2" }, { y: { type: "linear" } })), "log2");
});

test("datasets with data stay; those without data style the file's, by label or by position", () => {
  const target = { label: "Target", data: [1, 2] };
  const { drawn, overrides } = ownDatasets([
    { borderColor: "red" },
    { label: "b", tension: 1, data: [] },
    target,
  ]);
  assert.deepEqual(drawn, [target]);
  assert.deepEqual(overrides("a", 0), { borderColor: "red" });
  assert.deepEqual(overrides("b", 0), { tension: 1 });
  assert.deepEqual(overrides("c", 1), {});
  assert.deepEqual(overrides("Target", 2), {});
});
