import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { THIN_ABOVE, thin } from "../src/thin.js";

const point = (x, y, low = null, high = null) => ({ x, y, low, high, n: null });
const wave = (count, y = (i) => Math.sin(i / 50)) =>
  Array.from({ length: count }, (_, i) => point(i + 1, y(i)));

test("a line that a screen can show is left as it is", () => {
  const points = wave(THIN_ABOVE);
  assert.equal(thin(points), points);
  const words = Array.from({ length: THIN_ABOVE + 1 }, (_, i) => point(`osd.${i}`, i));
  assert.equal(thin(words), words);
});

test("one peak among 100,000 points stays, with its neighbours' place on both axes", () => {
  const points = wave(100_000, (i) => (i === 54_321 ? 1000 : 1));
  for (const logarithmic of [false, true]) {
    const kept = thin(points, { logarithmic });
    assert.ok(kept.length <= 4000, `${kept.length} kept`);
    assert.ok(kept.includes(points[54_321]));
    assert.equal(kept[0], points[0]);
    assert.equal(kept.at(-1), points.at(-1));
  }
});

test("the part of the axis that is drawn gets all the detail", () => {
  const points = wave(100_000);
  const within = (kept) => kept.filter(({ x }) => x >= 5000 && x <= 6000).length;
  assert.equal(within(thin(points, { min: 5000, max: 6000 })), 1001);
  assert.ok(within(thin(points)) < 60);
});

test("a gap in the file is a gap in what is left", () => {
  const points = wave(50_000, (i) => (i > 20_000 && i < 30_000 ? null : 1));
  const kept = thin(points);
  assert.ok(kept.some(({ x, y }) => y === null && x > 20_000 && x < 30_000));
});

test("property: what is left are the file's points, in its order, with both ends and all extremes", () => {
  const values = fc.array(fc.option(fc.integer({ min: -1000, max: 1000 }), { freq: 10 }), {
    minLength: 20,
    maxLength: 400,
  });
  fc.assert(
    fc.property(values, fc.boolean(), (ys, bounded) => {
      const points = ys.map((y, i) =>
        point(i + 1, y, bounded && y !== null ? y - i : null, bounded && y !== null ? y + i : null),
      );
      const kept = thin(points, { above: 10 });
      const order = kept.map((one) => points.indexOf(one));
      assert.ok(order.every((at, i) => at >= 0 && (i === 0 || at > order[i - 1])));
      assert.deepEqual([kept[0], kept.at(-1)], [points[0], points.at(-1)]);
      for (const key of ["y", "low", "high"]) {
        const of = (list) => list.map((one) => one[key]).filter((value) => value !== null);
        if (of(points).length === 0) continue;
        if (key !== "high") assert.equal(Math.min(...of(kept)), Math.min(...of(points)), `lowest ${key}`);
        if (key !== "low") assert.equal(Math.max(...of(kept)), Math.max(...of(points)), `highest ${key}`);
      }
    }),
  );
});
