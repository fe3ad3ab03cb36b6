import assert from "node:assert/strict";
import { test } from "node:test";
import { chartNameOf, COMPANIONS, companionUrl, ownerOf, runsUrl } from "../src/companions.js";

test("companions are beside the file, before a query", () => {
  assert.equal(companionUrl("d/X.csv", "min"), "d/X.min.csv");
  assert.equal(companionUrl("d/X.csv?v=2#a", "n"), "d/X.n.csv?v=2#a");
  assert.equal(companionUrl("d/a.csv.d/ratio-X.csv", "low"), "d/a.csv.d/ratio-X.low.csv");
});

test("the runs of a chart are in a file of its folder, which names the chart after its file", () => {
  assert.equal(runsUrl("d/X.csv"), "d/runs.csv");
  assert.equal(runsUrl("X.csv?v=2#a/b"), "runs.csv?v=2#a/b");
  assert.equal(runsUrl("http://localhost/a.b/X.csv?of=a/b.csv"), "http://localhost/a.b/runs.csv?of=a/b.csv");
  assert.equal(chartNameOf("http://localhost/a.b/ratio-X.csv?of=a/b.csv"), "ratio-X");
  assert.equal(chartNameOf("p99%209.csv"), "p99 9");
  assert.equal(chartNameOf("100%.csv"), "100%");
});

test("a companion belongs to the chart of its values, any other file to itself", () => {
  for (const suffix of COMPANIONS) {
    for (const url of ["a/iops-read-seq.csv", "d/X.csv?v=2#a"])
      assert.deepEqual(ownerOf(companionUrl(url, suffix)), { url, suffix });
  }
  for (const url of ["a/b.csv", "a/b.minimum.csv", "a/min.csv", "a/b.json", "a/runs.csv", ""])
    assert.deepEqual(ownerOf(url), { url, suffix: "" });
});
