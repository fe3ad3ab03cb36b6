/**
 * Live data: the server of `npm run present` announces which files changed on disk. A static site has no such server, so
 * none of this runs.
 */

/**
 * Listens for changed files if the page's server announces them.
 * @param {{onData: (files: string[]) => void, onSource: () => void, onMissed: () => void}} handlers
 *   onData: addresses of CSV files and manifests that appeared, changed or went;
 *   onSource: a slide or the deck itself changed; onMissed: something changed before the page was
 *   connected, or while it was not
 * @returns {EventSource|null}
 */
export function listen({ onData, onSource, onMissed }, page = document) {
  const address = page.querySelector('meta[name="replay:events"]')?.content;
  if (!address) return null;
  const events = new EventSource(address);
  events.addEventListener("data", (event) => onData(JSON.parse(event.data).files));
  events.addEventListener("source", () => onSource());
  events.addEventListener("missed", () => onMissed());
  return events;
}
