import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { factorOf, patient } from "../../scripts/npm/patience.mjs";
import { runSteps } from "../../scripts/npm/side-by-side.mjs";
import { runToItsEnd } from "../../scripts/npm/test-run.mjs";
import { sandboxesAtATime } from "../../scripts/npm/test-steps.mjs";

const PROGRAM = path.join(import.meta.dirname, "support/run-to-its-end.js");
// A process in its own session, like a daemon: no signal to a process group reaches it.
const DAEMON =
  'setsid sleep 300 & echo $! >"$0/pid.new"; echo $TMPDIR >"$0/folder"; mv "$0/pid.new" "$0/pid";';

// Once for all tests here, and for the programs that they start, which find it in their environment.
const measure = () => patient(1000) / 1000;
measure();

/** A folder in which a step's program leaves its daemon's pid and the run's folder; and the process that runs it. */
class Step {
  constructor(t, script, { bound = 60_000 } = {}) {
    this.folder = mkdtempSync(path.join(tmpdir(), "replay-step-"));
    t.after(() => rmSync(this.folder, { recursive: true }));
    const argv = [path.join(this.folder, "log"), String(bound), "bash", "-c", script, this.folder];
    this.holder = spawn(process.execPath, [PROGRAM, ...argv], { stdio: ["ignore", "pipe", "inherit"] });
    this.said = "";
    this.holder.stdout.on("data", (data) => {
      this.said += data;
    });
    this.ended = new Promise((resolve) => {
      this.holder.once("close", resolve);
    });
  }

  async outcome() {
    await this.ended;
    return JSON.parse(this.said.trim().split("\n").at(-1));
  }

  read(name) {
    return readFileSync(path.join(this.folder, name), "utf8").trim();
  }

  isRunning() {
    try {
      return readFileSync(`/proc/${this.read("pid")}/environ`).length > 0; // that of a zombie is empty
    } catch {
      return false;
    }
  }
}

async function until(condition, what) {
  const deadline = performance.now() + patient(20_000);
  while (!condition()) {
    assert.ok(performance.now() < deadline, `${what} did not come`);
    await pause(20);
  }
}

describe("a step of npm test", () => {
  it("that leaves nothing running ends with its status, and without its folder", async (t) => {
    const step = new Step(t, 'echo $TMPDIR >"$0/folder"; touch "$TMPDIR/a-file"; exit 3');
    assert.deepEqual(await step.outcome(), { status: 3, endedAfter: null, left: [] });
    assert.equal(existsSync(step.read("folder")), false);
  });

  it("gets its own environment besides the run's", async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "replay-step-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const { status } = await runToItsEnd(
      ["bash", "-c", '[ "$REPLAY_TEST_RELEASE" = 18 ] && [ -d "$TMPDIR" ] && [ -n "$PATH" ]'],
      { bound: 60_000, log: path.join(folder, "log"), environment: { REPLAY_TEST_RELEASE: "18" }, measure },
    );
    assert.equal(status, 0);
  });

  it("may have its files in memory, can run programs there, and leaves nothing there", async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "replay-step-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const script =
      'printf "#!/bin/sh\\necho $TMPDIR" >"$TMPDIR/a"; chmod +x "$TMPDIR/a"; "$TMPDIR/a" >"$0/folder"';
    const bound = { bound: 60_000, log: path.join(folder, "log"), measure };
    const { status } = await runToItsEnd(["bash", "-c", script, folder], { ...bound, inMemory: true });
    const used = readFileSync(path.join(folder, "folder"), "utf8").trim();
    assert.deepEqual(
      [status, path.basename(used).startsWith("replay-test-"), existsSync(used)],
      [0, true, false],
    );
  });

  it("that leaves a daemon running is reported, and the daemon is ended", async (t) => {
    const step = new Step(t, `${DAEMON} exit 0`);
    const { status, left } = await step.outcome();
    assert.deepEqual([status, left], [0, [`process ${step.read("pid")}: sleep 300`]]);
    assert.equal(step.isRunning(), false);
  });

  it("that hangs is ended at its time limit, with everything that it started", async (t) => {
    const step = new Step(t, `${DAEMON} sleep 300`, { bound: 300 });
    const { endedAfter } = await step.outcome();
    assert.ok(endedAfter >= 300, `ended after ${endedAfter} ms`);
    assert.equal(step.isRunning(), false);
  });

  it("whose runner is killed is ended, too, and its folder is removed", async (t) => {
    const step = new Step(t, `${DAEMON} sleep 300`);
    await until(() => step.isRunning(), "the daemon");
    step.holder.kill("SIGKILL");
    await until(() => !step.isRunning(), "the end of the daemon");
    await until(() => !existsSync(step.read("folder")), "the end of its folder");
  });
});

describe("the steps of npm test", () => {
  /** Steps that end when they are told to: each has `end(row)`. A step named with a + runs beside those after it. */
  function stepsNamed(...names) {
    return names.map((name) => {
      let end;
      const done = new Promise((resolve) => {
        end = resolve;
      });
      return { name, beside: name.endsWith("+"), done, end };
    });
  }

  /** Runs the steps; `said` is what a person sees, `begun` with which sharing each step began. */
  function running(t, steps, how = {}) {
    const folder = mkdtempSync(path.join(tmpdir(), "replay-steps-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const seen = { said: "", begun: [], files: new Map() };
    seen.rows = runSteps(steps, {
      run: (step, { index, output, sharing }) => {
        assert.equal(steps[index], step);
        seen.begun.push(`${step.name} ${sharing}`);
        if (output !== null) seen.files.set(step.name, output);
        return step.done;
      },
      fileOf: (index) => path.join(folder, String(index)),
      say: (line) => {
        seen.said += `${line}\n`;
      },
      show: (bytes) => {
        seen.said += bytes;
      },
      ...how,
    });
    return seen;
  }

  it("run one after the other, and the one that is marked beside those that follow it", async (t) => {
    const steps = stepsNamed("lint", "long+", "unit", "browser");
    const [lint, long, unit, browser] = steps;
    const seen = running(t, steps);
    assert.deepEqual(seen.begun, ["lint 1"]);
    lint.end(1);
    await until(() => seen.begun.length === 3, "the next steps");
    assert.deepEqual(seen.begun, ["lint 1", "long+ 2", "unit 2"]);
    appendFileSync(seen.files.get("long+"), "first, ");
    unit.end(3);
    await until(() => seen.begun.length === 4, "the last step");
    assert.doesNotMatch(seen.said, /first/);
    browser.end(4);
    await until(() => seen.said.endsWith("== long+\nfirst, "), "what the long step had printed");
    appendFileSync(seen.files.get("long+"), "second, ");
    await until(() => seen.said.endsWith("first, second, "), "what it printed since");
    appendFileSync(seen.files.get("long+"), "last");
    long.end(2);
    assert.deepEqual(await seen.rows, [1, 2, 3, 4]);
    assert.ok(seen.said.endsWith("first, second, last"), seen.said);
    assert.deepEqual([...seen.files.keys()], ["long+"]);
  });

  it("leave the terminal to a step that has nothing to run beside", async (t) => {
    const steps = stepsNamed("long+");
    const seen = running(t, steps);
    steps[0].end("row");
    assert.deepEqual(await seen.rows, ["row"]);
    assert.deepEqual([seen.begun, seen.files.size], [["long+ 1"], 0]);
  });

  it("do not begin once the run is stopped, and what runs is waited for", async (t) => {
    const steps = stepsNamed("long+", "unit", "browser");
    let stopped = false;
    const seen = running(t, steps, { isStopped: () => stopped });
    await until(() => seen.begun.length === 2, "two steps");
    stopped = true;
    steps[1].end("unit");
    await until(() => seen.said.endsWith("== long+\n"), "the wait for the long step");
    steps[0].end("long");
    assert.deepEqual(await seen.rows, ["long", "unit"]);
    assert.deepEqual(seen.begun, ["long+ 2", "unit 2"]);
  });
});

describe("patience", () => {
  const norm = { cpuMs: 250, syncMs: 100, load: 1, cores: 2 };

  it("is three times what the reference machine needs, and no less on a faster one", () => {
    assert.equal(factorOf(norm), 3);
    assert.equal(factorOf({ ...norm, cpuMs: 10, syncMs: 1, load: 0 }), 3);
  });

  it("grows with the slowest of processor, disk and run queue", () => {
    assert.equal(factorOf({ ...norm, cpuMs: 500 }), 6);
    assert.equal(factorOf({ ...norm, syncMs: 400 }), 12);
    assert.equal(factorOf({ ...norm, load: 10 }), 15);
  });

  it("has a maximum, so that a hang is still found", () => {
    assert.equal(factorOf({ ...norm, syncMs: 100_000 }), 30);
  });
});

describe("the sandboxes that are tested at a time", () => {
  const at = (processors, gibibytes) => sandboxesAtATime({ processors, freeBytes: gibibytes * 2 ** 30 });

  it("are three for each processor, and never more than six", () => {
    assert.deepEqual([at(1, 64), at(2, 64), at(16, 64)], [3, 6, 6]);
  });

  it("are fewer if there is no memory for them, but at least one", () => {
    assert.deepEqual([at(2, 23), at(2, 9), at(2, 1)], [6, 4, 1]);
  });
});
