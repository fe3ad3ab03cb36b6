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

/** The folders of the sites, by their data, each built once for all test files of a process, which only read it. */
const built = new Map();

async function build(benchmarks, options) {
  const root = await mkdtemp(path.join(tmpdir(), "replay-site-"));
  process.once("exit", () => rmSync(root, { recursive: true, force: true }));
  const folder = path.join(root, "dist");
  await promisify(execFile)("node", ["scripts/build.mjs", "--out", folder, ...options], {
    cwd: PROJECT,
    env: { ...process.env, ...ADDRESSES, REPLAY_BENCHMARKS: benchmarks },
  });
  return folder;
}

async function start(benchmarks, options = []) {
  if (!built.has(benchmarks)) built.set(benchmarks, build(benchmarks, options));
  const folder = await built.get(benchmarks);
  const server = await serveFolder(folder, { under: "/some/where/" });
  return { url: server.url, folder, close: () => server.close() };
}

/**
 * Serves the built site with the fixture's data.
 * @returns {Promise<{url: string, folder: string, close: () => Promise<void>}>} `folder` is where the site lies
 */
export function startFixtureSite() {
  return start(FIXTURE);
}

/** Serves the built site with the data that ship, which alone has pages of charts and of claims; without a picture. */
export function startShippedSite() {
  return start("", ["--no-preview"]);
}
