import assert from "node:assert/strict";
import { test } from "node:test";

import { claimRows, claimSource, forestPlot, formatRatio } from "../../../deck/claims.js";

const ratio = { says: "a ÷ b", estimate: 15.64, low: 12, high: 20, n: 6, region: { low: 7.5, high: 13.3 } };
const claims = {
  claims: {
    small: {
      sentence: "Small ones.",
      source: "S0",
      verdict: "inconclusive",
      reason: "why",
      conditions: { ratio },
    },
    later: {
      sentence: "Later.",
      source: "S1",
      verdict: "not measured",
      reason: "not here",
      conditions: {},
    },
  },
};
const look = (text) => claimSource(() => claims)(text.split("."));

test("a claim's figures are spoken with three digits", () => {
  assert.equal(look("small.ratio"), "15.6×");
  assert.equal(look("small.ratio.low"), "12×");
  assert.equal(look("small.ratio.n"), "6");
  assert.equal(look("small.verdict"), "inconclusive");
  assert.equal(formatRatio(0.48213), "0.482×");
});

test("what no claim knows keeps the slide's own text", () => {
  for (const text of ["nobody.ratio", "small", "small.speed", "later.ratio", "small.ratio.loudness"])
    assert.equal(look(text), null, text);
  assert.equal(claimSource(() => null)(["small", "ratio"]), null);
});

test("rows come in the order asked for, and all when none is asked for", () => {
  const ids = (rows) => rows.map(({ id }) => id);
  assert.deepEqual(ids(claimRows(claims, ["later", "small", "nobody"])), ["later", "small"]);
  assert.deepEqual(ids(claimRows(claims)), ["small", "later"]);
  assert.deepEqual(claimRows(null), []);
});

test("a forest plot keeps the order of its values and stays in its box", () => {
  const { one, region, interval, point } = forestPlot(ratio, 200);
  assert.ok(one < region[0] && region[0] < interval[0] && interval[0] < region[1]);
  assert.ok(region[1] < point && point < interval[1] && interval[1] <= 200);
  const open = forestPlot({ estimate: 2, low: null, high: null, region: { low: 1.5, high: null } }, 200);
  assert.equal(open.interval, null);
  assert.equal(open.region[1], 200);
  assert.equal(forestPlot({ estimate: null, region: {} }), null);
});
