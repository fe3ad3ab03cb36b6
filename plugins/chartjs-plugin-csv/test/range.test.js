import assert from "node:assert/strict";
import { test } from "node:test";
import { setLimits, unite, xRange, yRange } from "../src/range.js";

const point = (x, y, low = null, high = null) => ({ x, y, low, high, n: null });

/** The parts of a Chart.js scale that limits need. */
function scaleOf(options = {}, { type = "linear", min, max, minDefined = false, maxDefined = false } = {}) {
  return {
    ...{ type, options, min: 0, max: 1 },
    getUserBounds: () => ({ min: min ?? NaN, max: max ?? NaN, minDefined, maxDefined }),
  };
}

test("values with both bounds count; missing ones, and those outside the part of the axis, do not", () => {
  const lists = [[point(1, 5, 4, 8), point(2, null), point(3, 100, 1, null)], [point("a", 7)]];
  assert.deepEqual(yRange(lists), { low: 4, high: 100 });
  assert.deepEqual(yRange(lists, { to: 2 }), { low: 4, high: 8 });
  assert.equal(yRange([[point(1, null)]]), null);
  assert.deepEqual(yRange([[point(1, 0), point(2, -1), point(3, 3)]], { positive: true }), {
    low: 3,
    high: 3,
  });
  assert.deepEqual(xRange([[point(3, 1), point(1, null)], [point("a", 1)]]), { low: 1, high: 3 });
});

test("ranges are united, and no range stays null", () => {
  assert.deepEqual(unite(null, { low: 1, high: 2 }, { low: 0, high: 1 }), { low: 0, high: 2 });
  assert.equal(unite(null), null);
});

test("a scale takes the range, from zero if it begins there, and keeps ends that the page set", () => {
  const ends = (scale, range) => {
    setLimits(scale, range);
    return [scale.min, scale.max];
  };
  assert.deepEqual(ends(scaleOf({ beginAtZero: true }), { low: 0.01, high: 0.02 }), [0, 0.02]);
  assert.deepEqual(ends(scaleOf({ beginAtZero: true }), { low: -3, high: -1 }), [-3, 0]);
  assert.deepEqual(ends(scaleOf({}), { low: 3, high: 4 }), [3, 4]);
  assert.deepEqual(ends(scaleOf({}, { min: 0.75, max: 1.6 }), { low: 1, high: 9 }), [0.75, 9], "suggested");
  const set = scaleOf({}, { min: 2, max: 5, minDefined: true, maxDefined: true });
  assert.deepEqual(ends(set, { low: 0, high: 9 }), [0, 1], "Chart.js has set these already");
  assert.deepEqual(ends(scaleOf({ stacked: true }), { low: 0.5, high: 0.7 }), [0, 1]);
  assert.deepEqual(ends(scaleOf({}), null), [0, 1]);
});

test("a single value still gives an axis", () => {
  for (const [type, value] of [
    ["linear", 0],
    ["linear", 5],
    ["log2", 5],
    ["logarithmic", 0.1],
  ]) {
    const scale = scaleOf({}, { type });
    setLimits(scale, { low: value, high: value });
    assert.ok(scale.min <= value && scale.max >= value && scale.max > scale.min, `${type} ${value}`);
  }
});
