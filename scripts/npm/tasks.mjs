// What each npm script does: it reads its options, sets up what the program needs, then runs the program.

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import * as declared from "./declared.mjs";
import { ExpectedError, passThrough, ROOT, Task } from "./processes.mjs";
import { readOptions } from "./program.mjs";
import { settingsIn, swallowed } from "./swallowed.mjs";

const REPLAY = path.join(ROOT, "replay");
const SETUP = path.join(ROOT, "scripts/setup");
const PRESENT_ONLY = 3;
const WRONG_USE = 2;
/** The number of words in `exec node scripts/npm/run.cjs NAME`, the command of each script in package.json. */
const LENGTH_OF_SCRIPT = 4;
// Aliases: `npm run measure -- …` is `./replay measure …`.
const REPLAY_COMMANDS = ["preflight", "measure", "derive", "claims", "clean", "sandbox"];

const nodeProgram = (name) => ({
  declared: name,
  level: "present",
  command: process.execPath,
  args: [`scripts/${name}.mjs`],
});
// `./replay` reads its options itself, and sets up what the command needs.
const replayCommand = (name) => ({
  command: REPLAY,
  args: [name],
  options: { env: { ...process.env, REPLAY_CALLED_AS: "./replay" } },
});

/** A Python program in tests/, which uses the code that tests share. */
const pythonProgram = (name, level) => ({
  declared: name,
  level,
  command: path.join(ROOT, ".venv/bin/python"),
  args: ["-m", name],
  options: { env: { ...process.env, PYTHONPATH: path.join(ROOT, "tests") } },
});

// `start` and `test` run the set-up themselves, because they say more about it.
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
  // Drills measure, and serve and check the deck; crash points only derive.
  drills: pythonProgram("drills", "start"),
  crashes: pythonProgram("crashes", "derive"),
  ...Object.fromEntries(REPLAY_COMMANDS.map((name) => [name, replayCommand(name)])),
  lint: { declared: "lint", command: process.execPath, args: ["scripts/npm/lint.mjs"] },
  format: { declared: "lint", command: process.execPath, args: ["scripts/npm/lint.mjs", "--fix"] },
};

/**
 * Runs the task of an npm script with the person's arguments; resolves to the exit status. `--help` and wrong options
 * are answered first: for those nothing is installed.
 */
export async function runTask(name, args, environment = process.env) {
  const task = TASKS[name];
  if (!task) throw new ExpectedError(`no such task: ${name}; there are ${Object.keys(TASKS).join(", ")}`);
  const program = task.declared ? declared[task.declared] : null;
  if (isRunByNpm(name, environment)) {
    const kept = keptByNpm(args, program ?? (await declaredByReplay(name)), environment);
    if (kept !== null) {
      console.error(kept);
      return WRONG_USE;
    }
  }
  if (task.declared) {
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
    // A person who asks for one program may have what it needs; the program itself says what is missing.
    if (status !== 0 && status !== PRESENT_ONLY) return status;
  }
  return passThrough(task.command, [...task.args, ...args], task.options);
}

/** The options and words of a command of `./replay`; none without Python: then `./replay` says which one it needs. */
async function declaredByReplay(name) {
  try {
    return JSON.parse((await promisify(execFile)(REPLAY, ["--options-of", name])).stdout);
  } catch {
    return { options: {} };
  }
}

/** Whether npm runs this script, or one of its variants (`test:quick`). */
function isRunByNpm(name, { npm_lifecycle_event: script = "" }) {
  return script === name || script.startsWith(`${name}:`);
}

/** What to say of the options that npm kept from the script that it runs; null if it kept none. */
function keptByNpm(args, { options = {}, words }, environment) {
  // The options that package.json itself passes to the program: `--quick` of test:quick.
  const preset = (environment.npm_lifecycle_script ?? "").split(" ").slice(LENGTH_OF_SCRIPT);
  const typed = args.slice(preset.length);
  const own = new Map(npmrcs(environment).flatMap(settingsIn));
  const name = environment.npm_lifecycle_event;
  return swallowed({ name, args: typed, options, words, environment, own });
}

/** The texts of the npm configuration files that exist. */
function npmrcs(environment) {
  // npm sets the variable in lower case, unless the person set it in capitals.
  const named = (key) => environment[`npm_config_${key}`] ?? environment[`NPM_CONFIG_${key.toUpperCase()}`];
  // In npm's order; a later file wins.
  const files = [named("globalconfig"), named("userconfig"), path.join(ROOT, ".npmrc")].filter(
    (file) => file && existsSync(file),
  );
  return files.map((file) => readFileSync(file, "utf8"));
}

/** Runs scripts/setup for a level; resolves to `ready`, `present-only` or `failed`. `onTask` gets the process. */
export async function runSetup(level, onTask = () => {}) {
  const task = new Task(SETUP, ["--for", level]);
  onTask(task);
  const status = await task.done;
  if (status === 0) return "ready";
  return status === PRESENT_ONLY ? "present-only" : "failed";
}
