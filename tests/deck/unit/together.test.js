/** Browser tests that run in groups. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { TOGETHER } from "../../../plugins/chartjs-plugin-csv/test/together/files.js";
import { GROUPS, OWN_FOLDER, testSteps } from "../../../scripts/npm/test-steps.mjs";

const DECK = path.resolve(import.meta.dirname, "..");

test("every group is run once", async () => {
  const files = testSteps()
    .flatMap((step) => step.argv("report"))
    .filter((word) => word.startsWith(`${OWN_FOLDER}/groups/`));
  const numbers = await Promise.all(
    files.map(async (name) => {
      const text = await readFile(path.resolve(DECK, "../..", name), "utf8");
      return Number(/^await runGroup\((\d+)\);$/m.exec(text)?.[1]);
    }),
  );
  assert.deepEqual(
    numbers.sort(),
    GROUPS.map((_, position) => position + 1),
  );
});

test("each browser test is run in exactly one group, or alone", async () => {
  const words = testSteps().flatMap((step) => step.argv("report"));
  for (const file of await readdir(path.join(DECK, "browser"))) {
    const groups = GROUPS.filter((names) => names.includes(file.replace(/\.test\.js$/, "")));
    const alone = words.filter((word) => word === `tests/deck/browser/${file}`);
    assert.equal(groups.length + alone.length, 1, file);
  }
  for (const name of GROUPS.flat())
    assert.ok(existsSync(path.join(DECK, "browser", `${name}.test.js`)), name);
});

test("each browser test of the plugin is run once", async () => {
  const words = testSteps().flatMap((step) => step.argv("report"));
  const folder = path.resolve(DECK, "../../plugins/chartjs-plugin-csv/test");
  const files = (await readdir(folder)).filter((name) => /^browser.*\.test\.js$/.test(name));
  for (const file of files) {
    const alone = words.filter((word) => word === `plugins/chartjs-plugin-csv/test/${file}`);
    const together = TOGETHER.filter((name) => `${name}.test.js` === file);
    assert.equal(alone.length + together.length, 1, file);
  }
  for (const name of TOGETHER) assert.ok(files.includes(`${name}.test.js`), name);
  assert.ok(words.includes("plugins/chartjs-plugin-csv/test/together/browser.test.js"));
});
