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

/** The folders of the sites, by name, each built once for all test files of a process, which only read it. */
const built = new Map();

async function build(options, environmentIn) {
  const root = await mkdtemp(path.join(tmpdir(), "replay-site-"));
  process.once("exit", () => rmSync(root, { recursive: true, force: true }));
  const folder = path.join(root, "dist");
  await promisify(execFile)(process.execPath, ["scripts/build.mjs", "--out", folder, ...options], {
    cwd: PROJECT,
    env: { ...environmentIn(root), ...ADDRESSES },
  });
  return folder;
}

async function start(name, options, environmentIn) {
  if (!built.has(name)) built.set(name, build(options, environmentIn));
  const folder = await built.get(name);
  const server = await serveFolder(folder, { under: "/some/where/" });
  return { url: server.url, folder, close: () => server.close() };
}

/**
 * Serves the built site with the fixture's data.
 * @param {{preview?: boolean}} [wanted]   whether it has the picture for messengers
 * @returns {Promise<{url: string, folder: string, close: () => Promise<void>}>} `folder` is where the site lies
 */
export function startFixtureSite({ preview = true } = {}) {
  const options = preview ? [] : ["--no-preview"];
  const environment = { ...process.env, REPLAY_BENCHMARKS: FIXTURE };
  return start(`fixture ${options}`, options, () => environment);
}

/**
 * Serves the built site with the data that ship, which alone has pages of charts and of claims; without a picture. It is
 * built where there is Node and nothing else, neither a shell nor Python: no program is on the path.
 */
export function startShippedSite() {
  return start("shipped", ["--no-preview"], (folder) => ({ PATH: folder, HOME: folder }));
}
