import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import fc from "fast-check";
import { PALETTE, forgetStyles, resolveColor, styleOf, stylesOf } from "../src/style.js";

beforeEach(forgetStyles);

test("a name keeps its style, whatever other names come and go", () => {
  const before = styleOf("With journal");
  for (const name of ["a", "b", "c", "d", "e", "f", "g", "h"]) styleOf(name);
  assert.deepEqual(styleOf("With journal"), before);
});

test("the name decides the style, not the order of first use, as long as nothing collides", () => {
  const first = styleOf("With journal");
  forgetStyles();
  assert.deepEqual(styleOf("With journal"), first);
});

test("as many names as the palette has styles all look different", () => {
  const names = PALETTE.map((_, i) => `series ${i}`);
  assert.equal(new Set(names.map((name) => styleOf(name).color)).size, PALETTE.length);
});

test("more names than styles repeat styles instead of failing", () => {
  const names = Array.from({ length: 20 }, (_, i) => `series ${i}`);
  for (const name of names) assert.ok(PALETTE.some(({ color }) => color === styleOf(name).color));
});

test("the page's style for a name wins, and is completed from the palette", () => {
  const style = styleOf("With journal", { styles: { "With journal": { color: "#123456" } } });
  assert.equal(style.color, "#123456");
  assert.ok(Array.isArray(style.dash) && style.pointStyle);
});

test("a series called constructor gets no style from the object's prototype", () => {
  assert.ok(PALETTE.some(({ color }) => color === styleOf("constructor", { styles: {} }).color));
});

test("styles of the palette can be told apart without colour", () => {
  assert.equal(new Set(PALETTE.map(({ dash }) => dash.join())).size, PALETTE.length);
  assert.equal(new Set(PALETTE.map(({ pointStyle }) => pointStyle)).size, PALETTE.length);
});

test("a plain colour needs no browser to resolve", () => {
  assert.equal(resolveColor(null, "#fff"), "#fff");
});

test("no two series of a chart look alike, whatever other charts the page has, up to the square of the palette", () => {
  const names = fc.uniqueArray(fc.string(), { maxLength: PALETTE.length ** 2 });
  fc.assert(
    fc.property(fc.array(names, { maxLength: 4 }), (charts) => {
      for (const chart of charts) {
        const looks = [...stylesOf(chart).values()].map((style) => JSON.stringify(style));
        assert.equal(new Set(looks).size, chart.length);
        const colors = new Set([...stylesOf(chart).values()].map(({ color }) => color));
        assert.equal(colors.size, Math.min(chart.length, PALETTE.length));
      }
    }),
  );
});

test("a colour that the page gives to a name is not used for others, as long as the palette has others", () => {
  const styles = { "With journal": { color: PALETTE[2].color } };
  for (let i = 0; i < 50; i += 1) assert.notEqual(styleOf(`series ${i}`, { styles }).color, PALETTE[2].color);
  const all = Object.fromEntries(PALETTE.map(({ color }, i) => [`named ${i}`, { color }]));
  assert.ok(styleOf("one more", { styles: all }).color);
});
