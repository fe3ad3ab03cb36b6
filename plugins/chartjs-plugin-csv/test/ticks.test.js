/** Which ticks stay where their labels would touch. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { withoutTouching } from "../src/ticks.js";

test("labels that touch one before are left out; the first and the last stay", () => {
  const at = [0, 5, 14, 33, 71, 146, 298].map((place) => ({ at: place, length: 20 }));
  assert.deepEqual(withoutTouching(at), [0, 3, 4, 5, 6]);
  assert.deepEqual(withoutTouching(at.slice(0, 1)), [0]);
  assert.deepEqual(withoutTouching([]), []);
});

test("property: no two labels touch, and none is left out that is free", () => {
  const label = fc.record({
    at: fc.double({ min: 0, max: 1000, noNaN: true }),
    length: fc.integer({ min: 1, max: 90 }),
  });
  fc.assert(
    fc.property(fc.array(label, { maxLength: 20 }), fc.boolean(), (labels, downwards) => {
      labels.sort((a, b) => (downwards ? b.at - a.at : a.at - b.at));
      const kept = withoutTouching(labels);
      const touch = (one, other) =>
        Math.abs(labels[one].at - labels[other].at) < (labels[one].length + labels[other].length) / 2;
      kept.slice(1).forEach((index, i) => assert.ok(!touch(index, kept[i])));
      const left = labels.map((_, index) => index).filter((index) => !kept.includes(index));
      for (const index of left) assert.ok(kept.some((one) => touch(index, one)));
    }),
  );
});
