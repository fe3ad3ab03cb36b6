/** Where the figures of a sentence come from: the data set, and the releases of Ceph that measured them. Pure. */

import { partsOf } from "../../../deck/data/data-set.js";
import { unique } from "./sentences.js";

/**
 * @param {import("./sentences.js").Sentence} sentence   a picture rests on its files, too
 * @param {string[]} rests   values and claims
 * @param {{name: string, manifest: object|null, claims: object|null, answer: object|null}} data
 * @returns {string|null} "tentacle, Ceph 20.2.4"; null for a sentence that rests on no data
 */
export function originOf({ files = [] }, rests, data) {
  if (rests.length + files.length === 0) return null;
  const drawn = files.map((src) => partsOf(src)).filter((parts) => parts?.dataSet === data.name);
  const experiments = unique([
    ...rests.map((name) => experimentBehind(name, data)),
    ...drawn.map(({ experiment }) => experiment),
  ]);
  const releases = unique(
    experiments.flatMap((name) => data.manifest?.experiments?.[name]?.provenance?.ceph_versions ?? []),
  );
  return [data.name, ...(releases.length > 0 ? [`Ceph ${releases.sort().join(" and ")}`] : [])].join(", ");
}

/** The experiment that a value or claim is of; undefined for what is of the whole data set. */
function experimentBehind(name, { claims, answer }) {
  const [first, second, third] = name.split(".");
  if (first === "design") return second;
  if (first === "manifest") return second === "experiments" ? third : undefined;
  if (first !== "answer") return claims?.claims?.[first]?.experiment;
  const row = answer?.modes.find((mode) => mode.name === second) ?? {};
  const source = Object.keys(row).find(
    (column) => column.endsWith("_source") && `${third}_`.startsWith(column.replace(/source$/, "")),
  );
  return row[source]?.split(":")[0];
}
