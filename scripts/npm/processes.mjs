// Child processes that never outlive their parent: each leads its own process group and is asked to end by a signal. If
// it does not end, it is killed together with everything it started.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { setTimeout as after } from "node:timers/promises";

import { ROOT } from "./program.mjs";

/** A failure with an explanation for the person: printed without a stack. */
export class ExpectedError extends Error {
  expected = true;
}

/** Returns the exit status that a shell reports for a process killed by `signal`. */
export function statusOfSignal(signal) {
  return 128 + (constants.signals[signal] ?? 0);
}

/** Sends `signal` to a whole process group; returns false if it is empty. */
function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
    return true;
  } catch (error) {
    if (error.code === "ESRCH") return false;
    throw error;
  }
}

const pause = (milliseconds, signal) => after(milliseconds, undefined, { signal }).catch(() => {});

// Every process of a task inherits this variable, even one that started a new session or lost its parent. It lists the
// ids of the task and of the tasks around it.
const MARK = "REPLAY_TASK";

/** Returns the pids of the processes that belong to the task `id`; none on a system without /proc. */
function processesOf(id) {
  let names;
  try {
    names = readdirSync("/proc");
  } catch {
    return [];
  }
  return names.filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const variables = readFileSync(`/proc/${name}/environ`, "latin1").split("\0");
      return variables.some((one) => one.startsWith(`${MARK}=`) && one.includes(id));
    } catch {
      return false; // It has ended, or belongs to another user.
    }
  });
}

/** A running program and everything it started. */
export class Task {
  /**
   * Starts `command` with `args` (`options` as for node:child_process' spawn) in its own process group.
   * `done` resolves to its exit status, 128 + n if a signal ended it, 127 if it could not be started.
   */
  constructor(command, args = [], options = {}) {
    this.id = randomUUID();
    this.child = spawn(command, args, {
      ...{ cwd: ROOT, stdio: "inherit", ...options, detached: true },
      env: { ...(options.env ?? process.env), [MARK]: `${process.env[MARK] ?? ""} ${this.id}` },
    });
    this.running = true;
    this.done = new Promise((resolve) => {
      this.child.once("error", (error) => {
        console.error(`${command} could not be started: ${error.message}`);
        this.running = false;
        resolve(127);
      });
      // "exit", not "close": a grandchild that keeps the pipe open must not block us.
      this.child.once("exit", (code, signal) => {
        this.running = false;
        resolve(signal ? statusOfSignal(signal) : code);
      });
    });
  }

  /** Sends `signal` only to the program, which stops what it has started. */
  signal(signal) {
    if (this.running) this.child.kill(signal);
  }

  /** Sends `signal` to the program and all of its group. */
  signalAll(signal) {
    if (this.child.pid) signalGroup(this.child.pid, signal);
  }

  /**
   * Asks the program to end, waits up to `patience` milliseconds, then kills everything that it started and that still
   * runs. `group` signals the whole group at once, as a terminal does: shell scripts need that.
   * Resolves to the exit status.
   */
  async stop({ signal = "SIGINT", patience = 10_000, group = false } = {}) {
    this.child.stdin?.end();
    if (group) this.signalAll(signal);
    else this.signal(signal);
    const outOfPatience = new AbortController();
    const impatient = Promise.race([pause(patience, outOfPatience.signal), this.hurried()]);
    await Promise.race([this.done, impatient]);
    outOfPatience.abort();
    this.kill();
    return this.done;
  }

  /** Kills the program and everything it started. */
  kill() {
    this.signalAll("SIGKILL");
    for (const pid of processesOf(this.id)) {
      try {
        process.kill(Number(pid), "SIGKILL");
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  /** Makes a waiting `stop` kill at once. */
  hurry() {
    this.hurryNow?.();
  }

  hurried() {
    return new Promise((resolve) => {
      this.hurryNow = resolve;
    });
  }
}

// A terminal signals the whole foreground group, and npm passes its signal on, so one Ctrl-C may arrive twice.
const SAME_KEYSTROKE_MS = 500;

const ORPHAN_CHECK_MS = 1000;

/**
 * Calls `handler(signal, count)` for SIGINT, SIGTERM and SIGHUP, once for each request of the person. It also calls it,
 * as for SIGHUP, if the npm that started this program has died: npm passes on no signal that kills it.
 * Returns a function that restores the default.
 */
export function onInterrupt(handler) {
  let last = -Infinity;
  let count = 0;
  const listener = (signal) => {
    const now = performance.now();
    if (now - last < SAME_KEYSTROKE_MS) return;
    last = now;
    count += 1;
    handler(signal, count);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, listener);

  const parent = process.ppid;
  let orphanCheck = null;
  if (process.env.npm_lifecycle_event) {
    orphanCheck = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(orphanCheck);
      listener("SIGHUP");
    }, ORPHAN_CHECK_MS);
    orphanCheck.unref();
  }
  return () => {
    for (const signal of signals) process.off(signal, listener);
    clearInterval(orphanCheck);
  };
}

/** Runs a program to its end, passing on signals; resolves to its exit status. */
export async function passThrough(command, args, options) {
  const task = new Task(command, args, options);
  const restore = onInterrupt((signal) => task.signal(signal));
  try {
    return await task.done;
  } finally {
    restore();
  }
}
