#!/usr/bin/env node
/** Runs the linters and all tests, by pytest and Node's runner: `npm test`, `test:quick`, `test:releases`, `test:hosts`. */

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism, freemem, tmpdir } from "node:os";
import path from "node:path";
import { finished } from "node:stream/promises";

import { onInterrupt, passThrough, statusOfSignal, Task } from "./npm/processes.mjs";
import { installPackages, optionsOf, requireLinux, ROOT } from "./npm/program.mjs";

const HELP = `Runs the linters and all tests. Continues after a failure and lists all failures at the end.

Usage: npm test                  everything, including the sandbox
       npm run test:quick        linters and fast tests, without a cluster or a browser
       npm run test:releases     what depends on Ceph's release, on sandboxes of 18 and 20, which are fetched first
       npm run test:hosts        blocks in a container, and as jobs of Slurm; podman and Slurm are fetched first
       npm test -- --only TEXT   only the steps whose name contains TEXT (repeatable)`;

const options = optionsOf({
  command: "npm test --",
  help: HELP,
  options: {
    quick: { type: "boolean", default: false },
    releases: { type: "boolean", default: false },
    hosts: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [""] },
  },
});

/** The releases of Ceph that `npm run test:releases` tests; `npm test` tests the host's release. */
const RELEASES = ["18", "20"];
/** What a sandbox and the test on it take at the most. */
const SANDBOX_BYTES = 2 * 2 ** 30;
/** What `test:quick` leaves out, like Python tests that are marked `slow`: it starts whole programs, or a compiler. */
const SLOW = /^tests\/setup\/|\/(?:freeze|types)\.test\.js$/;
const PRESENT_ONLY = 3;
const GRACE_MS = 10_000;

const site = mkdtempSync(path.join(tmpdir(), "replay-test-site-"));
process.on("exit", () => rmSync(site, { recursive: true, force: true }));

/** Test files whose path is in a folder `browser`, or begins with `browser`, or not. */
function testFiles({ inBrowser }) {
  const plugins = readdirSync(path.join(ROOT, "plugins")).map((name) => `plugins/${name}/test`);
  return ["tests", ...plugins]
    .flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true }).map((name) => path.join(folder, name)),
    )
    .filter((file) => /\.test\.js$/.test(file) && /\/browser[-./]/.test(file) === inBrowser)
    .sort();
}

const NODE = process.execPath;
const step = (name, argv, env = {}) => ({ name, argv, env });
const node = (name, files) =>
  step(name, [NODE, "--test", "--test-concurrency=2", "--test-reporter=spec", ...files]);
const pytest = (name, marks, { workers = 2, env = {} } = {}) => {
  const spread = ["-n", String(workers), "--dist", "loadgroup"];
  const program = [path.join(ROOT, ".venv/bin/python"), "-m", "pytest", "-q", "--durations=15"];
  return step(name, [...program, "-m", marks, ...spread], env);
};

/** The steps of this run, in stages: those of one stage run side by side, the longest first. */
function stages() {
  if (options.releases)
    return RELEASES.flatMap((release) => [
      [step(`Ceph ${release} is available`, ["./replay", "sandbox", "releases", "--get", release])],
      [pytest(`Tests on Ceph ${release}`, "of_release", { env: { REPLAY_TEST_RELEASE: release } })],
    ]);
  if (options.hosts)
    return [
      [step("Snakemake's plugin for Slurm is available", ["scripts/setup", "--for", "slurm"])],
      [pytest("Blocks in a container, and as jobs of Slurm", "hosts", { workers: 0 })],
    ];
  const linters = step("Linters", [NODE, "scripts/lint.mjs"]);
  const unit = testFiles({ inBrowser: false }).filter((file) => !options.quick || !SLOW.test(file));
  const javaScript = node("JavaScript tests without a browser", unit);
  const python = pytest(
    "Python tests without a cluster",
    `not sandbox and not hosts and not of_release${options.quick ? " and not slow" : ""}`,
  );
  if (options.quick) return [[linters], [javaScript, python]];
  const memory = Math.floor(freemem() / SANDBOX_BYTES);
  const sandboxes = Math.max(1, Math.min(3 * availableParallelism(), 6, memory));
  // The talk may not say yet where people clone it; what is built here is not published.
  const repository = { REPLAY_REPOSITORY: "https://people.example/talk" };
  return [
    [linters],
    // Tests on a sandbox mostly wait for Ceph.
    [pytest("Tests on a sandbox", "sandbox", { workers: sandboxes }), javaScript, python],
    [
      ...talkNames(ROOT).map((talk) => step(`check ${talk}`, [NODE, "scripts/check.mjs", "--talk", talk])),
      step("build", [NODE, "scripts/build.mjs", "--out", site], repository),
    ],
    [node("Browser tests", testFiles({ inBrowser: true }))],
  ];
}

/** What runs now. @type {Set<Task>} */
const running = new Set();
let stopSignal = null;
onInterrupt((signal, count) => {
  stopSignal ??= signal;
  for (const task of running) {
    if (count > 1) task.kill();
    else task.stop({ signal, patience: GRACE_MS, group: true });
  }
});

/** Runs a step, and shows its output as it comes or at its end; resolves to its row of the summary. */
async function run({ name, argv: [command, ...args], env }, asItComes) {
  const began = performance.now();
  console.log(`\n== ${name}`);
  const task = new Task(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  running.add(task);
  let output = "";
  const streams = [task.child.stdout, task.child.stderr];
  for (const stream of streams)
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
      if (asItComes) process.stdout.write(text);
    });
  const status = await task.done;
  // What it left running would keep its output open.
  task.kill();
  await Promise.all(streams.map((stream) => finished(stream)));
  running.delete(task);
  if (!asItComes) console.log(`\n== ${name}\n${output}`);
  const { passed, failed } = countsIn(output);
  return {
    name,
    passed,
    // A step that fails without a failed test counts as one failure.
    failed: status !== 0 && failed === 0 ? 1 : failed,
    seconds: Math.round((performance.now() - began) / 1000),
    failures: output.match(/^(?:(?:FAILED|ERROR) |✖ (?!failing tests:)).*$/gm) ?? [],
  };
}

/** How many tests passed and failed, by the closing lines of pytest, or of Node's runner. */
function countsIn(text) {
  const closing = text.match(/^.*\d+ (?:passed|failed|errors?)\b.* in [\d.]+s.*$/gm)?.at(-1) ?? "";
  const sum = (within, pattern) =>
    [...within.matchAll(pattern)].reduce((total, [, count]) => total + Number(count), 0);
  return {
    passed: sum(closing, /(\d+) passed/g) + sum(text, /^ℹ pass (\d+)$/gm),
    failed: sum(closing, /(\d+) (?:failed|errors?)\b/g) + sum(text, /^ℹ (?:fail|cancelled) (\d+)$/gm),
  };
}

requireLinux("npm test");
installPackages();
// It reads YAML with a package that may not have been there before.
const { talkNames } = await import("./deck/talk-file.js");
const setup = await passThrough(path.join(ROOT, "scripts/setup"), [
  "--for",
  options.quick ? "derive" : "test",
]);
if (setup === PRESENT_ONLY) console.error("Tests that need those programs will fail.");
else if (setup !== 0) process.exit(setup);
// If every program was installed, a test that lacks one fails; else it is skipped, and says so.
if (!options.quick) process.env.REPLAY_TEST_WHOLE = "1";
process.env.REPLAY_TEST_PATIENCE ??= "10";

const rows = [];
for (const stage of stages()) {
  const chosen = stage.filter(({ name }) =>
    options.only.some((text) => name.toLowerCase().includes(text.toLowerCase())),
  );
  rows.push(...(await Promise.all(chosen.map((step, at) => run(step, at === 0)))));
  if (stopSignal) {
    console.error(`\nStopped by ${stopSignal}.`);
    process.exit(statusOfSignal(stopSignal));
  }
}

console.log("\n== Summary");
for (const { name, passed, failed, seconds } of rows)
  console.log(
    `${name.padEnd(45)} ${failed ? "FAILED" : "ok    "} ${String(seconds).padStart(5)} s  ${passed} passed, ${failed} failed`,
  );
for (const { name, failures } of rows)
  for (const failure of new Set(failures)) console.log(`${name}: ${failure}`);
const total = (key) => rows.reduce((sum, row) => sum + row[key], 0);
console.log(`\n${total("passed")} passed, ${total("failed")} failed`);
process.exit(total("failed") || rows.length === 0 ? 1 : 0);
