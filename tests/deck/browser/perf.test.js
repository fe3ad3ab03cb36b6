/** The performance program runs from end to end, for one round. No test checks its figures. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { temporaryFolder } from "../../support/folders.mjs";
import { assertEnds, runNode } from "../../support/programs.mjs";

const perf = (...args) => runNode("scripts/perf.mjs", args);

test("the performance program draws every chart on both sides, prints ratios and writes every figure", async (t) => {
  const json = path.join(temporaryFolder(t), "perf.json");
  const { stdout } = await perf("--rounds", "1", "--changes", "2", "--json", json);
  assert.match(stdout, /plain ÷ Replay/);
  assert.match(stdout, /^first slide to be seen .*\n *its charts drawn +[\d.]+ ms .* [\d.]+× \(/m);
  assert.match(stdout, /^a chart of 100,000 points drawn +[\d.]+ ms .* [\d.]+× \(/m);
  assert.match(stdout, /Chromium [\d.]+/);
  const { measured } = JSON.parse(await readFile(json, "utf8"));
  for (const side of ["deck", "plain"]) {
    assert.equal(measured[side].length, 1);
    for (const [measure, value] of Object.entries(measured[side][0]))
      assert.ok(Number.isFinite(value) && value > 0, `${side}, ${measure}: ${value}`);
  }
});

test("a wrong option is answered with what is wrong, and nothing is measured", async () => {
  await assertEnds(perf("--rounds", "many"), 2, /--rounds wants a whole number/);
});
