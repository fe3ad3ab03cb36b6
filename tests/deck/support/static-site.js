/** The built site on a plain static server, in a subfolder. */

import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { serveFolder } from "../../../scripts/deck/static-server.js";
import { FIXTURE } from "./fixture.js";

/** What a published talk must say, and where it is not. */
const ADDRESSES = { REPLAY_HOMEPAGE: "", REPLAY_REPOSITORY: "https://people.example/talk" };

/** The folder of the site with the fixture's data, built once for all test files of a process, which only read it. */
let built = null;

async function buildFixtureSite() {
  const root = await mkdtemp(path.join(tmpdir(), "replay-site-"));
  process.once("exit", () => rmSync(root, { recursive: true, force: true }));
  const folder = path.join(root, "dist");
  await promisify(execFile)("node", ["scripts/build.mjs", "--out", folder], {
    cwd: PROJECT,
    env: { ...process.env, ...ADDRESSES, REPLAY_BENCHMARKS: FIXTURE },
  });
  return folder;
}

/**
 * Serves the built site with the fixture's data.
 * @returns {Promise<{url: string, folder: string, close: () => Promise<void>}>} `folder` is where the site lies
 */
export async function startFixtureSite() {
  built ??= buildFixtureSite();
  const folder = await built;
  const server = await serveFolder(folder, { under: "/some/where/" });
  return { url: server.url, folder, close: () => server.close() };
}
