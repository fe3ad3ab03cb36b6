/** Options that the page itself set are distinguished from Chart.js' defaults. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Chart, registerables } from "chart.js";
import { withOwnScales, xScaleType, yScaleType } from "../src/axes.js";
import { ownDatasets, ownScales } from "../src/own.js";
import { readModel } from "../src/table.js";

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
