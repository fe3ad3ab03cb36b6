/** Notices that an author edited a slide or the deck itself, so that open pages can be reloaded. */

import { existsSync, readdirSync, statSync, watch } from "node:fs";
import path from "node:path";

const SETTLE_MS = 120;

/**
 * @param {{places: string[], onChange: () => void, onUnwatched?: (error: Error) => void}} options   places: files and folders,
 *   absolute; folders are watched with those below them. onChange is called once a burst of changes has settled, onUnwatched
 *   once if the system has too few watches for all folders.
 * @returns {{close: () => void}}
 */
export function watchSources({ places, onChange, onUnwatched = () => {} }) {
  let timer = null;
  let isTold = false;
  const watchers = new Map();
  const soon = (name) => {
    // Editors' own files: swap files, backups, numbers that probe whether a folder is writable.
    if (name && /^\.|~$|^\d+$/.test(path.basename(name))) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      try {
        watchAll();
      } catch (error) {
        // A folder that goes while it is looked at is a change of its own.
        if (error.code !== "ENOENT") throw error;
      }
      onChange();
    }, SETTLE_MS);
  };

  /** Watches what is not watched yet: a change may be a new folder. */
  function watchAll() {
    for (const { folder, only } of places.filter((name) => existsSync(name)).flatMap(watchedFolders)) {
      const key = `${folder}\0${only}`;
      if (!watchers.has(key)) addWatcher(key, folder, only);
    }
  }

  function addWatcher(key, folder, only) {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (only === null || name === only) soon(name);
        // One that comes again is watched again.
        if (!existsSync(folder)) forget(key);
      });
      watcher.on("error", () => forget(key));
      watchers.set(key, watcher);
    } catch (error) {
      // The folder disappeared, or the system has no watches left; it is tried again after the next change.
      if (error.code === "ENOENT" || isTold) return;
      isTold = true;
      onUnwatched(error);
    }
  }

  function forget(key) {
    watchers.get(key)?.close();
    watchers.delete(key);
  }

  watchAll();
  return {
    close() {
      clearTimeout(timer);
      for (const key of [...watchers.keys()]) forget(key);
    },
  };
}

/** What has to be watched for a place. An editor that renames a new file into place would end a watch on the file. */
function watchedFolders(place) {
  if (!statSync(place).isDirectory()) return [{ folder: path.dirname(place), only: path.basename(place) }];
  const below = readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.join(entry.parentPath, entry.name));
  return [place, ...below].map((folder) => ({ folder, only: null }));
}
