/** Notices that an author edited a slide or the deck itself, so that open pages can be reloaded. */

import { existsSync, readdirSync, statSync, watch } from "node:fs";
import path from "node:path";

const SETTLE_MS = 120;

/**
 * @param {{places: string[], onChange: () => void}} options   places: files and folders, absolute; folders are watched
 *   with the folders that lie below them now. onChange is called once a burst of changes has settled.
 * @returns {{close: () => void}}
 */
export function watchSources({ places, onChange }) {
  let timer = null;
  const soon = (name) => {
    // Editors' own files: swap files, backups, numbers that probe whether a folder is writable.
    if (name && /^\.|~$|^\d+$/.test(path.basename(name))) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, SETTLE_MS);
  };
  const watchers = places
    .filter((name) => existsSync(name))
    .flatMap(watchedFolders)
    .map(({ folder, only }) => {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (only === null || name === only) soon(name);
      });
      watcher.on("error", () => watcher.close());
      return watcher;
    });
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
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
