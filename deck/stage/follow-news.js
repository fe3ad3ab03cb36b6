/** Updates the page in place when files change; the present server says which ones. */

import { ownerOf, runsUrl } from "chartjs-plugin-csv";

import { listen } from "../data/live.js";

/**
 * @param {object} data   data on show
 * @param {(isChanged: (slot: {url: string|null}) => boolean) => Promise<void>} update   updates the page; its argument
 *   tells whether one of a chart's files changed
 */
export function followNews(data, update) {
  /** Reads changed files again. `files` are addresses; null means any file. */
  async function follow(files) {
    if (files === null || files.some((file) => !file.endsWith(".csv"))) await data.load();
    else await data.loadList();
    const changed = files && new Set(files.map((file) => ownerOf(file).url));
    await update(
      ({ url }) => changed === null || [url, url && runsUrl(url)].some((file) => changed.has(file)),
    );
  }

  /** Handles one change after the other, so that an earlier read never overwrites a later one. */
  let latest = Promise.resolve();
  function followInTurn(files) {
    latest = latest
      .then(() => follow(files))
      // Handle the next change all the same.
      .catch((error) => console.error("The changed files could not be read:", error));
  }

  listen({
    onData: followInTurn,
    onMissed: () => followInTurn(null),
    onSource: () => location.reload(),
  });
}
