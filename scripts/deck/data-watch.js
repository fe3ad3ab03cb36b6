/**
 * Notices changed data files. The kernel only reports that a folder changed; the files are
 * found by comparing two scans, so that files written in place, renamed into place, and folders that appear
 * later are all met in one way.
 */

import { existsSync, watch } from "node:fs";
import path from "node:path";

import { scanBenchmarks } from "./data-sets.js";

const SETTLE_MS = 30;
const SAFETY_SCAN_MS = 3000;

/**
 * Watches a folder of data sets until `close()`.
 * @param {{root: string, onChange: (files: string[]) => void, safetyScanMs?: number}} options
 *   onChange gets the paths below root that appeared, changed or went; safetyScanMs: how often to look without having been
 *   notified
 * @returns {Promise<{close: () => void}>} resolves when changes from now on will be noticed
 */
export async function watchData({ root, onChange, safetyScanMs = SAFETY_SCAN_MS }) {
  const watchers = new Map();
  let known = new Map();
  let timer = null;
  let closed = false;
  let comparing = compare();

  function soon() {
    if (closed || timer !== null) return;
    timer = setTimeout(() => {
      // One after the other, and no more than one waits.
      comparing = comparing.then(() => {
        timer = null;
        return compare();
      });
    }, SETTLE_MS);
  }

  async function compare() {
    try {
      const { files, folders } = await scanBenchmarks(root);
      if (closed) return;
      watchFolders(folders);
      const changed = differences(known, files);
      known = files;
      if (changed.length) onChange(changed);
    } catch {
      // A folder that cannot be read now is read by the next scan.
    }
  }

  function watchFolders(folders) {
    const wanted = new Set(folders.map((folder) => nearestExisting(folder)));
    for (const [folder, watcher] of watchers) {
      if (wanted.has(folder) && existsSync(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    for (const folder of wanted) if (!watchers.has(folder)) addWatcher(folder);
  }

  function addWatcher(folder) {
    try {
      const watcher = watch(folder, { persistent: false }, soon);
      watcher.on("error", () => {
        watcher.close();
        watchers.delete(folder);
        soon();
      });
      watchers.set(folder, watcher);
      // One more scan finds files that were created in the folder before it was watched.
      soon();
    } catch {
      // The folder disappeared, or the system has no watches left; the safety scan remains.
    }
  }

  await comparing;
  // Network file systems send no notifications, and a watched folder may be replaced by another.
  const safety = setInterval(soon, safetyScanMs);
  safety.unref();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
      clearInterval(safety);
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

/** Paths whose signature differs between two scans, sorted. */
export function differences(before, after) {
  const changed = new Set();
  for (const [file, signature] of after) if (before.get(file) !== signature) changed.add(file);
  for (const file of before.keys()) if (!after.has(file)) changed.add(file);
  return [...changed].sort();
}

function nearestExisting(folder) {
  let place = folder;
  while (!existsSync(place) && path.dirname(place) !== place) place = path.dirname(place);
  return place;
}
