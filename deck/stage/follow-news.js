/** Updates the page in place when files change on disk, as the server of `npm run present` announces it. */

/**
 * @param {string} address   where it announces them
 * @param {object} data   data on show
 * @param {(isChanged: (slot: object) => boolean) => Promise<void>} update   updates the page; its argument tells whether one
 *   of a chart's files changed
 */
export function followNews(address, data, update) {
  /** Reads changed files again. `files` are addresses; null means any file. */
  async function follow(files) {
    if (files === null || files.some((file) => !file.endsWith(".csv"))) await data.load();
    else await data.loadList();
    await update((slot) => files === null || (slot.chart !== null && files.some((file) => slot.reads(file))));
  }

  /** Handles one change after the other, so that an earlier read never overwrites a later one. */
  let latest = Promise.resolve();
  function followInTurn(files) {
    latest = latest
      .then(() => follow(files))
      // Handle the next change all the same.
      .catch((error) => console.error("The changed files could not be read:", error));
  }

  const events = new EventSource(address);
  // CSV files and manifests that appeared, changed or went.
  events.addEventListener("data", (event) => followInTurn(JSON.parse(event.data).files));
  // Something changed before the page was connected, or while it was not.
  events.addEventListener("missed", () => followInTurn(null));
  // A slide or the deck itself changed.
  events.addEventListener("source", () => location.reload());
}
