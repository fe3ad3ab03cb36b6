/**
 * Where a chart's data come from, in one line: data set, releases, n, date, what limited it. Pure functions.
 */

import { behindChart } from "./alterations.js";
import { partsOf } from "./data-set.js";
import { formatDate, formatPeriod } from "./format.js";

const LIMITER_WORDS = {
  cpu: "limited by the CPU",
  disk: "limited by the disk",
  network: "limited by the network",
  none: "no resource at its limit",
  unknown: "limit unknown",
  mixed: "limits differ by point",
};

/**
 * Where a manifest has a chart.
 * @param {string} src   the chart's address, its data set already chosen
 * @param {object|null} manifest   that data set's manifest
 * @returns {{name: string, experiment: object, entry: object}|null} `entry` is `experiments.<name>.charts.<chart>`
 */
export function chartPlace(src, manifest) {
  const parts = partsOf(src);
  if (!parts || parts.document !== undefined || !manifest) return null;
  const experiments = manifest.experiments ?? {};
  const names = parts.experiment === null ? Object.keys(experiments) : [parts.experiment];
  for (const name of names) {
    const experiment = Object.hasOwn(experiments, name) ? experiments[name] : null;
    const entry = experiment?.charts?.[parts.chart];
    if (entry) return { name, experiment, entry };
  }
  return null;
}

/** A manifest's entry for one chart, or null. */
export function chartEntry(src, manifest) {
  return chartPlace(src, manifest)?.entry ?? null;
}

/** n of some charts as text: "n = 10", or "n = 6–10" when points differ; null when it is not recorded. */
export function sampleSize(entries) {
  const sizes = entries.map(({ n }) => (typeof n === "number" ? { min: n, max: n } : n)).filter(Boolean);
  const [min, max] = [Math.min(...sizes.map((n) => n.min)), Math.max(...sizes.map((n) => n.max))];
  if (!Number.isFinite(min) || !Number.isFinite(max)) return null;
  return min === max ? `n = ${min}` : `n = ${min}–${max}`;
}

/**
 * The label of one chart, or of several charts on one slide.
 * @param {string[]} sources   addresses, all of one data set
 * @param {object|null} manifest
 * @param {import("./alterations.js").Alteration[]} [alterations]   of that data set
 * @returns {string}
 */
export function provenance(sources, manifest, alterations = []) {
  const dataSet = partsOf(sources[0])?.dataSet ?? "unknown data set";
  const isAltered = manifest?.altered || sources.some((src) => behindChart(src, alterations).length > 0);
  const name = manifest?.label ? `${dataSet}: ${manifest.label}` : dataSet;
  const words = [isAltered ? `ALTERED DATA · ${name}` : name];
  // What a data set says as a whole is not one of its charts: it rests on all of its experiments.
  if (sources.every((src) => partsOf(src)?.document !== undefined)) {
    const all = Object.values(manifest?.experiments ?? {}).map((experiment) => experiment.provenance ?? {});
    const [from, to] = [manifest?.measured_from, manifest?.measured_to];
    const period = to && formatPeriod(from ?? to, to, { short: true });
    return [...words, ...measuredWith(all), period].filter(Boolean).join(" · ");
  }
  if (!manifest) return [...words, "no manifest"].join(" · ");
  const places = sources.map((src) => chartPlace(src, manifest)).filter(Boolean);
  const entries = places.map(({ entry }) => entry);
  if (entries.length === 0) return [...words, "this chart is not in the manifest"].join(" · ");
  const provenances = places.map(({ experiment }) => experiment.provenance ?? {});
  words.push(...measuredWith(provenances), ...[hostWords(provenances)].filter(Boolean));
  words.push(sampleSize(entries) ?? "n not recorded");
  const zeroPairs = entries.reduce((sum, { zero_pairs: count = 0 }) => sum + count, 0);
  const pairs = zeroPairs === 1 ? "pair that has" : "pairs that have";
  if (zeroPairs > 0) words.push(`without ${zeroPairs} ${pairs} no ratio`);
  const dates = entries.map((entry) => entry.measured_to ?? manifest.measured_to).filter(Boolean);
  words.push(dates.length ? formatDate(dates.sort().at(-1), { short: true }) : "date not recorded");
  const limiters = new Set(entries.map((entry) => entry.limiter ?? "unknown"));
  const limiter = limiters.size === 1 ? [...limiters][0] : "mixed";
  words.push(LIMITER_WORDS[limiter] ?? `limited by ${limiter}`);
  return words.join(" · ");
}

/**
 * The versions of Ceph and its client that measured, as one item of the label or none.
 * @param {{ceph_versions?: string[], librbd_versions?: string[]}[]} provenances   of the charts' experiments
 */
function measuredWith(provenances) {
  const all = (key) => [...new Set(provenances.flatMap((facts) => facts[key] ?? []))].sort().join(" and ");
  const [ceph, client] = [all("ceph_versions"), all("librbd_versions")];
  if (ceph && ceph === client) return [`Ceph and client ${ceph}`];
  const words = [ceph && `Ceph ${ceph}`, client && `client ${client}`].filter(Boolean);
  return words.length ? [words.join(", ")] : [];
}

/**
 * How many hosts measured what is shown together: "2 hosts", or null if it was one. Older data know a virtual machine under
 * one name on all of its hosts, which then differ by their CPU only.
 * @param {{machines?: string[], processors?: string[]}[]} provenances   of the experiments
 */
export function hostWords(provenances) {
  const count = (key) => new Set(provenances.flatMap((facts) => facts[key] ?? [])).size;
  const hosts = Math.max(count("machines"), count("processors"));
  return hosts > 1 ? `${hosts} hosts` : null;
}

/**
 * The release of a data set.
 * @param {{name: string, manifest: object|null}} set
 */
export function releaseTitle({ name, manifest }) {
  const version = manifest?.setup?.ceph_version;
  return version ? `Ceph ${version}` : name;
}
