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
      const identity = identityOf(folder);
      // Another folder has taken its place; the watch would stay with the old one.
      if (watchers.has(key) && watchers.get(key).identity !== identity) forget(key);
      if (!watchers.has(key)) addWatcher(key, folder, only, identity);
    }
  }

  function addWatcher(key, folder, only, identity) {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (only === null || name === only) soon(name);
        // One that comes again is watched again.
        if (!existsSync(folder)) forget(key);
      });
      watcher.on("error", () => forget(key));
      watchers.set(key, { watcher, identity });
    } catch (error) {
      // The folder disappeared, or the system has no watches left; it is tried again after the next change.
      if (error.code === "ENOENT" || isTold) return;
      isTold = true;
      onUnwatched(error);
    }
  }

  function forget(key) {
    watchers.get(key)?.watcher.close();
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

/** Tells a folder from another of its name; a number that became free may be given again. */
function identityOf(folder) {
  const { ino, birthtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? {};
  return `${ino} ${birthtimeMs}`;
}

/** What has to be watched for a place. An editor that renames a new file into place would end a watch on the file. */
function watchedFolders(place) {
  if (!statSync(place).isDirectory()) return [{ folder: path.dirname(place), only: path.basename(place) }];
  const below = readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.join(entry.parentPath, entry.name));
  return [place, ...below].map((folder) => ({ folder, only: null }));
}
