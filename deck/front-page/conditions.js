/**
 * Who a measurement applies to, according to its manifest: release, machine, media, the limiting resource, the load, the layout.
 * `<ul data-applies="rbd-journaling"></ul>` lists it for that experiment, `<ul data-applies="answer"></ul>` for those behind
 * the answer chart. Pure but for `writeConditions`.
 */

import { formatValue } from "chartjs-plugin-csv";

import { waysOf } from "../data/answer.js";
import { formatPercent } from "../data/format.js";
import { element } from "../page/elements.js";
import { renewChildren } from "../page/in-place.js";

/** Stands for the experiments behind the answer chart. */
export const ANSWER = "answer";

/** The most frequent limiter, as a condition; `share` is its share of the runs. */
const LIMITS = {
  cpu: (share) => `processors run out before disks and network, as in ${share} of these runs`,
  disk: (share) => `your clients wait for the disks, as in ${share} of these runs`,
  network: (share) => `your clients wait for the network, as in ${share} of these runs`,
  none: (share) => `nothing on your cluster reaches its limit, as in ${share} of these runs`,
};
const MEDIA = "media_write_operations_per_second";
/** The site that Replay starts itself: both clusters on the machine that measures. */
const SANDBOX = "sandbox";

/**
 * @param {object|null} manifest
 * @param {string[]} names   the experiments
 * @returns {string[]} each continues "It applies to you if"; empty if nothing is recorded
 */
export function conditionsOf(manifest, names) {
  const experiments = names.map((name) => manifest?.experiments?.[name]).filter(Boolean);
  const { replicas, ceph_release: release, ceph_version: version } = manifest?.setup ?? {};
  const inFlight = experiments.map(({ parameters }) => parameters?.io_threads).find(Number.isFinite);
  return [
    (release || version) && `you run Ceph ${release || version}`,
    machineOf(manifest),
    limitOf(experiments.map(({ limiters }) => limiters)),
    mediaOf(manifest),
    Number.isFinite(inFlight) && `a client keeps about as many operations in flight: here ${inFlight}`,
    Number.isFinite(replicas) && `your pools keep as many replicas: here ${replicas}`,
  ].filter(Boolean);
}

/** How large a machine is, and whether it holds both sites; false if nobody recorded it. */
function machineOf(manifest) {
  const { setup, site } = manifest ?? {};
  const { cores, clusters } = setup ?? {};
  const size = Number.isFinite(cores) && `${cores} ${cores === 1 ? "core" : "cores"}`;
  if (clusters > 1 && site === SANDBOX)
    return `one machine${size ? ` with ${size}` : ""} holds both sites, the second with one OSD; on more, mirroring may cost less`;
  return size && `your machines are of this size: ${size} each`;
}

/** What the media took on their own; false without a baseline. */
function mediaOf(manifest) {
  const { unit, point, ...ceiling } = manifest?.ceilings?.[MEDIA] ?? {};
  const most = ceiling[`median_${unit}`];
  if (!Number.isFinite(most)) return false;
  const [, bytes] = /^media-(\d+)-/.exec(point ?? "") ?? [];
  const size = bytes ? ` of ${formatValue(Number(bytes), "bytes")}` : "";
  return `your media are as fast: up to ${formatValue(Number(most.toPrecision(2)), unit)} for writes${size}`;
}

/** The limiter that most runs are known to have, in words; null if none is. */
function limitOf(all) {
  const sums = new Map();
  for (const [limiter, count] of all.flatMap((limiters) => Object.entries(limiters ?? {})))
    sums.set(limiter, (sums.get(limiter) ?? 0) + count);
  const known = [...sums].filter(([limiter, count]) => limiter !== "unknown" && count > 0);
  if (known.length === 0) return null;
  const runs = [...sums.values()].reduce((sum, count) => sum + count, 0);
  const [limiter, count] = known.reduce((most, pair) => (pair[1] > most[1] ? pair : most));
  const say =
    LIMITS[limiter] ?? ((share) => `your cluster is limited by ${limiter}, as in ${share} of these runs`);
  return say(formatPercent(count / runs));
}

/** The experiments that a list is about. */
function experimentsOf(name, answer) {
  if (name !== ANSWER) return [name];
  const { price, loss } = waysOf(answer);
  return [...new Set([...(price?.sources ?? []), ...(loss?.sources ?? [])])];
}

/**
 * Writes or updates every such list below `page`.
 * @param {Element} page
 * @param {{manifest: object|null, answer: object|null}} data
 */
export function writeConditions(page, { manifest, answer }) {
  for (const list of page.querySelectorAll("[data-applies]")) {
    const conditions = conditionsOf(manifest, experimentsOf(list.dataset.applies, answer));
    const texts = conditions.length ? conditions : ["nobody recorded how these data were measured"];
    renewChildren(
      list,
      texts.map((text, at) =>
        element(list.ownerDocument, "li", {}, `${text}${at === texts.length - 1 ? "." : ";"}`),
      ),
    );
  }
}
