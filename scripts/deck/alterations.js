/**
 * Which files of a data set are not those that derive wrote: what is served is compared with the digests in the data set's
 * datapackage.json, which derive writes last, and with those in an experiment's experiment.json, which it writes beside the
 * tables: between the two, a claim is judged. Derive itself compares raw output with SHA256SUMS.
 */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import path from "node:path";

import { ANSWER, indexOf, placeWithin, scanBenchmarks, textIfThere } from "./data-sets.js";

const PACKAGE = "datapackage.json";
const PART = "experiment.json";
const DOCUMENTS = ["manifest.json", "claims.json", "recording.json", "releases.json", ANSWER];
/** So many altered files are named; what is more is counted. */
const SHOWN = 10;
/** Derive writes file after file: what differs counts when nothing has changed for a moment, or when changes go on for long. */
const QUIET_MS = 1500;
const LONGEST_MS = 10_000;

export const NOT_DERIVED = "is not what derive wrote";
export const NOT_LISTED = "was not written by derive";
export const MISSING = "is missing";
export const UNREADABLE = "cannot be read";

/**
 * @typedef {{file: string, what: string}} Alteration   file: its path below the data set; what: the rest of the sentence
 */

/**
 * Looks for altered files.
 * @param {string} benchmarks   folder of data sets
 * @param {string[]|null} [dataSets]   their names; null for all
 * @param {Map<string, string>} [known]   digests of an earlier look, by file and signature; gets those of this one
 * @returns {Promise<Record<string, Alteration[]>>} by data set, sorted by file; a data set without any is not in it
 */
export async function findAlterations(benchmarks, dataSets = null, known = new Map()) {
  const { files } = await scanBenchmarks(benchmarks);
  const byName = indexOf(files).files;
  const altered = {};
  for (const name of dataSets ?? Object.keys(byName)) {
    const folder = path.join(benchmarks, name);
    const digestOf = (file) => digestAt(folder, file, files.get(`${name}/${file}`), known);
    const alterations = await alterationsIn(folder, byName[name] ?? [], digestOf);
    if (alterations.length > 0) altered[name] = alterations;
  }
  return altered;
}

async function alterationsIn(folder, served, digestOf) {
  let recorded;
  try {
    const { resources } = JSON.parse(await readFile(path.join(folder, PACKAGE), "utf8"));
    recorded = new Map(resources.map(({ path: file, hash }) => [String(file), hash.replace(/^sha256:/, "")]));
  } catch (error) {
    if (error.code !== "ENOENT") return [{ file: PACKAGE, what: UNREADABLE }];
    // Nothing vouches for data of another origin, which nobody measured here, and nothing denies them.
    const isLost = served.includes("manifest.json") && (await isMeasured(folder));
    return isLost ? [{ file: PACKAGE, what: MISSING }] : [];
  }
  const derived = await derivedIn(folder);
  const alterations = [];
  const ours = served.filter((file) => file.includes("/") || DOCUMENTS.includes(file));
  for (const file of new Set([...recorded.keys(), ...ours])) {
    const digest = await digestOf(file);
    const tables = derived.get(file.split("/")[0]);
    const digests = [recorded.get(file), tables?.[file.slice(file.indexOf("/") + 1)]].filter(Boolean);
    if (digest !== null && digests.includes(digest)) continue;
    // A table that its experiment has no longer goes from the package next.
    if (digest === null && tables && digests.length === 1) continue;
    const isListed = digests.length > 0;
    alterations.push({ file, what: digest === null ? MISSING : isListed ? NOT_DERIVED : NOT_LISTED });
  }
  return alterations.sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** The digests of an experiment's tables as it was derived last, by experiment; git does not have them. */
async function derivedIn(folder) {
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => textIfThere(path.join(folder, name, PART))));
  const parts = names.map((name, at) => [name, JSON.parse(texts[at] ?? "{}").outputs]);
  return new Map(parts.filter(([, outputs]) => outputs));
}

async function isMeasured(folder) {
  const names = await readdir(folder);
  return names.some((name) => existsSync(path.join(folder, name, "raw", "SHA256SUMS")));
}

/**
 * The SHA-256 of a file, read only if its signature is new; null if there is no such file in the folder, to which a package of
 * somebody else may not keep.
 */
async function digestAt(folder, file, signature, known) {
  const key = `${path.join(folder, file)}:${signature}`;
  if (signature !== undefined && known.has(key)) return known.get(key);
  const place = await placeWithin(folder, file);
  if (place === null) return null;
  const content = await readFile(place).catch((error) => {
    if (["ENOENT", "EISDIR"].includes(error.code)) return null;
    throw error;
  });
  if (content === null) return null;
  const digest = createHash("sha256").update(content).digest("hex");
  known.set(key, digest);
  return digest;
}

/** One sentence for each altered file, to be printed. */
export function alterationLines(altered) {
  return Object.entries(altered).flatMap(([name, all]) =>
    all.map(({ file, what }) => `${name}/${file} ${what}`),
  );
}

/**
 * Looks for altered files before data sets are published.
 * @param {string} benchmarks
 * @param {string[]} dataSets
 * @param {{allowed: boolean}} options   allowed: whether altered data may be published, marked as such
 * @returns {ReturnType<typeof findAlterations>}
 * @throws {Error} naming the files, unless that is allowed
 */
export async function requireUnaltered(benchmarks, dataSets, { allowed }) {
  const altered = await findAlterations(benchmarks, dataSets);
  if (allowed || Object.keys(altered).length === 0) return altered;
  const lines = alterationLines(altered);
  const more = lines.length > SHOWN ? [`and ${lines.length - SHOWN} more files`] : [];
  const again = Object.keys(altered).map((name) => `./replay derive --data ${name}`);
  throw new Error(
    [
      "the data are altered",
      ...[...lines.slice(0, SHOWN), ...more].map((line) => `  ${line}`),
      `Restore them from git, or derive again: ${again.join("; ")}. With --altered it is published all the same, and each slide says so.`,
    ].join("\n"),
  );
}

/**
 * Keeps an eye on which files are altered while the talk is open.
 * @param {{benchmarks: string, onChange: (altered: Record<string, Alteration[]>) => void, onError?: (error: Error) => void,
 *          quietMs?: number}} options
 *   onChange gets what `findAlterations` returns whenever that differs from before, the first time only if it is something
 * @returns {{current: () => Promise<Record<string, Alteration[]>>, changed: () => void, close: () => void}}
 *   current: what is altered, after the first look; changed: call it when files changed
 */
export function watchAlterations({ benchmarks, onChange, onError = () => {}, quietMs = QUIET_MS }) {
  const known = new Map();
  let altered = {};
  let timer = null;
  let since = null;
  let latest = look();

  async function look() {
    try {
      const now = await findAlterations(benchmarks, null, known);
      if (JSON.stringify(now) === JSON.stringify(altered)) return;
      altered = now;
      onChange(altered);
    } catch (error) {
      // A file that cannot be read now is met again after the next change; until then the last finding stands.
      onError(error);
    }
  }

  return {
    async current() {
      await latest;
      return altered;
    },
    changed() {
      since ??= Date.now();
      clearTimeout(timer);
      const wait = Math.max(0, Math.min(quietMs, since + LONGEST_MS - Date.now()));
      timer = setTimeout(() => {
        since = null;
        latest = latest.then(look);
      }, wait);
      timer.unref();
    },
    close: () => clearTimeout(timer),
  };
}
