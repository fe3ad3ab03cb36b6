import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { choiceOf, entriesOf, seriesNames, unitedXs, withSeries } from "../src/entries.js";
import { readModel } from "../src/table.js";

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
