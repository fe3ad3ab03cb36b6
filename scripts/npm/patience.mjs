// How long tests wait. A deadline in a test only ends a hang; a slow machine must not reach it. So every deadline is
// the time that a reference machine takes, multiplied by a factor that is measured before it is used.
// tests/support/patience.py measures the same work, for Python tests that are run on their own.

import { pbkdf2Sync } from "node:crypto";
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import path from "node:path";

/** The environment variable that passes the factor to every test. */
export const VARIABLE = "REPLAY_TEST_PATIENCE";

// The reference machine: 600,000 rounds of PBKDF2 with SHA-512 in 250 ms; 20 writes of 4 KiB, each synced, in 100 ms;
// and no more runnable processes than cores.
const ROUNDS = 600_000;
const CPU_NORM_MS = 250;
const SYNCS = 20;
const SYNC_NORM_MS = 100;

// A machine that is slower than the reference at a quiet moment may be slower still at a busy one.
const MARGIN = 3;
const LEAST = MARGIN;
// The largest factor, with which a hang is still found within the hour.
const MOST = 10 * MARGIN;

function took(work) {
  const began = performance.now();
  work();
  return performance.now() - began;
}

function sync() {
  const folder = mkdtempSync(path.join(tmpdir(), "replay-patience-"));
  const file = openSync(path.join(folder, "synced"), "w");
  try {
    return took(() => {
      for (let n = 0; n < SYNCS; n += 1) {
        writeSync(file, Buffer.alloc(4096));
        fsyncSync(file);
      }
    });
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true });
  }
}

/** Returns the factor: how many times slower than the reference the processor, the disk or the run queue is. */
export function factorOf({ cpuMs, syncMs, load, cores }) {
  const slowness = Math.max(cpuMs / CPU_NORM_MS, syncMs / SYNC_NORM_MS, load / cores);
  return Math.min(MOST, Math.max(LEAST, MARGIN * slowness));
}

/** Measures the factor now, which takes a third of a second on the reference machine. */
export function measurePatience() {
  return factorOf({
    cpuMs: took(() => pbkdf2Sync("patience", "replay", ROUNDS, 64, "sha512")),
    syncMs: sync(),
    load: loadavg()[0],
    cores: availableParallelism(),
  });
}

/** Returns the longest time to wait for something that takes `milliseconds` on the reference machine. */
export function patient(milliseconds) {
  process.env[VARIABLE] ??= String(measurePatience());
  return Math.ceil(milliseconds * Number(process.env[VARIABLE]));
}
