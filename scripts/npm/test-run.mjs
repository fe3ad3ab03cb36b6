// Runs a program of `npm test` in a run of its own that leaves nothing behind: no process, no sandbox, no file.

import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, openSync, readFileSync, closeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { measurePatience, VARIABLE as PATIENCE } from "./patience.mjs";
import { ROOT, Task } from "./processes.mjs";

const PYTHON = path.join(ROOT, ".venv/bin/python");
const GUARDIAN = path.join(ROOT, "tests/support/guardian.py");
/** The run's folder, in the environment of all that the run starts. */
export const VARIABLE = "REPLAY_TEST_RUN";

// On a disk, unlike /tmp in places: sandboxes of several GiB lie here. Short, because sockets' paths may not be long.
const FOLDERS = existsSync("/var/tmp") ? "/var/tmp" : tmpdir();
const GRACE_MS = 10_000;

/** A folder for all that is started, and a guardian who ends it when the run, or the process that holds it, ends. */
class Run {
  constructor(log) {
    this.folder = mkdtempSync(path.join(FOLDERS, "replay-test-"));
    chmodSync(this.folder, 0o755); // some tests start programs as another user
    this.log = log;
    const output = openSync(log, "w");
    // A session of its own: what ends the run from a terminal must not end its guardian. Its standard input closes
    // when this process ends, for whatever reason.
    this.guardian = spawn(PYTHON, [GUARDIAN, this.folder], {
      cwd: ROOT,
      detached: true,
      stdio: ["pipe", output, output],
    });
    closeSync(output);
    this.gone = new Promise((resolve) => {
      this.guardian.once("error", (error) => resolve([`there is no guardian: ${error.message}`]));
      this.guardian.once("exit", (code) => resolve(code === 0 ? [] : this.said(code)));
    });
  }

  said(code) {
    const lines = readFileSync(this.log, "utf8").split("\n").filter(Boolean);
    return code === 1 && lines.length ? lines : [`the guardian ended with ${code}`, ...lines];
  }

  environment(patience, more) {
    // Tests start Python hundreds of times: compiling the same modules each time would be most of their work.
    const environment = { ...process.env, ...more };
    delete environment.PYTHONDONTWRITEBYTECODE;
    return {
      ...environment,
      [VARIABLE]: this.folder,
      [PATIENCE]: String(patience),
      TMPDIR: this.folder,
    };
  }

  /** Ends all that is left; resolves to a line for each thing that was. */
  end() {
    this.guardian.stdin.end();
    return this.gone;
  }
}

/**
 * Runs a program, `argv`, to its end, or until it took longer than `bound` milliseconds allow on a machine as fast as
 * this one is at that moment. Nothing that it started survives it.
 *
 * `onTask` is handed the Task; `log` is a file for what the guardian says; `environment` is what the program is given
 * besides this process's own.
 * @returns {Promise<{status: number, endedAfter: number|null, left: string[]}>} `endedAfter`: milliseconds after which it
 *   was ended, null when it ended by itself; `left`: what it had left running
 */
export async function runToItsEnd(argv, { bound, log, environment = {}, onTask = () => {} }) {
  const began = performance.now();
  let patience = measurePatience();
  const run = new Run(log);
  const [command, ...args] = argv;
  const task = new Task(command, args, {
    stdio: ["ignore", "inherit", "inherit"],
    env: run.environment(patience, environment),
  });
  onTask(task);

  let endedAfter = null;
  let timer = null;
  const watch = () => {
    const left = bound * patience - (performance.now() - began);
    timer = setTimeout(() => {
      // A machine that has become slower since is given the time that it needs now.
      const now = measurePatience();
      if (now > patience) {
        patience = now;
        return watch();
      }
      endedAfter = performance.now() - began;
      task.stop({ signal: "SIGINT", patience: GRACE_MS, group: true });
    }, left);
  };
  watch();
  const status = await task.done;
  clearTimeout(timer);
  return { status, endedAfter, left: await run.end() };
}
