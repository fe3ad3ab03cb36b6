// What stands behind each npm script: its options are read, the set-up that it needs is made, then the program runs.

import path from "node:path";

import { ExpectedError, passThrough, ROOT, Task } from "./processes.mjs";
import { readOptions } from "./program.mjs";

const SETUP = path.join(ROOT, "scripts/setup");
const PRESENT_ONLY = 3;
const WRONG_USE = 2;
// Aliases: `npm run measure -- …` is `./replay measure …`.
const REPLAY_COMMANDS = ["preflight", "measure", "derive", "claims", "clean", "sandbox"];

const nodeProgram = (name) => ({
  declared: name,
  level: "present",
  command: process.execPath,
  args: [`scripts/${name}.mjs`],
});
// `./replay` reads its options itself, knows what each of its commands needs, and sets that up.
const replayCommand = (name) => ({
  command: path.join(ROOT, "replay"),
  args: [name],
  options: { env: { ...process.env, REPLAY_CALLED_AS: "./replay" } },
});

// `start` and `test` run the set-up themselves: they say more about it.
const TASKS = {
  start: { declared: "start", command: process.execPath, args: ["scripts/start.mjs"] },
  test: { declared: "test", command: process.execPath, args: ["scripts/test.mjs"] },
  present: nodeProgram("present"),
  build: nodeProgram("build"),
  check: nodeProgram("check"),
  wording: nodeProgram("wording"),
  freeze: nodeProgram("freeze"),
  pdf: nodeProgram("pdf"),
  perf: nodeProgram("perf"),
  ...Object.fromEntries(REPLAY_COMMANDS.map((name) => [name, replayCommand(name)])),
  lint: { declared: "lint", command: process.execPath, args: ["scripts/npm/lint.mjs"] },
  format: { declared: "lint", command: process.execPath, args: ["scripts/npm/lint.mjs", "--fix"] },
};

/**
 * Runs the task of an npm script with the person's arguments; resolves to the exit status. `--help` and wrong options
 * are answered first: for those nothing is installed.
 */
export async function runTask(name, args) {
  const task = TASKS[name];
  if (!task) throw new ExpectedError(`no such task: ${name}; there are ${Object.keys(TASKS).join(", ")}`);
  if (task.declared) {
    const { default: program } = await import(`./declared/${task.declared}.mjs`);
    const { help, problem } = readOptions(program, args);
    if (problem !== undefined) {
      console.error(problem);
      return WRONG_USE;
    }
    if (help !== undefined) {
      console.log(help);
      return 0;
    }
  }
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
