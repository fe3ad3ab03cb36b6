/**
 * Runs test files in one process, one after another: they share its browser, which costs as much to start as three pages.
 * Each file is a suite with its own beginning and end, and runs alone as well.
 */
import { readdirSync } from "node:fs";
import path from "node:path";
import { after, before, describe } from "node:test";

import { launchPatiently } from "./browser.js";

const FOLDER = path.resolve(import.meta.dirname, "../browser");
const NAMED = [
  ["axe", "keyboard", "stage", "counts"],
  ["pdf", "print", "errors", "navigation", "imported"],
  ["layout", "reader", "views", "speaker"],
  ["canvas", "chart-tools", "perf"],
  ["origin", "claims", "comparison", "deck"],
  ["site", "recorded-run", "front-page", "phone"],
];

/**
 * The files of tests/deck/browser in groups, by name. The longest come first, so that two groups at a time end at about
 * the same time. Those that no group names are the last group.
 */
export const GROUPS = [
  ...NAMED,
  readdirSync(FOLDER)
    .filter((file) => file.endsWith(".test.js"))
    .map((file) => file.replace(/\.test\.js$/, ""))
    .filter((name) => !NAMED.flat().includes(name)),
];

/** Runs the group of that number, counted from 1. */
export async function runGroup(number) {
  let browser;
  before(async () => {
    browser = await launchPatiently();
  });
  after(() => browser?.close());
  for (const name of GROUPS[number - 1])
    // One after another: what a file defines belongs to the suite that imports it, if no other import is under way.
    await new Promise((resolve) => {
      describe(name, () => import(path.join(FOLDER, `${name}.test.js`)).finally(resolve));
    });
}
