/** Folders for tests. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/**
 * An empty folder, which is removed when a test, or all tests of a file or a suite, have ended.
 * @param {{after: Function}} context   of a test, or `{ after }` of node:test
 * @returns {string}
 */
export function temporaryFolder(context) {
  const folder = mkdtempSync(path.join(tmpdir(), "replay-test-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
