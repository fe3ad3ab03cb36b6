/** The performance program runs from end to end, for one round. No test checks its figures. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { PROJECT } from "../../../scripts/deck/data-sets.js";

const run = promisify(execFile);
const perf = (...args) => run("node", ["scripts/perf.mjs", ...args], { cwd: PROJECT });

test("the performance program draws every chart on both sides, prints ratios and writes every figure", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "replay-perf-test-"));
  const json = path.join(folder, "perf.json");
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
  await rm(folder, { recursive: true });
});

test("a wrong option is answered with what is wrong, and nothing is measured", async () => {
  await assert.rejects(
    perf("--rounds", "many"),
    ({ code, stderr }) => code === 2 && /--rounds wants a whole number/.test(stderr),
  );
});
