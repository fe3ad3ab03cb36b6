import assert from "node:assert/strict";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { watchSources } from "../../../scripts/deck/source-watch.js";

let folder;
let watch;
let changes;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "replay-sources-"));
  await mkdir(path.join(folder, "deck", "reader"), { recursive: true });
  await writeFile(path.join(folder, "index.html"), "");
  changes = 0;
  const places = ["deck", "index.html", "not-there"].map((name) => path.join(folder, name));
  watch = watchSources({ places, onChange: () => (changes += 1) });
});
afterEach(async () => {
  watch.close();
  await rm(folder, { recursive: true, force: true });
});

/** Waits until a change is reported, for two seconds at most. */
async function told() {
  for (const end = Date.now() + 2000; changes === 0 && Date.now() < end;) await sleep(10);
  return changes;
}

test("a file in a watched folder, or below it, is noticed", async () => {
  await writeFile(path.join(folder, "deck", "reader", "a.js"), "a");
  assert.equal(await told(), 1);
});

test("a watched file that an editor replaces is noticed, its neighbours are not", async () => {
  await writeFile(path.join(folder, "other.html"), "a");
  await sleep(300);
  assert.equal(changes, 0);
  await writeFile(path.join(folder, "index.html.new"), "a");
  await rename(path.join(folder, "index.html.new"), path.join(folder, "index.html"));
  assert.equal(await told(), 1);
});

test("temporary files of editors are ignored", async () => {
  for (const name of [".a.js.swp", "a.js~", "4913"]) await writeFile(path.join(folder, "deck", name), "a");
  await sleep(300);
  assert.equal(changes, 0);
});
