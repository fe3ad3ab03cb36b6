import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { isInCut, nearest, redirected } from "../../../deck/stage/cut.js";

test("a slide is in the cuts that it names, and in all when it names none", () => {
  assert.equal(isInCut(null, 20), true);
  assert.equal(isInCut("", 20), true);
  assert.equal(isInCut("40", 20), false);
  assert.equal(isInCut("40", 40), true);
  assert.equal(isInCut(" 20  40 ", 20), true);
  assert.equal(isInCut("200", 20), false);
});

test("a removed slide is replaced by the last one before it, else by the first after it", () => {
  assert.equal(nearest([true, false, false, true], 2), 0);
  assert.equal(nearest([false, false, true], 0), 2);
  assert.equal(nearest([false], 0), null);
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }), fc.nat(), (stays, seed) => {
      const at = seed % stays.length;
      const found = nearest(stays, at);
      if (found === null) return !stays.includes(true);
      if (!stays[found]) return false;
      return found <= at
        ? !stays.slice(found + 1, at + 1).includes(true)
        : !stays.slice(0, found).includes(true);
    }),
  );
});

test("an address leads elsewhere only if its slide was removed", () => {
  const moved = new Map([["mirror rate", { id: "disaster", title: "Rate" }]]);
  assert.deepEqual(redirected("#/mirror%20rate/2", moved), {
    from: "mirror rate",
    id: "disaster",
    title: "Rate",
    hash: "#/disaster",
  });
  for (const hash of ["", "#/", "#/title", "#/3/1", "#mirror%20rate", "#/%E0%A4%A"])
    assert.equal(redirected(hash, moved), null, hash);
});
