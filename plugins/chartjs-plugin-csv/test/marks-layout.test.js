import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { placeNames } from "../src/marks-layout.js";

const area = { left: 100, right: 500, top: 0, bottom: 300 };
const name = (...places) => ({ width: 80, height: 24, places: places.map(([left, top]) => ({ left, top })) });
const box = ({ width, height }, { left, top }) => ({ left, top, right: left + width, bottom: top + height });
const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;

test("a name is at its best place if nothing is in the way", () => {
  assert.deepEqual(placeNames([name([110, 50], [300, 50])], area), [{ left: 110, top: 50 }]);
});

test("a place that covers less of the data is preferred", () => {
  const points = [{ x: 120, y: 60 }];
  assert.deepEqual(placeNames([name([110, 50], [300, 50])], area, points), [{ left: 300, top: 50 }]);
});

test("a place that is not completely inside the plot is skipped", () => {
  assert.deepEqual(placeNames([name([110, 290], [110, 250])], area), [{ left: 110, top: 250 }]);
});

test("names at the same place move apart, and the first one stays", () => {
  const wanted = [name([110, 50]), name([110, 52])];
  const [first, second] = placeNames(wanted, area);
  assert.deepEqual(first, { left: 110, top: 50 });
  assert.ok(second.top >= 74 || second.top <= 26);
});

test("property: all names are inside, and none covers another while there is room", () => {
  const place = fc.record({
    left: fc.integer({ min: 0, max: 600 }),
    top: fc.integer({ min: -50, max: 350 }),
  });
  const names = fc.array(fc.array(place, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(names, (lists) => {
      const wanted = lists.map((places) => ({ width: 80, height: 20, places }));
      const placed = placeNames(wanted, area).map((one, i) => box(wanted[i], one));
      for (const one of placed) {
        assert.ok(one.left >= area.left && one.right <= area.right, "inside across");
        assert.ok(one.top >= area.top && one.bottom <= area.bottom, "inside down");
      }
      placed.forEach((one, i) => placed.slice(i + 1).forEach((other) => assert.ok(apart(one, other))));
    }),
    { numRuns: 500 },
  );
});
