// The bundle is built in a process of its own, whose memory goes with it, and which says in words why it failed.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { patient } from "../../../scripts/npm/patience.mjs";

const BUILDER = path.resolve(import.meta.dirname, "../../../scripts/deck/build-bundle.mjs");

test("a build into a place that is no folder ends with 1 and says why", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "replay-bundle-"));
  try {
    const file = path.join(folder, "file");
    writeFileSync(file, "");
    const timeout = patient(60_000);
    const { status, stderr } = spawnSync(process.execPath, [BUILDER, path.join(file, "out")], {
      encoding: "utf8",
      timeout,
    });
    assert.equal(status, 1, stderr);
    assert.match(stderr, /not a directory/i);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
