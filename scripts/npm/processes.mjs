// Child processes that never outlive their parent: each leads its own process group and is asked to end by a signal. If
// it does not end, it is killed together with everything it started.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";

import { ROOT } from "./program.mjs";

/** Returns the exit status that a shell reports for a process killed by `signal`. */
export function statusOfSignal(signal) {
  return 128 + (constants.signals[signal] ?? 0);
}

/** Sends a signal to a process, or to the group of -pid, if there is one. */
function sendSignal(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

// Every process of a task inherits this variable, even one that started a new session or lost its parent. It lists the
// ids of the task and of the tasks around it.
const MARK = "REPLAY_TASK";

/** Returns the pids of the processes that belong to the task `id`; none on a system without /proc. */
function processesOf(id) {
  let names;
  try {
    names = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return names.map(Number).filter((pid) => {
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
      return variables.some((variable) => variable.startsWith(`${MARK}=`) && variable.includes(id));
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
    this.done = new Promise((resolve) => {
      this.child.once("error", (error) => {
        console.error(`${command} could not be started: ${error.message}`);
        resolve(127);
      });
      // "exit", not "close": a grandchild that keeps the pipe open must not block us.
      this.child.once("exit", (code, signal) => resolve(signal ? statusOfSignal(signal) : code));
    });
  }

  /**
   * Asks the program to end, waits up to `patience` milliseconds, then kills everything that it started and that still
   * runs. `group` signals the whole group at once, as a terminal does: shell scripts need that.
   * Resolves to the exit status.
   */
  async stop({ signal = "SIGINT", patience = 10_000, group = false } = {}) {
    this.child.stdin?.end();
    if (group && this.child.pid) sendSignal(-this.child.pid, signal);
    else this.child.kill(signal);
    const timer = setTimeout(() => this.kill(), patience);
    const status = await this.done;
    clearTimeout(timer);
    this.kill();
    return status;
  }

  /** Kills the program and everything it started. */
  kill() {
    if (this.child.pid) sendSignal(-this.child.pid, "SIGKILL");
    for (const pid of processesOf(this.id)) sendSignal(pid, "SIGKILL");
  }
}

// A terminal signals the whole foreground group, and npm passes its signal on, so one Ctrl-C may arrive twice.
const SAME_KEYSTROKE_MS = 500;

const ORPHAN_CHECK_MS = 1000;

/** The pid of the npm that started this program, with a shell between them or without. */
function npmPid() {
  try {
    const stat = readFileSync(`/proc/${process.ppid}/stat`, "utf8");
    const [, name, parent] = /\((.*)\) \S (\d+)/.exec(stat);
    return name.endsWith("sh") ? Number(parent) : process.ppid;
  } catch {
    return process.ppid;
  }
}

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

  const npm = npmPid();
  let orphanCheck = null;
  if (process.env.npm_lifecycle_event) {
    orphanCheck = setInterval(() => {
      if (npmPid() === npm) return;
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
  const restore = onInterrupt((signal) => task.child.kill(signal));
  try {
    return await task.done;
  } finally {
    restore();
  }
}
