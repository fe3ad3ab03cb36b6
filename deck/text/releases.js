/**
 * What moved from release to release of Ceph, in a sentence: `<p data-moved="headline-16 headline-18" data-release-claims="…">`.
 * The estimates themselves are a chart; `benchmarks/<data set>/releases.json` compares them with those of older data sets.
 */

import { decidingName } from "../data/claims.js";
import { releaseTitle } from "../data/provenance.js";
import { renewChildren } from "../page/in-place.js";

/**
 * How many of these claims' estimates moved in the newest data set, since each older one. Pure.
 * @param {string[]} ids   of claims
 * @param {{name: string, claims: object|null, manifest: object|null, releases?: object|null}[]} sets
 * @returns {string|null} null if no ratios were compared
 */
export function movedSentence(ids, sets) {
  const newest = sets.findLast(({ releases }) => releases) ?? null;
  if (newest === null) return null;
  const here = new Map(sets.filter(({ claims }) => claims !== null).map((set) => [set.name, set]));
  const moves = ids
    .flatMap((id) => {
      const own = newest.claims?.claims?.[id];
      return own ? movesOf(newest.releases, id, decidingName(own)) : [];
    })
    // Counts are not tested: they agree, or they do not.
    .filter(({ from, ratio }) => here.has(from) && ratio !== null);
  const tested = moves.filter(({ moved }) => moved !== null);
  const title = releaseTitle(newest);
  if (moves.length > 0 && tested.length === 0)
    return `${title}: no difference is tested yet; that takes two blocks of each release.`;
  const parts = [...here.values()].flatMap((set) => {
    const since = tested.filter(({ from }) => from === set.name);
    const moved = since.filter((move) => move.moved).length;
    const version = releaseTitle(set).replace(/^Ceph /, "");
    return since.length === 0 ? [] : [`${moved === 0 ? "none" : moved} of ${since.length} since ${version}`];
  });
  return parts.length === 0 ? null : `Moved by more than noise in ${title}: ${parts.join(", ")}.`;
}

/**
 * How far a condition moved, from each older data set that it was compared with, oldest first.
 * @param {object} releases   releases.json
 * @param {string} id   of a claim
 * @param {string|null} condition   its name
 * @returns {{from: string, ratio: number|null, moved: boolean|null}[]} ratio: the newer estimate ÷ the older; moved: whether by
 *   more than noise, null where that was not tested
 */
function movesOf({ against }, id, condition) {
  return Object.entries(against ?? {})
    .map(([from, { claims }]) => ({ from, estimates: claims?.[id]?.conditions?.[condition] }))
    .filter(({ estimates }) => estimates)
    .map(({ from, estimates: { ratio, more_than_noise: moved } }) => ({ from, ratio, moved }));
}

/**
 * Writes or updates every such sentence below `root` once its data have been fetched.
 * @param {Element} root
 * @param {import("../data/data-on-show.js").DataOnShow} data
 */
export function writeMoved(root, data) {
  for (const place of root.querySelectorAll("[data-moved]")) {
    const names = place.dataset.moved.split(/\s+/).filter(Boolean);
    const ids = place.dataset.releaseClaims.split(/\s+/).filter(Boolean);
    Promise.all(names.map((name) => data.other(name))).then((others) => {
      const sentence = movedSentence(
        ids,
        names.map((name, at) => ({ name, ...others[at] })),
      );
      renewChildren(place, sentence === null ? [] : [place.ownerDocument.createTextNode(sentence)]);
    });
  }
}
