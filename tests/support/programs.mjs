/** Runs programs of the checkout to their end, as people do. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

import { patient } from "./patience.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");

function run(command, args, environment) {
  return promisify(execFile)(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    timeout: patient(240_000),
  });
}

/**
 * Runs a Node program.
 * @param {string} program   its path below the checkout
 * @param {string[]} args
 * @param {Record<string, string>} [environment]   beside that of the tests
 * @returns {Promise<{stdout: string, stderr: string}>}
 */
export function runNode(program, args, environment) {
  return run(process.execPath, [program, ...args], environment);
}

/** Runs a command of `./replay`, as `runNode`. */
export function runReplay(args, environment) {
  const PYTHONPATH = path.join(ROOT, "scripts");
  return run(path.join(ROOT, ".venv/bin/python"), ["-m", "replay", ...args], { PYTHONPATH, ...environment });
}

/** Asserts that a program ends with this status, and says all of these on standard error. */
export function assertEnds(running, status, ...patterns) {
  return assert.rejects(running, ({ code, stderr }) => {
    assert.equal(code, status, stderr);
    for (const pattern of patterns) assert.match(stderr, pattern);
    return true;
  });
}
