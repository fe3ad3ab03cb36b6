// Runs a program of `npm test` so that it leaves nothing behind: no process, no sandbox, no file.

import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { freemem, tmpdir } from "node:os";
import path from "node:path";

import { measurePatience, VARIABLE as PATIENCE } from "./patience.mjs";
import { ROOT, Task } from "./processes.mjs";

const PYTHON = path.join(ROOT, ".venv/bin/python");
const GUARDIAN = path.join(ROOT, "tests/support/guardian.py");
/** The environment variable that passes the run's folder to everything that the run starts. */
export const VARIABLE = "REPLAY_TEST_RUN";

// On a disk, which /tmp is not everywhere: sandboxes take several GiB. The path is short, because the paths of sockets
// must be short.
const FOLDERS = existsSync("/var/tmp") ? "/var/tmp" : tmpdir();
const MEMORY = "/dev/shm";
/** What the tests that keep their files in memory take at the most, with room for the rest of the machine. */
const MEMORY_BYTES = 4 * 2 ** 30;
const GRACE_MS = 10_000;

/** Makes a run's folder: on a disk, or in memory if that is asked for, is large enough, and can run programs. */
function makeFolder(inMemory) {
  if (inMemory && existsSync(MEMORY) && freemem() > 2 * MEMORY_BYTES) {
    const { bavail, bsize } = statfsSync(MEMORY);
    const folder = bavail * bsize > MEMORY_BYTES ? mkdtempSync(path.join(MEMORY, "replay-test-")) : null;
    if (folder && runsPrograms(folder)) return folder;
    if (folder) rmSync(folder, { recursive: true });
  }
  return mkdtempSync(path.join(FOLDERS, "replay-test-"));
}

/** Whether a program in this folder can be started: in containers, /dev/shm is often mounted `noexec`. */
function runsPrograms(folder) {
  const program = path.join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}

/** A folder for everything that is started, and a guardian that ends all of it when the run, or this process, ends. */
class Run {
  constructor(log, inMemory) {
    this.folder = makeFolder(inMemory);
    chmodSync(this.folder, 0o755); // some tests start programs as another user
    this.log = log;
    const output = openSync(log, "w");
    // In a session of its own: a signal from the terminal that ends the run must not end the guardian. Its standard
    // input closes when this process ends, for whatever reason.
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
    // Tests start Python hundreds of times, and would spend most of their time compiling the same modules.
    const environment = { ...process.env, ...more };
    delete environment.PYTHONDONTWRITEBYTECODE;
    return {
      ...environment,
      [VARIABLE]: this.folder,
      [PATIENCE]: String(patience),
      TMPDIR: this.folder,
    };
  }

  /** Ends everything that is left; resolves to one line for each. */
  end() {
    this.guardian.stdin.end();
    return this.gone;
  }
}

/**
 * Runs a program, `argv`, to its end, or until it has exceeded `bound`, milliseconds on the reference machine of
 * patience.mjs, scaled to the speed of this machine at that moment. Nothing that it started survives it.
 *
 * `onTask` gets the Task; `log` is a file for the guardian's output; `environment` is added to that of this process;
 * `output` is a file for what the program prints, null for this process' own output; `sharing` is how many programs run
 * at this time and share the machine's speed; `inMemory` puts what it writes into memory rather than on a disk, where
 * possible; `measure` returns how slow the machine is now.
 * @returns {Promise<{status: number, endedAfter: number|null, left: string[]}>} `endedAfter`: milliseconds after which
 *   it was ended, null if it ended by itself; `left`: what it left running
 */
export async function runToItsEnd(
  argv,
  {
    bound,
    log,
    environment = {},
    output = null,
    sharing = 1,
    inMemory = false,
    onTask = () => {},
    measure = measurePatience,
  },
) {
  const began = performance.now();
  let patience = measure() * sharing;
  const run = new Run(log, inMemory);
  const [command, ...args] = argv;
  const printed = output === null ? "inherit" : openSync(output, "a");
  const task = new Task(command, args, {
    stdio: ["ignore", printed, printed],
    env: run.environment(patience, environment),
  });
  if (output !== null) closeSync(printed);
  onTask(task);

  let endedAfter = null;
  let timer = null;
  const watch = () => {
    const left = bound * patience - (performance.now() - began);
    timer = setTimeout(() => {
      // If the machine has become slower since, the program gets the time that it needs now.
      const now = measure() * sharing;
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
