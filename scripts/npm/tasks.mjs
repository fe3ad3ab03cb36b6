// What stands behind each npm script: the set-up it needs, then the program.

import path from "node:path";

import { ExpectedError, passThrough, ROOT, Task } from "./processes.mjs";

const SETUP = path.join(ROOT, "scripts/setup");
const PYTHON = path.join(ROOT, ".venv/bin/python");
const PRESENT_ONLY = 3;

const nodeProgram = (name) => ({
  level: () => "present",
  command: process.execPath,
  args: [`scripts/${name}.mjs`],
});
const pythonModule = (name, level) => ({ level, command: PYTHON, args: ["-m", `replay.${name}`] });

const asksForHelp = (args) => args.some((arg) => arg === "--help" || arg === "-h");

/** Names the site that `args` choose: `--site NAME` or `--site=NAME`, else the sandbox. */
function siteOf(args) {
  const at = args.findIndex((arg) => arg === "--site" || arg.startsWith("--site="));
  if (at === -1) return "sandbox";
  return args[at].includes("=") ? args[at].slice("--site=".length) : args[at + 1];
}

/** Names the set-up for a program that talks to a cluster: only the sandbox needs Ceph's daemons. */
function clusterLevel(args) {
  if (asksForHelp(args)) return "derive";
  return siteOf(args) === "sandbox" ? "sandbox" : "client";
}

const sandboxLevel = (args) => (args[0] === "up" ? "sandbox" : "derive");

// `start` and `test` run the set-up themselves: they say more about it.
const TASKS = {
  start: { command: process.execPath, args: ["scripts/start.mjs"] },
  test: { command: process.execPath, args: ["scripts/test.mjs"] },
  present: nodeProgram("present"),
  build: nodeProgram("build"),
  check: nodeProgram("check"),
  wording: nodeProgram("wording"),
  freeze: nodeProgram("freeze"),
  pdf: nodeProgram("pdf"),
  perf: nodeProgram("perf"),
  preflight: pythonModule("preflight", clusterLevel),
  measure: pythonModule("measure", clusterLevel),
  derive: pythonModule("derive", () => "derive"),
  claims: pythonModule("claims", () => "derive"),
  clean: pythonModule("owned.clean", clusterLevel),
  sandbox: { level: sandboxLevel, command: path.join(ROOT, "scripts/sandbox"), args: [] },
  lint: { command: process.execPath, args: ["scripts/npm/lint.mjs"] },
  format: { command: process.execPath, args: ["scripts/npm/lint.mjs", "--fix"] },
};

/** Runs the task of an npm script with the person's arguments; resolves to the exit status. */
export async function runTask(name, args) {
  const task = TASKS[name];
  if (!task) throw new ExpectedError(`no such task: ${name}; there are ${Object.keys(TASKS).join(", ")}`);
  if (task.level) {
    const status = await passThrough(SETUP, ["--for", task.level(args)]);
    // Who asks for one program by name may have what it needs: it says itself what is missing.
    if (status !== 0 && status !== PRESENT_ONLY) return status;
  }
  return passThrough(task.command, [...task.args, ...args]);
}

/** Runs scripts/setup for a level; resolves to `ready`, `present-only` or `failed`. `onTask` is handed the process. */
export async function runSetup(level, onTask = () => {}) {
  const task = new Task(SETUP, ["--for", level]);
  onTask(task);
  const status = await task.done;
  if (status === 0) return "ready";
  return status === PRESENT_ONLY ? "present-only" : "failed";
}
