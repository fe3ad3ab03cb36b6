// What stands behind each npm script: the set-up it needs, then the program.

import path from "node:path";

import { ExpectedError, passThrough, ROOT, Task } from "./processes.mjs";

const SETUP = path.join(ROOT, "scripts/setup");
const PRESENT_ONLY = 3;
// Aliases: `npm run measure -- …` is `./replay measure …`.
const REPLAY_COMMANDS = ["preflight", "measure", "derive", "claims", "clean", "sandbox"];

const nodeProgram = (name) => ({
  level: "present",
  command: process.execPath,
  args: [`scripts/${name}.mjs`],
});
// `./replay` knows what each of its commands needs, and sets it up.
const replayCommand = (name) => ({
  command: path.join(ROOT, "replay"),
  args: [name],
  options: { env: { ...process.env, REPLAY_CALLED_AS: "./replay" } },
});

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
  ...Object.fromEntries(REPLAY_COMMANDS.map((name) => [name, replayCommand(name)])),
  lint: { command: process.execPath, args: ["scripts/npm/lint.mjs"] },
  format: { command: process.execPath, args: ["scripts/npm/lint.mjs", "--fix"] },
};

/** Runs the task of an npm script with the person's arguments; resolves to the exit status. */
export async function runTask(name, args) {
  const task = TASKS[name];
  if (!task) throw new ExpectedError(`no such task: ${name}; there are ${Object.keys(TASKS).join(", ")}`);
  if (task.level) {
    const status = await passThrough(SETUP, ["--for", task.level]);
    // Who asks for one program by name may have what it needs: it says itself what is missing.
    if (status !== 0 && status !== PRESENT_ONLY) return status;
  }
  return passThrough(task.command, [...task.args, ...args], task.options);
}

/** Runs scripts/setup for a level; resolves to `ready`, `present-only` or `failed`. `onTask` is handed the process. */
export async function runSetup(level, onTask = () => {}) {
  const task = new Task(SETUP, ["--for", level]);
  onTask(task);
  const status = await task.done;
  if (status === 0) return "ready";
  return status === PRESENT_ONLY ? "present-only" : "failed";
}
