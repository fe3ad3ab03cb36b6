// One session of `npm start`: set-up, deck, sandbox, derive and measure side by side, and how to stop each of them.

import { closeSync, existsSync, mkdirSync, openSync, readdirSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as after } from "node:timers/promises";

import { statusOfSignal, Task } from "./processes.mjs";
import { openBrowser, ROOT } from "./program.mjs";

const PRESENT_ONLY = 3;
const OWN = "local";
const EXPERIMENT = "rbd-journaling";
// Of rbd-journaling at quick scale; config/experiments/rbd-journaling.yaml gives the number of blocks.
const TWICE_THE_BLOCKS = 12;

// How long each program may take to stop cleanly, in milliseconds, before it is killed.
// Killing a package manager would leave its database in disorder.
const PATIENCE = {
  setup: 180_000,
  measure: 30_000,
  derive: 10_000,
  "sandbox up": 30_000,
  "sandbox down": 60_000,
};

const python = (...args) => [path.join(ROOT, ".venv/bin/python"), "-m", ...args];
const sandbox = (...args) => [path.join(ROOT, "scripts/sandbox"), ...args];

/**
 * Returns the programs that a session runs, as argument lists. Tests replace them.
 * @param {string} own  the data set that it measures into
 * @param {string} shipped  the data set that ships
 * @returns {Record<string, string[]>}
 */
export const programsFor = (own, shipped) => ({
  setup: [path.join(ROOT, "scripts/setup"), "--for", "start"],
  "sandbox status": sandbox("status", "--json"),
  "sandbox up": sandbox("up"),
  "sandbox down": sandbox("down"),
  "sandbox down --keep": sandbox("down", "--keep"),
  "own data set": python("replay.preflight.releases", own, EXPERIMENT),
  "derive watch": python("replay", "derive", "--data", own, "--watch"),
  "derive once": python("replay", "derive", "--data", own),
  brief: python("replay", "claims", "--data", own, "--brief", "--ratios", "--against", shipped),
  "brief alone": python("replay", "claims", "--data", own, "--brief", "--ratios"),
  measure: python(
    ...["replay", "measure", "--site", "sandbox", "--data", own],
    ...["--scale", "quick", "--experiment", EXPERIMENT],
  ),
});

class Interrupted extends Error {}

/** There is nothing to present; the message says why. */
class NoDeck extends Error {}

/** Runs and ends everything that `npm start` starts. */
export class Session {
  /**
   * @param {object} options
   * @param {typeof programsFor} [options.programs]
   * @param {string} options.shipped  the data set that ships
   * @param {(options: object) => Promise<{url: string, close: () => Promise<void>}>} options.startServer
   * @param {string} options.benchmarks  folder of the data sets
   * @param {string} options.logs  folder for what runs in the background
   * @param {number} [options.port]
   * @param {boolean} [options.open]  open a browser
   * @param {boolean} [options.keepSandbox]  leave the sandbox running at the end
   * @param {boolean} [options.once]  end after measuring instead of going on to present
   * @param {(line: string) => void} [options.say]
   * @param {string} [options.platform]  as Node names it
   */
  constructor({
    programs = programsFor,
    shipped,
    say = console.log,
    platform = process.platform,
    ...options
  }) {
    Object.assign(this, { programs, shipped, say, platform, options });
    this.own = OWN;
    this.tasks = new Map();
    this.sandboxEnd = null; // the program that ends the sandbox, if it does not go on running
    this.stopSignal = null;
    this.interrupted = new Promise((resolve) => {
      this.announceInterrupt = resolve;
    });
  }

  /** Runs to the end, or until `interrupt`; resolves to the exit status. Nothing that it started is left running. */
  async run() {
    let status;
    try {
      status = await this.#work();
      if (!this.options.once && status !== null) await this.interrupted;
      status ??= 1;
    } catch (error) {
      if (!(error instanceof Interrupted)) {
        this.say(error instanceof NoDeck ? error.message : error.stack);
        status = 1;
      }
    }
    await this.#end();
    return this.stopSignal ? statusOfSignal(this.stopSignal) : status;
  }

  /** Asks the session to end; a second request kills what has not ended yet. */
  interrupt(signal) {
    if (this.stopSignal) {
      for (const task of this.tasks.values()) task.kill();
      return;
    }
    this.stopSignal = signal;
    this.say(
      "\nStopping; press Ctrl-C again to stop at once. Finished measurements are kept, and the next start continues from there.",
    );
    // #end stops the programs in order; whatever is awaited at this moment is abandoned.
    this.announceInterrupt();
  }

  /** Resolves to the exit status; null if there is nothing to present. */
  async #work() {
    const measures = await this.#setUp();
    if (measures === null) return null;
    if (measures) await this.#chooseDataSet();
    await this.#present(measures);
    if (!measures) return 0;
    const status = await this.#measure();
    await this.#conclude(status);
    return status;
  }

  /** Resolves to whether this system can measure; null if the set-up failed. */
  async #setUp() {
    if (this.platform !== "linux") {
      this.say("Measuring needs Linux, because it starts Ceph. The deck shows the data that ship.");
      return false;
    }
    return { 0: true, [PRESENT_ONLY]: false }[await this.#finish("setup")] ?? null;
  }

  /** After an upgrade of the host's Ceph, what was measured before stays as it is: a data set never mixes releases. */
  async #chooseDataSet() {
    const { status, printed } = await this.#ask("own data set");
    // Where it fails it says why, and measuring would fail likewise.
    if (status !== 0) return;
    const { data_set: own, reason } = JSON.parse(printed);
    this.own = own;
    if (reason) this.say(`${reason}. It stays as it is; this start measures into benchmarks/${own}/.`);
  }

  async #present(measures) {
    if (!this.#ships())
      this.say(
        `The shipped data set, benchmarks/${this.shipped}/, is not in this checkout: its charts stay empty.`,
      );
    const { startServer, port, open } = this.options;
    // Charts show the shipped data until local measurements exist.
    const data = measures ? { data: this.own, meanwhile: this.shipped } : {};
    const starting = startServer({ port, ...data, log: this.say }).catch((error) => {
      throw new NoDeck(`The deck cannot be presented: ${error.message}`);
    });
    this.server = starting.catch(() => null);
    const server = await this.#orInterrupted(starting);
    this.say(`The deck is open at ${server.url} — Ctrl-C here stops everything.`);
    if (open) openBrowser(server.url);
  }

  /** Resolves to the exit status of measuring, or of the sandbox if that did not start. */
  async #measure() {
    // A running sandbox belongs to somebody, and so does a stopped one, which is stopped again at the end; a broken or
    // leftover one is repaired, and taken down.
    const states = await this.#sandboxStates();
    const wasUp = states.size === 1 && states.has("ready");
    const wasStopped = states.size === 1 && states.has("stopped");
    if (!wasUp && !this.options.keepSandbox)
      this.sandboxEnd = wasStopped ? "sandbox down --keep" : "sandbox down";
    this.say(
      wasUp ? "The sandbox is already running." : "Starting the sandbox: two Ceph clusters on this machine.",
    );
    const up = await this.#finish("sandbox up");
    if (up !== 0) {
      this.say("The sandbox did not start, so nothing is measured; the deck shows the shipped data.");
      return up;
    }
    this.say(
      `Measuring ${EXPERIMENT} at quick scale into benchmarks/${this.own}/. The deck's charts update as results arrive.`,
    );
    const log = path.join(this.options.logs, "derive.log");
    const watcher = this.#start("derive watch", { log });
    watcher.done.then((status) => {
      if (!this.stopSignal && !this.measured)
        this.say(`Deriving stopped (status ${status}); see ${shown(log)}`);
    });
    const status = await this.#finish("measure");
    this.measured = true;
    // When its input ends, the watcher looks once more and exits.
    watcher.child.stdin.end();
    await this.#orInterrupted(Promise.race([watcher.done, after(PATIENCE.derive)]));
    await watcher.stop({ patience: 0 });
    const derived = await this.#finish("derive once", { log });
    if (derived !== 0) this.say(`Deriving failed (status ${derived}); see ${shown(log)}`);
    return status || derived;
  }

  /** Resolves to the states of the daemons of a sandbox, in whatever health; empty if there is none. */
  async #sandboxStates() {
    const { printed } = await this.#ask("sandbox status", { errors: "ignore" });
    try {
      return new Set(JSON.parse(printed).daemons.map(({ state }) => state));
    } catch {
      return new Set(); // Its record cannot be read: `sandbox up` says so.
    }
  }

  async #conclude(status) {
    const folder = path.join(this.options.benchmarks, this.own);
    const open = this.options.once ? [] : ["The deck stays open until you press Ctrl-C."];
    if (!hasEvidence(folder)) {
      this.say("Nothing was measured. Correct what is named above, then run `npm start` again.");
      open.forEach((line) => this.say(line));
      return;
    }
    if (status !== 0) this.say("Measuring did not complete. Run `npm start` again to continue.");
    this.say("");
    // It names its own failure.
    await this.#finish(this.#ships() ? "brief" : "brief alone");
    this.say(
      [
        "",
        `The data are in ${shown(folder)}/: raw/ holds what the tools printed (packs that tar opens), then tidy.csv, aggregate/*.csv.`,
        "",
        `Every claim, beside the data set that ships: ./replay claims --data ${this.own} --against ${this.shipped}`,
        `Twice the blocks, for narrower intervals:    ./replay sandbox up && ./replay measure --site sandbox --data ${this.own} --experiment rbd-journaling --blocks ${TWICE_THE_BLOCKS}`,
        "All sizes, reads, mirroring (hours):         ./replay sandbox up && ./replay measure --site sandbox --data mine --experiment rbd-journaling --scale talk",
        "Your own cluster, which it only reads:       ./replay look --conf /etc/ceph/ceph.conf",
        ...open,
      ].join("\n"),
    );
  }

  /** Whether the data set that ships is in this checkout. */
  #ships() {
    return existsSync(path.join(this.options.benchmarks, this.shipped, "manifest.json"));
  }

  #start(name, { log = null, output = "inherit", errors = "inherit" } = {}) {
    if (this.stopSignal) throw new Interrupted();
    const [command, ...args] = this.programs(this.own, this.shipped)[name];
    if (log) {
      mkdirSync(path.dirname(log), { recursive: true });
      output = errors = openSync(log, "a");
    }
    const task = new Task(command, args, {
      // Open until the program should end, or this process is gone.
      stdio: ["pipe", output, errors],
      env: { ...process.env, PYTHONUNBUFFERED: "1" },
    });
    task.child.stdin.on("error", () => {}); // The program may end before its input does.
    if (log) closeSync(output);
    this.tasks.set(name, task);
    task.done.then(() => this.tasks.delete(name));
    return task;
  }

  #finish(name, options) {
    return this.#orInterrupted(this.#start(name, options).done);
  }

  /** Runs a program to its end; resolves to its exit status and what it printed. */
  async #ask(name, options) {
    const task = this.#start(name, { output: "pipe", ...options });
    const output = text(task.child.stdout);
    const status = await this.#orInterrupted(task.done);
    return { status, printed: await output };
  }

  /** Waits for `promise`, or until the session is interrupted. */
  async #orInterrupted(promise) {
    const value = await Promise.race([promise, this.interrupted]);
    if (this.stopSignal) throw new Interrupted();
    return value;
  }

  /** Stops everything: what was started last first, then the sandbox, the deck last. */
  async #end() {
    for (const name of [...this.tasks.keys()].reverse())
      await this.tasks
        .get(name)
        ?.stop({ patience: PATIENCE[name] ?? PATIENCE.derive, group: name === "setup" });
    if (this.sandboxEnd) {
      this.say("Stopping the sandbox.");
      const [command, ...args] = this.programs(this.own, this.shipped)[this.sandboxEnd];
      const down = new Task(command, args, { stdio: ["ignore", "inherit", "inherit"] });
      const timer = setTimeout(() => down.kill(), PATIENCE["sandbox down"]);
      const status = await down.done;
      clearTimeout(timer);
      if (status !== 0) this.say(`The sandbox did not stop cleanly: run ./replay ${this.sandboxEnd}`);
    }
    await (await this.server)?.close();
  }
}

/** Whether a data set contains any measurement: a block, whole or begun. */
function hasEvidence(folder) {
  if (!existsSync(folder)) return false;
  return readdirSync(folder, { recursive: true }).some((name) => /^[^/]+\/raw\/block-/.test(name));
}

/** A path relative to the checkout's root. */
function shown(file) {
  const relative = path.relative(ROOT, file);
  return relative.startsWith("..") ? file : relative;
}
