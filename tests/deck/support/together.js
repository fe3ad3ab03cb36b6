/**
 * Runs test files in one process, one after another: they share its browser, which costs as much to start as three pages.
 * Each file is a suite with its own beginning and end, and runs alone as well.
 */
import { after, before, describe } from "node:test";

import { launchPatiently } from "./browser.js";
import { GROUPS } from "../../../scripts/npm/test-steps.mjs";

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
      describe(name, () => import(`../browser/${name}.test.js`).finally(resolve));
    });
}
