/**
 * Live data: the server of `npm run present` announces which files changed on disk. A static site has no such server, so
 * none of this runs.
 */

/**
 * Listens for changed files if the page's server announces them.
 * @param {{onData: (files: string[]) => void, onSource: () => void, onMissed: () => void}} handlers
 *   onData: addresses of CSV files and manifests that appeared, changed or went;
 *   onSource: a slide or the deck itself changed; onMissed: the connection was lost and is back
 * @returns {EventSource|null}
 */
export function listen({ onData, onSource, onMissed }, page = document) {
  const address = page.querySelector('meta[name="replay:events"]')?.content;
  if (!address) return null;
  const events = new EventSource(address);
  let lost = false;
  events.addEventListener("open", () => {
    if (lost) onMissed();
    lost = false;
  });
  events.addEventListener("error", () => {
    lost = true;
  });
  events.addEventListener("data", (event) => onData(JSON.parse(event.data).files));
  events.addEventListener("source", () => onSource());
  return events;
}
