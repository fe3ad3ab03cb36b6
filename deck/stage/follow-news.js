/** Changed files reach the page in place: which of them changed is told by the present server. */

import { ownerOf } from "chartjs-plugin-csv";

import { listen } from "../data/live.js";

/**
 * @param {object} data   data on show
 * @param {(isChanged: (slot: {url: string|null}) => boolean) => Promise<void>} update   brings the page up to date; gets
 *   whether a chart's file changed
 */
export function followNews(data, update) {
  /** Reads changed files again. `files` are addresses; null stands for anything. */
  async function follow(files) {
    if (files === null || files.some((file) => !file.endsWith(".csv"))) await data.load();
    else await data.loadList();
    const changed = files && new Set(files.map((file) => ownerOf(file).url));
    await update(({ url }) => changed === null || changed.has(url));
  }

  /** One piece of news after the other, so that what was read later is not overwritten by what was read before. */
  let latest = Promise.resolve();
  function followInTurn(files) {
    latest = latest
      .then(() => follow(files))
      // The next piece of news is followed all the same.
      .catch((error) => console.error("What changed could not be read:", error));
  }

  listen({
    onData: followInTurn,
    onMissed: () => followInTurn(null),
    onSource: () => location.reload(),
  });
}
