/** Where a site may be written, and how: a complete site replaces what is there, an incomplete one never does. */

import { existsSync, readFileSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { PUBLISHED } from "./constants.js";
import { PROJECT } from "./data-sets.js";

/**
 * @param {string} outDir   absolute
 * @param {string} shown    as the person named it
 * @returns {Promise<string|null>} why a site must not be written there, in a sentence; or null
 */
export async function whyNoSiteIn(outDir, shown) {
  if (existsSync(outDir) && !statSync(outDir).isDirectory())
    return `${shown} is a file; name a folder with --out.`;
  const holdsProject = outDir === PROJECT || PROJECT.startsWith(outDir + path.sep);
  const foreign = existsSync(outDir) && !isSite(outDir);
  if (holdsProject || (foreign && (await readdir(outDir)).length > 0))
    return `${shown} holds other files than a built site; name an empty folder with --out.`;
  return null;
}

/** Other folders have an index.html, too: a site of something else, or another checkout of Replay. */
function isSite(folder) {
  const page = path.join(folder, "index.html");
  return existsSync(page) && readFileSync(page, "utf8").includes(`"${PUBLISHED}"`);
}

/**
 * Has a folder made beside `outDir`, and replaces `outDir` with it once it is complete. Until then nothing
 * there changes; when `make` fails, or the program is ended, what was made so far is removed.
 * @template Made
 * @param {string} outDir   absolute
 * @param {(folder: string) => Promise<Made>} make   fills the folder, which is there and empty
 * @returns {Promise<Made>}
 */
export async function replaceFolder(outDir, make) {
  // Where a link leads, the folder is replaced, and the link stays.
  const place = existsSync(outDir) ? realpathSync(outDir) : outDir;
  await mkdir(path.dirname(place), { recursive: true });
  removeLeftovers(place);
  const folder = await newFolderFor(place);
  const discard = () => rmSync(folder, { recursive: true, force: true });
  const discardAtExit = () => removeWhileWritten(folder);
  process.on("exit", discardAtExit);
  try {
    const made = await make(folder);
    await putInPlace(folder, place);
    return made;
  } finally {
    process.off("exit", discardAtExit);
    discard();
  }
}

// At its end a program looks until a folder stayed away for a fifth of a second, for two seconds at most.
const LOOK_MS = 20;
const QUIET_LOOKS = 10;
const MOST_LOOKS = 100;

const prefixOf = (place) => `.${path.basename(place)}-building-`;
const besides = (place, rest) => path.join(path.dirname(place), `${prefixOf(place)}${rest}`);

async function newFolderFor(place) {
  const folder = besides(place, process.pid);
  try {
    await mkdir(folder);
    return folder;
  } catch (error) {
    // Who may write to a folder may not always write beside it.
    if (!["EACCES", "EPERM", "EROFS"].includes(error.code)) throw error;
    return mkdtemp(path.join(tmpdir(), "replay-building-"));
  }
}

/** Removes a folder that threads of this very program may write to yet: what they had begun when it was ended. */
function removeWhileWritten(folder) {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  let quiet = 0;
  for (let tries = 0; quiet < QUIET_LOOKS && tries < MOST_LOOKS; tries += 1) {
    quiet = existsSync(folder) ? 0 : quiet + 1;
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (!["ENOTEMPTY", "EBUSY", "EPERM"].includes(error.code)) throw error;
    }
    Atomics.wait(clock, 0, 0, LOOK_MS);
  }
}

/** Folders of programs that were killed before they could tidy up. */
function removeLeftovers(place) {
  for (const name of readdirSync(path.dirname(place))) {
    if (!name.startsWith(prefixOf(place))) continue;
    const rest = name.slice(prefixOf(place).length);
    const pid = /^(\d+)(?:-old)?$/.exec(rest)?.[1];
    if (pid && !isRunning(Number(pid))) rmSync(besides(place, rest), { recursive: true, force: true });
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

async function putInPlace(folder, place) {
  const old = besides(place, `${process.pid}-old`);
  const existed = existsSync(place);
  try {
    if (existed) await rename(place, old);
  } catch {
    // A folder that cannot be renamed, as one that a disk is mounted at, gets other content.
    for (const name of await readdir(place)) await rm(path.join(place, name), { recursive: true });
    await cp(folder, place, { recursive: true });
    return;
  }
  try {
    await rename(folder, place);
  } catch (error) {
    if (existed) await rename(old, place);
    throw error;
  }
  await rm(old, { recursive: true, force: true });
}
