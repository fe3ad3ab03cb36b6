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

/**
 * Builds a site and serves it.
 * @param {(root: string) => Record<string, string>} environmentIn   what the build is told, given an empty folder
 * @returns {Promise<{url: string, folder: string, said: {stdout: string, stderr: string}, close: () => Promise<void>}>}
 *   folder: where the site lies, until the tests end; said: by the build
 */
async function start(environmentIn) {
  const root = await mkdtemp(path.join(tmpdir(), "replay-site-"));
  process.once("exit", () => rmSync(root, { recursive: true, force: true }));
  const folder = path.join(root, "dist");
  const said = await promisify(execFile)(process.execPath, ["scripts/build.mjs", "--out", folder], {
    cwd: PROJECT,
    env: { ...environmentIn(root), REPLAY_REPOSITORY: "https://people.example/talk" },
  });
  const server = await serveFolder(folder, { under: "/some/where/" });
  return { url: server.url, folder, said, close: () => server.close() };
}

/** Serves the built site with the fixture's data. */
export function startFixtureSite() {
  return start(() => ({ ...process.env, REPLAY_BENCHMARKS: FIXTURE, REPLAY_HOMEPAGE: "" }));
}

/**
 * Serves the built site with the data that ship, which alone has pages of charts and of claims. It is built where there is
 * Node and nothing else, neither a shell nor Python nor a browser that starts: no program is on the path.
 */
export function startShippedSite() {
  return start((folder) => ({
    ...{ PATH: folder, HOME: folder, CHROMIUM: "/bin/false" },
    REPLAY_HOMEPAGE: "https://talk.example/x",
  }));
}
