/** Notices that an author edited a slide or the deck itself, so that open pages can be loaded anew. */

import { existsSync, statSync, watch } from "node:fs";
import path from "node:path";

const SETTLE_MS = 120;

/**
 * @param {{places: string[], onChange: () => void}} options   places: files and folders, absolute; folders are
 *   watched without what lies below them. onChange is called once a burst of changes has settled.
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
  const watchers = [];
  for (const place of places.filter((name) => existsSync(name))) {
    // An editor that renames a new file into place would end a watch on the file itself: its folder is watched.
    const isFolder = statSync(place).isDirectory();
    const folder = isFolder ? place : path.dirname(place);
    const watcher = watch(folder, { persistent: false }, (_, name) => {
      if (isFolder || name === path.basename(place)) soon(name);
    });
    watcher.on("error", () => watcher.close());
    watchers.push(watcher);
  }
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
