import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { heightOf, placeLabels, planNames, wrapLabel } from "../src/labels-layout.js";
import { bandOf } from "../src/marks-draw.js";
import { placeNames } from "../src/marks-layout.js";

const at = (...ys) => ys.map((y) => ({ y, height: 20 }));

test("labels with enough room stay at their preferred place", () => {
  assert.deepEqual(placeLabels(at(50, 100, 10), { top: 0, bottom: 200 }), {
    centres: [50, 100, 10],
    scale: 1,
  });
});

test("two labels at one place move apart by the same amount", () => {
  assert.deepEqual(placeLabels(at(100, 100), { top: 0, bottom: 200, gap: 4 }).centres, [88, 112]);
});

test("a label at the edge stays inside and pushes its neighbour", () => {
  assert.deepEqual(placeLabels(at(0, 5), { top: 0, bottom: 200 }).centres, [10, 30]);
  assert.deepEqual(placeLabels(at(199, 200), { top: 0, bottom: 200 }).centres, [170, 190]);
});

test("more labels than fit shrink together", () => {
  const { centres, scale } = placeLabels(at(0, 0, 0, 0), { top: 0, bottom: 40 });
  assert.equal(scale, 0.5);
  assert.deepEqual(centres, [5, 15, 25, 35]);
});

test("without labels there is nothing to lay out", () => {
  assert.deepEqual(placeLabels([], { top: 0, bottom: 10 }), { centres: [], scale: 1 });
});

const labels = fc.array(
  fc.record({
    y: fc.double({ min: -50, max: 450, noNaN: true }),
    height: fc.double({ min: 1, max: 60, noNaN: true }),
  }),
  { minLength: 1, maxLength: 12 },
);

test("property: no two labels overlap, their order is kept, all stay in bounds", () => {
  fc.assert(
    fc.property(labels, fc.double({ min: 0, max: 10, noNaN: true }), (wanted, gap) => {
      const { centres, scale } = placeLabels(wanted, { top: 0, bottom: 400, gap });
      const order = wanted.map((_, i) => i).sort((a, b) => wanted[a].y - wanted[b].y || a - b);
      const half = (i) => (wanted[i].height * scale) / 2;
      order.forEach((i, k) => {
        assert.ok(centres[i] - half(i) >= -1e-6 && centres[i] + half(i) <= 400 + 1e-6, "in bounds");
        if (k === 0) return;
        const above = order[k - 1];
        assert.ok(
          centres[i] - half(i) >= centres[above] + half(above) + gap * scale - 1e-6,
          "apart, in order",
        );
      });
    }),
    { numRuns: 1000 },
  );
});

test("property: labels that would not collide are not moved", () => {
  const spaced = fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 8 }).map((gaps) => {
    let y = 0;
    return gaps.map((extra) => ({ y: (y += 20 + extra), height: 20 }));
  });
  fc.assert(
    fc.property(spaced, (wanted) => {
      const { centres } = placeLabels(wanted, { top: 0, bottom: 400 });
      centres.forEach((centre, i) => assert.ok(Math.abs(centre - wanted[i].y) < 1e-6));
    }),
  );
});

test("long names break at spaces, a single long word only after its hyphens", () => {
  const measure = (text) => text.length;
  assert.deepEqual(wrapLabel("Without journal a second time", 16, measure), [
    "Without journal",
    "a second time",
  ]);
  assert.deepEqual(wrapLabel("Snapshot", 4, measure), ["Snapshot"]);
  assert.deepEqual(wrapLabel("replicate-2026-11-27", 13, measure), ["replicate-", "2026-11-27"]);
});

test("names use the first plan that gives them enough height, else the last one", () => {
  const measure = (text, size) => (text.length * size) / 2;
  const plan = (width, height, size = 20) => ({ width, height, size, lineHeight: 1.2, gap: 4 });
  const names = ["Without journal", "With journal", "Journal mirrored"];
  const whole = names.map((name) => [name]);
  assert.deepEqual(planNames(names, [plan(100, 300), plan(200, 300)], measure).lines[0], [
    "Without",
    "journal",
  ]);
  const wide = planNames(names, [plan(100, 90), plan(200, 90)], measure);
  assert.deepEqual([wide.plan.width, wide.lines], [200, whole]);
  const small = planNames(names, [plan(120, 90), plan(120, 90, 15)], measure);
  assert.deepEqual([small.plan.size, small.lines], [15, whole], "a smaller font may do what width cannot");
  assert.deepEqual(planNames(names, [plan(100, 10), plan(200, 10)], measure).lines, whole);
  assert.equal(heightOf([["a"], ["b", "c"]], plan(0, 0)), 76);
});

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

test("a band begins and ends at categories and dates, too, and is open only where nobody wrote an end", () => {
  const labels = ["a", "b", "c"];
  const category = {
    type: "category",
    getLabels: () => labels,
    getPixelForValue: (index) => 20 + 30 * index,
  };
  const time = {
    type: "time",
    parse: (text) => Number(text.slice(-2)),
    getPixelForValue: (day) => 10 * day,
  };
  const across = (x, ends) => {
    const chart = { chartArea: { left: 0, right: 100, top: 0, bottom: 50 }, scales: { x } };
    const { left, right } = bandOf(chart, { axis: "x", ...ends });
    return [left, right];
  };
  assert.deepEqual(across(category, { low: "a", high: "b" }), [20, 50]);
  assert.deepEqual(across(category, { low: "b" }), [50, 100]);
  assert.deepEqual(across(category, { low: null, high: "b" }), [0, 50]);
  assert.deepEqual(across(time, { low: "2026-01-02", high: "2026-01-07" }), [20, 70]);
});
