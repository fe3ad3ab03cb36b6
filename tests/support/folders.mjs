/** Folders for tests. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/**
 * An empty folder, which is removed when a test, or all tests of a file, have ended.
 * @param {{after: Function}} context   of a test, or `{ after }` of node:test
 * @returns {Promise<string>}
 */
export async function temporaryFolder(context) {
  const folder = await mkdtemp(path.join(tmpdir(), "replay-test-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
