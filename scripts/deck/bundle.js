/**
 * The bundle that `npm run present` serves: the same files as the published site, without slides and data.
 * It is kept in `.cache/deck/<digest of its sources>` and built only when they changed.
 */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { statedFacts } from "./addresses.js";
import { PROJECT, talkRoot } from "./data-sets.js";
import { readTalks, talkNames } from "./talk-file.js";

const CACHE = path.join(PROJECT, ".cache", "deck");
const BUILDER = path.join(import.meta.dirname, "build-bundle.mjs");
/** The parts of this folder that affect the bundle. */
const BUNDLERS = [
  "build-bundle.mjs",
  "vite-config.js",
  "policy.js",
  "addresses.js",
  "talk-file.js",
  "look.js",
  "talk-page.js",
].map((name) => `scripts/deck/${name}`);
const SOURCES = ["index.html", "deck", "css", "package.json", "package-lock.json", ...BUNDLERS];

/** Absolute paths of the folders and files that affect the bundle. */
export async function bundleSources() {
  const plugins = path.join(PROJECT, "plugins");
  const parts = (await readdir(plugins)).map((name) => path.join(plugins, name, "src"));
  const own = SOURCES.map((name) => path.join(PROJECT, name));
  const talks = readTalks(talkRoot()).map(({ file }) => path.join(talkRoot(), file));
  const kinds = talkNames(PROJECT).map((name) => path.join(PROJECT, "slides", name, "kinds"));
  return [...own, ...talks, ...kinds, ...parts].filter((name) => existsSync(name));
}

/** @returns {Promise<string>} digest of every source file's name and content, of the talks' order, looks and addresses */
export async function bundleDigest(sources) {
  const talks = readTalks(talkRoot()).map((talk) => [talk.name, talk.look, statedFacts(talk)]);
  const hash = createHash("sha256").update(JSON.stringify(talks));
  for (const file of (await Promise.all(sources.map(filesBelow))).flat().sort()) {
    hash.update(`${path.relative(PROJECT, file)}\0`).update(await readFile(file));
  }
  return hash.digest("hex").slice(0, 16);
}

/**
 * Returns the folder of a bundle of the current sources.
 * @returns {Promise<{folder: string, built: boolean}>}
 */
export async function ensureBundle() {
  const folder = path.join(CACHE, await bundleDigest(await bundleSources()));
  if (existsSync(path.join(folder, "index.html"))) {
    // Other programs remove what nobody has used for a day. It may be somebody else's.
    const now = new Date();
    await utimes(folder, now, now).catch(() => {});
    return { folder, built: false };
  }
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(path.join(CACHE, "building-"));
  try {
    await promisify(execFile)(process.execPath, [BUILDER, work]).catch((error) => {
      throw new Error(error.stderr?.trim() || error.message);
    });
    // Renamed into place, so that two servers started together never serve half a bundle.
    await rename(work, folder).catch((error) => {
      if (!existsSync(path.join(folder, "index.html"))) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return { folder, built: true };
}

/** Removes bundles that no program has begun to use for a day, except the one in use. */
export async function removeOldBundles(inUse) {
  const yesterday = Date.now() - 24 * 3600 * 1000;
  for (const name of await readdir(CACHE).catch(() => [])) {
    const folder = path.join(CACHE, name);
    if (folder === inUse) continue;
    const facts = await stat(folder).catch(() => null);
    if (facts && facts.mtimeMs < yesterday) await rm(folder, { recursive: true, force: true });
  }
}

async function filesBelow(name) {
  const entries = await readdir(name, { withFileTypes: true }).catch((error) => {
    if (error.code === "ENOTDIR") return null;
    throw error;
  });
  if (entries === null) return [name];
  return (await Promise.all(entries.map((entry) => filesBelow(path.join(name, entry.name))))).flat();
}
