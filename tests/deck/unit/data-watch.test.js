import assert from "node:assert/strict";
import fs from "node:fs";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { indexOf, scanBenchmarks } from "../../../scripts/deck/data-sets.js";
import { differences, watchData } from "../../../scripts/deck/data-watch.js";
import { temporaryFolder } from "../../support/folders.mjs";
import { patient } from "../../support/patience.mjs";

let folder;
let watcher;
let news;

beforeEach((t) => {
  folder = temporaryFolder(t);
  news = [];
});
afterEach(() => {
  watcher?.close();
  watcher = null;
});

// So long after the start that no test sees a scan that no notification asked for.
const NEVER_MS = 2 ** 31 - 1;

const start = async (root = folder, safetyScanMs = NEVER_MS) => {
  watcher = await watchData({ root, onChange: (files) => news.push(...files), safetyScanMs });
};
const save = async (name, text) => {
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
};
/** Waits until the watcher reports this file. */
async function told(name) {
  for (const end = Date.now() + patient(10_000); Date.now() < end; await sleep(5)) {
    if (news.includes(name)) return;
  }
  throw new Error(`nothing told of ${name}; told of ${JSON.stringify(news)}`);
}

test("a CSV file that is renamed into place is noticed at once, and not by the next regular scan", async () => {
  await save("local/rbd-journaling/aggregate/iops-read-seq.csv", "I/O size,4096\nA,1\n");
  await start();
  const target = path.join(folder, "local/rbd-journaling/aggregate/iops-read-seq.csv");
  await writeFile(`${target}.tmp`, "I/O size,4096\nA,2\n");
  await rename(`${target}.tmp`, target);
  await told("local/rbd-journaling/aggregate/iops-read-seq.csv");
  assert.deepEqual([...new Set(news)], ["local/rbd-journaling/aggregate/iops-read-seq.csv"]);
});

test("where the system notifies of nothing, a regular scan finds what changed", async (t) => {
  await save("local/manifest.json", "{}");
  // The folder is there and is read, and cannot be watched.
  t.mock.method(fs, "watch", () => {
    throw new Error("ENOSPC: no watches left");
  });
  syncBuiltinESMExports();
  try {
    await start(folder, 20);
    await save("local/manifest.json", '{"schema_version": 1}');
    await told("local/manifest.json");
  } finally {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  }
});

test("a data set whose folders appear later is followed, and so are its later files", async () => {
  await start(path.join(folder, "benchmarks"));
  await save("benchmarks/local/manifest.json", "{}");
  await told("local/manifest.json");
  await save("benchmarks/local/rbd-journaling/aggregate/a.csv", "x,1\ny,2\n");
  await told("local/rbd-journaling/aggregate/a.csv");
  await save("benchmarks/local/rbd-journaling/aggregate/b.csv", "x,1\ny,2\n");
  await told("local/rbd-journaling/aggregate/b.csv");
});

test("a file that disappears is reported, too", async () => {
  await save("local/manifest.json", "{}");
  await start();
  await rm(path.join(folder, "local/manifest.json"));
  await told("local/manifest.json");
});

test("raw output is neither read nor announced", async () => {
  await save("local/rbd-journaling/raw/block-01/x.json", "{}");
  await save("local/rbd-journaling/notes.csv", "a\n1\n");
  await save("local/.hidden.json", "{}");
  await start();
  await save("local/rbd-journaling/raw/block-01/y.csv", "a\n");
  await save("local/manifest.json", "{}");
  await told("local/manifest.json");
  assert.deepEqual([...new Set(news)], ["local/manifest.json"]);
  assert.deepEqual([...(await scanBenchmarks(folder)).files.keys()], ["local/manifest.json"]);
});

test("the attempts behind the charts may be read, too", async () => {
  await save("local/rbd-journaling/tidy.csv", "a\n1\n");
  assert.deepEqual([...(await scanBenchmarks(folder)).files.keys()], ["local/rbd-journaling/tidy.csv"]);
});

test("a scan says which files changed, appeared and disappeared", () => {
  const before = new Map([
    ["a", "1"],
    ["b", "1"],
    ["c", "1"],
  ]);
  const after = new Map([
    ["a", "1"],
    ["b", "2"],
    ["d", "1"],
  ]);
  assert.deepEqual(differences(before, after), ["b", "c", "d"]);
});

test("a link to a file or folder outside of its data set is no file of it; the data set may be one itself", async () => {
  await save("large/mine/manifest.json", "{}");
  await save("large/mine/exp/tidy.csv", "block\n1\n");
  await save("secret/aggregate/key.csv", "secret\n");
  const root = path.join(folder, "benchmarks");
  await mkdir(root);
  await symlink(path.join(folder, "large/mine"), path.join(root, "mine"));
  await symlink("manifest.json", path.join(root, "mine/again.json"));
  await symlink("../../secret/aggregate/key.csv", path.join(root, "mine/notes.json"));
  await symlink("../../../secret/aggregate", path.join(root, "mine/exp/aggregate"));
  await symlink("../../secret", path.join(root, "mine/other"));
  const { files } = await scanBenchmarks(root);
  assert.deepEqual([...files.keys()], ["mine/again.json", "mine/exp/tidy.csv", "mine/manifest.json"]);
});

test("a data set may be called like what every object has", () => {
  const { data_sets: names, files } = indexOf(new Map([["constructor/manifest.json", "1"]]));
  assert.deepEqual([names, files.constructor], [["constructor"], ["manifest.json"]]);
});

test("the list of data sets has those with a file to show", async () => {
  await save("local/rbd-journaling/aggregate/a.csv", "x,1\ny,2\n");
  await save("hardware/csv/aggregate/b.csv", "x,1\ny,2\n");
  await save("hardware/manifest.json", "{}");
  await mkdir(path.join(folder, "empty"));
  const { files } = await scanBenchmarks(folder);
  assert.deepEqual(indexOf(files), {
    schema_version: 1,
    data_sets: ["hardware", "local"],
    files: { hardware: ["csv/aggregate/b.csv", "manifest.json"], local: ["rbd-journaling/aggregate/a.csv"] },
    altered: {},
    own: {},
  });
  const altered = { local: [{ file: "rbd-journaling/aggregate/a.csv", what: "is not what derive wrote" }] };
  assert.deepEqual(indexOf(files, altered).altered, altered);
});
