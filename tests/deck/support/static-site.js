/** The built site on a plain static server, in a subfolder. */

import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { serveFolder } from "../../../scripts/deck/static-server.js";

/** What a published talk must say, and where it is not. */
const ADDRESSES = { REPLAY_HOMEPAGE: "", REPLAY_REPOSITORY: "https://people.example/talk" };

/**
 * Builds the site and serves it.
 * @param {{benchmarks: string, args?: string[]}} options   folder of data sets; further options of the build
 * @returns {Promise<{url: string, folder: string, close: () => Promise<void>}>} `folder` is where the site lies
 */
export async function startBuiltSite({ benchmarks, args = [] }) {
  const root = await mkdtemp(path.join(tmpdir(), "replay-site-"));
  const folder = path.join(root, "dist");
  await promisify(execFile)("node", ["scripts/build.mjs", "--out", folder, ...args], {
    cwd: PROJECT,
    env: { ...process.env, ...ADDRESSES, REPLAY_BENCHMARKS: benchmarks },
  });
  const server = await serveFolder(folder, { under: "/some/where/" });
  return {
    url: server.url,
    folder,
    async close() {
      await server.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}
