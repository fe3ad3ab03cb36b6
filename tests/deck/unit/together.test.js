/** The browser tests run in groups. */
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { GROUPS } from "../support/together.js";

const DECK = path.resolve(import.meta.dirname, "..");

test("every browser test is in exactly one group, and every group is run", async () => {
  const files = await readdir(path.join(DECK, "browser"));
  assert.deepEqual(
    GROUPS.flat()
      .map((name) => `${name}.test.js`)
      .sort(),
    files.filter((name) => name.endsWith(".test.js")).sort(),
  );
  const runs = await readdir(path.join(DECK, "together"));
  const numbers = await Promise.all(
    runs.map(async (name) => {
      const text = await readFile(path.join(DECK, "together", name), "utf8");
      return Number(/^await runGroup\((\d+)\);$/m.exec(text)?.[1]);
    }),
  );
  assert.deepEqual(
    numbers.sort(),
    GROUPS.map((_, position) => position + 1),
  );
});
