import assert from "node:assert/strict";
import { test } from "node:test";
import { COMPANIONS, companionUrl, ownerOf } from "../src/companions.js";

test("companions stand beside the file, before a query", () => {
  assert.equal(companionUrl("d/X.csv", "min"), "d/X.min.csv");
  assert.equal(companionUrl("d/X.csv?v=2#a", "n"), "d/X.n.csv?v=2#a");
  assert.equal(companionUrl("d/a.csv.d/ratio-X.csv", "low"), "d/a.csv.d/ratio-X.low.csv");
});

test("a companion belongs to the chart of its values, any other file to itself", () => {
  for (const suffix of COMPANIONS) {
    for (const url of ["a/iops-read-seq.csv", "d/X.csv?v=2#a"])
      assert.deepEqual(ownerOf(companionUrl(url, suffix)), { url, suffix });
  }
  for (const url of ["a/b.csv", "a/b.minimum.csv", "a/min.csv", "a/b.json", ""])
    assert.deepEqual(ownerOf(url), { url, suffix: "" });
});
