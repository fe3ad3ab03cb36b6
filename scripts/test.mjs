#!/usr/bin/env node
/** Runs every check and every test: `npm test`; the fast ones: `npm run test:quick`; other releases: `test:releases`. */

import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";

import { test as program } from "./npm/declared.mjs";
import { onInterrupt, ROOT, statusOfSignal } from "./npm/processes.mjs";
import { optionsOf } from "./npm/program.mjs";
import { runSetup } from "./npm/tasks.mjs";
import { runSteps } from "./npm/side-by-side.mjs";
import { readReport } from "./npm/test-report.mjs";
import { runToItsEnd } from "./npm/test-run.mjs";
import { OWN_FOLDER, testSteps } from "./npm/test-steps.mjs";

const GRACE_MS = 10_000;

const options = optionsOf(program);

/** What runs now: the set-up, or one step or two. @type {Set<import("./npm/processes.mjs").Task>} */
const current = new Set();
let stopSignal = null;
onInterrupt((signal, count) => {
  stopSignal ??= signal;
  for (const task of current) {
    if (count > 1) task.hurry();
    else task.stop({ signal, patience: GRACE_MS, group: true });
  }
});
const onTask = (task) => {
  current.add(task);
  task.done.then(() => current.delete(task));
};
const began = performance.now();
const elapsed = () => performance.now() - began;
const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`;

for (const level of options.quick ? ["present", "derive"] : ["test"]) {
  const outcome = await runSetup(level, onTask);
  if (stopSignal) process.exit(statusOfSignal(stopSignal));
  if (outcome === "failed") process.exit(1);
  if (outcome === "present-only") console.error("Tests that need those programs will fail.");
}

// If every program was installed, a test that lacks one fails; else it is skipped, and says so.
if (!options.quick) process.env.REPLAY_TEST_WHOLE = "1";

const reports = path.join(ROOT, OWN_FOLDER);
removeFoldersOfEndedRuns(path.dirname(reports));
mkdirSync(reports, { recursive: true });

/** Removes the folders of runs that have ended, each named after its process, and keeps those of runs that go on. */
function removeFoldersOfEndedRuns(folder) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder))
    if (name === String(process.pid) || !existsSync(`/proc/${name}`))
      rmSync(path.join(folder, name), { recursive: true, force: true });
}

/** Runs one step; resolves to its row of the summary. */
async function run(step, { index, output, sharing }) {
  const started = performance.now();
  const report = path.join(reports, `${index}.${step.report === "tap" ? "tap" : "xml"}`);
  const { status, endedAfter, left } = await runToItsEnd(step.argv(report), {
    bound: step.bound,
    environment: step.environment,
    inMemory: step.inMemory,
    log: path.join(reports, `${index}.left.log`),
    output,
    sharing,
    onTask,
  });
  const counts = step.report ? readReport(step.report, report) : null;
  const problems = [...(counts?.failures ?? [])];
  if (endedAfter !== null) problems.push(`was ended after ${seconds(endedAfter)}`);
  else if (step.report && !counts) problems.push(`reported nothing (status ${status})`);
  else if (status !== 0 && !counts?.failed) problems.push(`status ${status}`);
  problems.push(...left.map((line) => `left running, and ended now: ${line}`));
  return {
    name: step.name,
    took: performance.now() - started,
    passed: counts?.passed ?? 0,
    // A step that fails without a failed test counts as one failure, so that none is missing from the total.
    failed: counts?.failed || (problems.length ? 1 : 0),
    hasTests: Boolean(step.report),
    skipped: counts?.skipped ?? [],
    problems,
  };
}

const steps = testSteps({ quick: options.quick, releases: options.releases, hosts: options.hosts }).filter(
  (step) =>
    !options.only || options.only.some((text) => step.name.toLowerCase().includes(text.toLowerCase())),
);
const rows = await runSteps(steps, {
  run,
  fileOf: (index) => path.join(reports, `${index}.output.log`),
  isStopped: () => stopSignal !== null,
});
if (stopSignal) process.exit(statusOfSignal(stopSignal));

console.log("\n== Summary");
const width = Math.max(...rows.map((row) => row.name.length), 0);
for (const row of rows) {
  const verdict = row.failed ? "FAILED" : "ok";
  const skipped = row.skipped.length ? `, ${row.skipped.length} skipped` : "";
  const tests = row.hasTests ? `${row.passed} passed, ${row.failed} failed${skipped}` : "";
  console.log(
    `${row.name.padEnd(width)}  ${verdict.padEnd(6)}  ${seconds(row.took).padStart(8)}  ${tests}`.trimEnd(),
  );
}
for (const row of rows) for (const name of row.skipped) console.log(`skipped: ${row.name}: ${name}`);
for (const row of rows) for (const name of row.problems) console.log(`failed: ${row.name}: ${name}`);

const total = (key) => rows.reduce((sum, row) => sum + row[key], 0);
console.log(`all in ${seconds(elapsed())}\n`);
console.log(`${total("passed")} passed, ${total("failed")} failed`);
process.exit(total("failed") || rows.length === 0 ? 1 : 0);
