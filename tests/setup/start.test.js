import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { parse } from "yaml";

import { temporaryFolder } from "../support/folders.mjs";
import { patient } from "../support/patience.mjs";
import { onInterrupt } from "../../scripts/npm/processes.mjs";

const PROGRAM = path.join(import.meta.dirname, "support/start-with-fakes.js");
// A program of two processes, both of which must be gone afterwards. `read` ends at once when bash gets a signal.
const RUNS_ON = 'sleep 300 & echo $! >>"$1/pids"; echo running >>"$1/calls"; wait';

/** A folder with made-up programs, and the sitting that runs them. */
class Sitting {
  constructor(t) {
    t.after(() => {
      for (const pid of this.pids()) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // Gone, as it should be.
        }
      }
    });
    this.folder = temporaryFolder(t);
    mkdirSync(path.join(this.folder, "programs"));
    this.program("sandbox-status", "exit 1");
    this.ownDataSet("local");
  }

  /** Makes a program of these shell commands; $1 is the folder. It notes that it ran, and its own pid. */
  program(name, body) {
    const file = path.join(this.folder, "programs", name);
    writeFileSync(file, `echo ${name} >>"$1/calls"; echo $$ >>"$1/pids"\n${body}\n`);
  }

  /** Makes this the data set to measure into, for a reason. */
  ownDataSet(name, reason = null) {
    this.program("own-data-set", `echo '${JSON.stringify({ data_set: name, reason })}'`);
  }

  /** A block that has begun. */
  measured(dataSet = "local") {
    mkdirSync(path.join(this.folder, `benchmarks/${dataSet}/rbd-journaling/raw/block-01.open`), {
      recursive: true,
    });
  }

  start(...flags) {
    this.child = spawn(process.execPath, [PROGRAM, this.folder, ...flags], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.out = "";
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.on("data", (data) => {
        this.out += data;
      });
    }
    this.done = new Promise((resolve) => {
      this.child.once("close", (code, signal) => resolve(signal ?? code));
    });
    return this.done;
  }

  #read(name) {
    const file = path.join(this.folder, name);
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  }

  calls() {
    return this.#read("calls");
  }

  pids() {
    return this.#read("pids").map(Number).filter(Boolean);
  }

  /** Waits until a program has noted this: its name when it starts, `running` when it has set up what RUNS_ON needs. */
  until(call) {
    return this.#until(() => this.calls().includes(call), call);
  }

  /** Waits until the sitting has printed this. */
  untilSaid(text) {
    return this.#until(() => this.out.includes(text), text);
  }

  /** Waits a moment: a process that has been killed is still listed until its turn comes on a busy machine. */
  untilNothingRuns() {
    return this.#until(() => this.running().length === 0, "the end of all processes", 3000);
  }

  async #until(condition, what, milliseconds = 20_000) {
    const deadline = performance.now() + patient(milliseconds);
    while (!condition()) {
      assert.ok(performance.now() < deadline, `${what} was not reached: ${this.calls()}\n${this.out}`);
      await pause(20);
    }
  }

  running() {
    return this.pids().filter((pid) => {
      try {
        // A zombie that nobody has collected yet does not run.
        return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
      } catch {
        return false;
      }
    });
  }
}

describe("npm start", () => {
  it("sets up, opens the deck, starts the sandbox, derives while it measures, and takes the sandbox down", async (t) => {
    const sitting = new Sitting(t);
    for (const name of ["setup", "sandbox-up", "sandbox-down", "derive-once"]) sitting.program(name, "");
    sitting.program("derive-watch", "cat >/dev/null");
    sitting.program("measure", "sleep 0.3");
    assert.equal(await sitting.start("--once"), 0, sitting.out);
    const calls = sitting.calls();
    const order = [
      "setup",
      "deck opened local tentacle",
      "sandbox-up",
      "measure",
      "derive-once",
      "sandbox-down",
      "deck closed",
    ];
    assert.deepEqual(
      calls.filter((call) => order.includes(call)),
      order,
    );
    assert.ok(calls.includes("derive-watch"));
    await sitting.untilNothingRuns();
  });

  it("lets the watcher derive what arrived last", async (t) => {
    const sitting = new Sitting(t);
    sitting.program("derive-watch", 'cat >/dev/null; sleep 0.2; echo looked-again >>"$1/calls"');
    assert.equal(await sitting.start("--once"), 0);
    assert.ok(sitting.calls().includes("looked-again"));
    assert.doesNotMatch(sitting.out, /Deriving stopped/);
  });

  it("measures into another data set, and opens its page, where the first is of another release", async (t) => {
    const sitting = new Sitting(t);
    sitting.ownDataSet("local-18", "benchmarks/local/ was measured with another release");
    sitting.measured("local-18");
    for (const name of ["measure", "derive-once", "brief-alone"])
      sitting.program(name, 'echo "$0 of $2" >>"$1/calls"');
    assert.equal(await sitting.start("--once"), 0, sitting.out);
    assert.match(sitting.out, /another release\. It stays as it is; .* into benchmarks\/local-18\/\./);
    assert.match(sitting.out, /The data are in .*local-18\/[^]*--data local-18 --against/);
    const calls = sitting.calls();
    assert.ok(calls.includes("deck opened local-18 tentacle"));
    const own = calls.filter((call) => call.includes(" of ")).map((call) => call.split("/").at(-1));
    assert.deepEqual(own, ["measure of local-18", "derive-once of local-18", "brief-alone of local-18"]);
  });

  it("measures into the usual data set where none could be chosen", async (t) => {
    const sitting = new Sitting(t);
    sitting.program("own-data-set", "echo no version; exit 1");
    assert.equal(await sitting.start("--once"), 0, sitting.out);
    assert.ok(sitting.calls().includes("deck opened local tentacle"));
  });

  for (const [name, states, ends] of [
    ["leaves a sandbox alone that ran before, also with a warning", ["ready", "ready"], []],
    ["takes a sandbox down that it had to repair", ["ready", "stopped"], ["sandbox-down"]],
    ["keeps the data of a sandbox that was stopped", ["stopped", "stopped"], ["sandbox-down---keep"]],
    ["takes a sandbox down that was not there before", [], ["sandbox-down"]],
  ])
    it(name, async (t) => {
      const sitting = new Sitting(t);
      const status = { ok: false, daemons: states.map((state) => ({ state })) };
      sitting.program("sandbox-status", `echo '${JSON.stringify(status)}'; exit 3`);
      for (const program of ["sandbox-down", "sandbox-down---keep"]) sitting.program(program, "");
      assert.equal(await sitting.start("--once"), 0);
      assert.deepEqual(
        sitting.calls().filter((call) => call.startsWith("sandbox-down")),
        ends,
      );
    });

  it("leaves the sandbox up when asked to", async (t) => {
    const sitting = new Sitting(t);
    sitting.program("sandbox-down", "");
    assert.equal(await sitting.start("--once", "--keep-sandbox"), 0);
    assert.ok(!sitting.calls().includes("sandbox-down"));
  });

  it("presents the shipped data, and measures nothing, if nothing may be installed", async (t) => {
    const sitting = new Sitting(t);
    sitting.program("setup", "exit 3");
    for (const name of ["sandbox-up", "measure"]) sitting.program(name, "");
    const done = sitting.start();
    await sitting.until("deck opened undefined undefined");
    sitting.child.kill("SIGINT");
    assert.equal(await done, 130);
    assert.ok(!sitting.calls().includes("sandbox-up"));
    assert.ok(!sitting.calls().includes("measure"));
  });

  it("presents the shipped data on a system without Ceph, and says that measuring needs Linux", async (t) => {
    const sitting = new Sitting(t);
    sitting.program("setup", "");
    assert.equal(await sitting.start("--once", "--on-macos"), 0);
    assert.deepEqual(sitting.calls(), ["deck opened undefined undefined", "deck closed"]);
    assert.match(sitting.out, /Measuring needs Linux/);
  });

  it("ends when the set-up fails", async (t) => {
    const sitting = new Sitting(t);
    sitting.program("setup", "exit 1");
    assert.equal(await sitting.start(), 1);
    assert.deepEqual(sitting.calls(), ["setup"]);
  });

  it("says that the data set that ships is missing", async (t) => {
    const sitting = new Sitting(t);
    await sitting.start("--once");
    assert.match(sitting.out, /benchmarks\/tentacle\/, is not in this checkout/);
  });

  it("continues to present if measuring fails, and says how to continue", async (t) => {
    const sitting = new Sitting(t);
    sitting.measured();
    sitting.program("measure", "exit 4");
    sitting.program("derive-once", "");
    const done = sitting.start();
    await sitting.untilSaid("The deck stays open");
    assert.ok(sitting.calls().includes("derive-once"));
    assert.equal(sitting.child.exitCode, null);
    sitting.child.kill("SIGINT");
    assert.equal(await done, 130);
    assert.match(sitting.out, /Measuring did not complete\. Run `npm start` again to continue\./);
  });

  it("passes on the status of measuring with --once", async (t) => {
    const sitting = new Sitting(t);
    sitting.program("measure", "exit 4");
    assert.equal(await sitting.start("--once"), 4);
  });

  it("says that nothing was measured, and does not mention data, if the sandbox does not start", async (t) => {
    const sitting = new Sitting(t);
    sitting.program("sandbox-up", "exit 6");
    for (const name of ["measure", "brief", "brief-alone"]) sitting.program(name, "");
    assert.equal(await sitting.start("--once"), 6);
    assert.match(
      sitting.out,
      /Nothing was measured\. Correct what is named above, then run `npm start` again\./,
    );
    assert.doesNotMatch(sitting.out, /The data are in|Measuring did not complete/);
    assert.deepEqual(
      sitting.calls().filter((call) => /measure|brief/.test(call)),
      [],
    );
  });

  it("says so, too, if measuring fails before the first block", async (t) => {
    const sitting = new Sitting(t);
    sitting.program("measure", "exit 4");
    // A design that was written before the first block is no evidence yet.
    const raw = path.join(sitting.folder, "benchmarks/local/rbd-journaling/raw");
    mkdirSync(raw, { recursive: true });
    writeFileSync(path.join(raw, "design-0123456789ab.json"), "{}");
    assert.equal(await sitting.start("--once"), 4);
    assert.match(sitting.out, /Nothing was measured/);
    assert.doesNotMatch(sitting.out, /The data are in/);
  });

  it("ends with the plain sentences, and with what to do next", async (t) => {
    const sitting = new Sitting(t);
    sitting.measured();
    sitting.program("brief-alone", "echo Here a write takes 1.8 times as long.");
    assert.equal(await sitting.start("--once"), 0, sitting.out);
    assert.match(
      sitting.out,
      /Here a write takes 1\.8 times as long\.[^]*The data are in[^]*--against tentacle/,
    );
    assert.doesNotMatch(sitting.out, /Nothing was measured/);
  });

  it("compares the sentences with the shipped data set, if it exists", async (t) => {
    const sitting = new Sitting(t);
    sitting.measured();
    const shipped = path.join(sitting.folder, "benchmarks/tentacle");
    mkdirSync(shipped, { recursive: true });
    writeFileSync(path.join(shipped, "manifest.json"), "{}");
    for (const name of ["brief", "brief-alone"]) sitting.program(name, "");
    assert.equal(await sitting.start("--once"), 0, sitting.out);
    assert.ok(sitting.calls().includes("brief"));
    assert.ok(!sitting.calls().includes("brief-alone"));
  });

  it("offers twice the blocks that quick scale has", async (t) => {
    const sitting = new Sitting(t);
    sitting.measured();
    await sitting.start("--once");
    const file = path.resolve(import.meta.dirname, "../../config/experiments/rbd-journaling.yaml");
    const { blocks } = parse(readFileSync(file, "utf8")).scales.quick;
    assert.equal(Number(/--blocks (\d+)/.exec(sitting.out)[1]), 2 * blocks);
  });
});

describe("Ctrl-C", () => {
  for (const moment of [
    "setup",
    "sandbox-status",
    "sandbox-up",
    "measure",
    "derive-watch",
    "derive-once",
    "brief-alone",
  ]) {
    it(`during ${moment} leaves no process behind`, async (t) => {
      const sitting = new Sitting(t);
      sitting.measured();
      sitting.program("derive-watch", "cat >/dev/null");
      sitting.program("sandbox-down", "");
      sitting.program(moment, RUNS_ON);
      const done = sitting.start();
      await sitting.until("running");
      sitting.child.kill("SIGINT");
      assert.equal(await done, 130, sitting.out);
      await sitting.untilNothingRuns();
      const began = !["setup", "sandbox-status"].includes(moment);
      assert.equal(sitting.calls().includes("sandbox-down"), began);
      if (moment !== "setup") assert.equal(sitting.calls().at(-1), "deck closed");
    });
  }

  it("while the deck is presented closes it and takes the sandbox down", async (t) => {
    const sitting = new Sitting(t);
    sitting.program("derive-once", "");
    sitting.program("sandbox-down", "");
    const done = sitting.start();
    await sitting.untilSaid("The deck stays open");
    sitting.child.kill("SIGINT");
    assert.equal(await done, 130);
    assert.deepEqual(sitting.calls().slice(-2), ["sandbox-down", "deck closed"]);
  });

  it("lets measuring finish what it is writing", async (t) => {
    const sitting = new Sitting(t);
    sitting.program("measure", `trap 'sleep 0.5; echo sealed >>"$1/calls"; exit 130' INT\n${RUNS_ON}`);
    const done = sitting.start();
    await sitting.until("running");
    sitting.child.kill("SIGINT");
    assert.equal(await done, 130);
    assert.ok(sitting.calls().includes("sealed"));
    await sitting.untilNothingRuns();
  });

  it("pressed twice kills what does not end by itself", async (t) => {
    const sitting = new Sitting(t);
    sitting.program("sandbox-down", "");
    sitting.program("measure", `trap '' INT TERM\n${RUNS_ON}`);
    const done = sitting.start();
    await sitting.until("running");
    sitting.child.kill("SIGINT");
    await sitting.untilSaid("press Ctrl-C again");
    await pause(700); // what comes earlier counts as the same press
    assert.equal(sitting.child.exitCode, null);
    sitting.child.kill("SIGINT");
    assert.equal(await done, 130);
    await sitting.untilNothingRuns();
    assert.ok(sitting.calls().includes("sandbox-down"));
  });

  it("also kills what measuring started in a new session", async (t) => {
    const sitting = new Sitting(t);
    sitting.program("measure", `trap 'exit 130' INT\nsetsid bash -c '${RUNS_ON}' bash "$1" &\nwait`);
    const done = sitting.start();
    await sitting.until("running");
    assert.ok(sitting.running().length >= 2);
    sitting.child.kill("SIGINT");
    assert.equal(await done, 130);
    await sitting.untilNothingRuns();
  });

  it("that arrives twice at once, from the terminal and from npm, is one request", (t) => {
    let now = 0;
    t.mock.method(performance, "now", () => now);
    const requests = [];
    t.after(onInterrupt((signal, count) => requests.push([signal, count])));
    const arrives = process.listeners("SIGINT").at(-1);
    for (const moment of [1000, 1020, 1600]) {
      now = moment;
      arrives("SIGINT");
    }
    assert.deepEqual(requests, [
      ["SIGINT", 1],
      ["SIGINT", 2],
    ]);
  });
});

it("SIGTERM ends in the same order, with its own status", async (t) => {
  const sitting = new Sitting(t);
  sitting.program("sandbox-down", "");
  sitting.program("measure", RUNS_ON);
  const done = sitting.start();
  await sitting.until("running");
  sitting.child.kill("SIGTERM");
  assert.equal(await done, 143);
  await sitting.untilNothingRuns();
  assert.ok(sitting.calls().includes("sandbox-down"));
});

for (const signal of ["SIGTERM", "SIGHUP", "SIGKILL"]) {
  it(`${signal} to npm ends the program behind the script`, async (t) => {
    const sitting = new Sitting(t);
    const manifest = { name: "fake", scripts: { start: `node ${PROGRAM} ${sitting.folder}` } };
    writeFileSync(path.join(sitting.folder, "package.json"), JSON.stringify(manifest));
    sitting.program("measure", RUNS_ON);
    const npm = spawn("npm", ["start"], { cwd: sitting.folder, stdio: "ignore" });
    await sitting.until("running");
    npm.kill(signal);
    await sitting.until("deck closed");
    await sitting.untilNothingRuns();
  });
}
