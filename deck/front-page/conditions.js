/**
 * Who a measurement applies to, according to its manifest: the limiting resource, the load, the layout.
 * `<ul data-applies="rbd-journaling"></ul>` lists it. Pure but for `writeConditions`.
 */

import { formatPercent } from "../data/format.js";
import { renewChildren } from "../page/in-place.js";

/** The most frequent limiter, as a condition; `share` is its share of the runs. */
const LIMITS = {
  cpu: (share) =>
    `your cluster runs out of processors before disks and network, as this one did in ${share} of its runs`,
  disk: (share) => `your cluster waits for its disks, as this one did in ${share} of its runs`,
  network: (share) => `your cluster waits for its network, as this one did in ${share} of its runs`,
  none: (share) => `nothing on your cluster reaches its limit, as here in ${share} of the runs`,
};

/**
 * @param {object|null} manifest
 * @param {string} name   the experiment
 * @returns {string[]} each continues "It applies to you if"; empty if nothing is recorded
 */
export function conditionsOf(manifest, name) {
  const experiment = manifest?.experiments?.[name];
  if (!experiment) return [];
  const { io_threads: inFlight } = experiment.parameters ?? {};
  const { replicas, clusters } = manifest.setup ?? {};
  return [
    limitOf(experiment.limiters),
    Number.isFinite(inFlight) && `your client has many operations in flight at once: here ${inFlight}`,
    Number.isFinite(replicas) && `your pools keep the same number of replicas: here ${replicas}`,
    clusters > 1 &&
      manifest.machines?.length === 1 &&
      "your second site shares the machine with the first, as here; with machines of its own, mirroring may cost the client less",
  ].filter(Boolean);
}

/** The limiter of most runs, in words; null if none is recorded. */
function limitOf(limiters) {
  const counts = Object.entries(limiters ?? {}).filter(([, count]) => count > 0);
  if (counts.length === 0) return null;
  const runs = counts.reduce((sum, [, count]) => sum + count, 0);
  const [limiter, count] = counts.reduce((most, one) => (one[1] > most[1] ? one : most));
  const say =
    LIMITS[limiter] ?? ((share) => `your cluster is limited by ${limiter}, as here in ${share} of the runs`);
  return say(formatPercent(count / runs));
}

/** Writes or updates every such list below `page`. */
export function writeConditions(page, manifest) {
  for (const list of page.querySelectorAll("[data-applies]")) {
    const conditions = conditionsOf(manifest, list.dataset.applies);
    const texts = conditions.length ? conditions : ["nobody recorded how these data were measured"];
    renewChildren(
      list,
      texts.map((text, at) => {
        const item = list.ownerDocument.createElement("li");
        item.textContent = `${text}${at === texts.length - 1 ? "." : ";"}`;
        return item;
      }),
    );
  }
}
