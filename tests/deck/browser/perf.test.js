/** The performance program runs from end to end: a talk with a few charts, one round. No test checks its figures. */
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

test("the performance program measures both sides of a scenario, prints their ratio and writes every figure", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "replay-perf-test-"));
  const json = path.join(folder, "perf.json");
  const sizes = ["--rounds", "1", "--charts", "6", "--points", "2000", "--changes", "4"];
  const { stdout } = await perf(...sizes, "--only", "6 charts", "--json", json);
  assert.match(stdout, /plain ÷ Replay/);
  assert.match(stdout, /^6 charts$/m);
  assert.match(stdout, /its charts drawn +[\d.]+ ms .* [\d.]+× \(/);
  assert.match(stdout, /Chromium [\d.]+/);
  const { measured } = JSON.parse(await readFile(json, "utf8"));
  assert.equal(measured.length, 1);
  for (const side of ["deck", "plain"]) {
    assert.equal(measured[0][side].length, 1);
    for (const [measure, value] of Object.entries(measured[0][side][0]))
      assert.ok(Number.isFinite(value) && value > 0, `${side}, ${measure}: ${value}`);
  }
  await rm(folder, { recursive: true });
});

test("both sides draw every chart of the talk", async () => {
  const { stdout } = await perf("--rounds", "1", "--changes", "2", "--only", "The talk");
  assert.match(
    stdout,
    /^The talk\n +first slide to be seen .*\n +its charts drawn +[\d.]+ ms .* [\d.]+× \(/m,
  );
});

test("a wrong option is answered with what is wrong, and nothing is measured", async () => {
  await assert.rejects(
    perf("--rounds", "many"),
    ({ code, stderr }) => code === 2 && /--rounds wants a whole number/.test(stderr),
  );
  await assert.rejects(
    perf("--only", "no such talk"),
    ({ code, stderr }) => code === 2 && /there are: The talk/.test(stderr),
  );
});
