/**
 * Which files of a data set are not what was recorded: derived files are compared with the digests that derive wrote,
 * raw output with SHA256SUMS. Reads only.
 *
 * Derive lists its files in datapackage.json when it has written all of them. While it is at work, its notes of this
 * checkout (derived.json, judged.json, answered.json, described.json) know the newest files already: a note counts as long
 * as it is newer than datapackage.json.
 */

import { readFile, stat } from "node:fs/promises";
import path from "node:path";

import { ANSWER, entriesOf, scanBenchmarks } from "../data-sets.js";
import { Digests } from "./digests.js";

const PACKAGE = "datapackage.json";
/** Left by `derive --reseal` in a copy whose raw output was edited on purpose. */
const STAMP = "altered.json";
const SUMS = "SHA256SUMS";
const DOCUMENTS = ["manifest.json", "claims.json", "recording.json", "releases.json", ANSWER];
const NOTES = ["judged.json", "answered.json", "described.json"];
const PART = "derived.json";
const OPEN = /^block-\d{2,}\.open$/;
const PACK = /^(block-\d{2,})-[0-9a-f]+\.tar\.gz$/;
/** So many altered files are named; what is more is counted. */
const SHOWN = 10;
const SUMS_LINE = /^([0-9a-f]{64}) [ *](.+)$/;

export const NOT_DERIVED = "is not what derive wrote";
export const NOT_LISTED = "was not written by derive";
export const NOT_MEASURED = "is not what was measured";
export const UNLISTED = `is not listed in ${SUMS}: nothing measured it`;
export const MISSING = "is missing";
export const EDITED_COPY = "says that raw output of this copy was edited";
export const UNREADABLE = "cannot be read";

/**
 * @typedef {{file: string, what: string}} Alteration   file: its path below the data set; what: the rest of the sentence
 */

/**
 * Looks for altered files.
 * @param {string} benchmarks   folder of data sets
 * @param {string[]} dataSets   their names
 * @param {Digests} [digests]
 * @returns {Promise<Record<string, Alteration[]>>} by data set, sorted by file; a data set without any is not in it
 */
export async function findAlterations(benchmarks, dataSets, digests = new Digests()) {
  const { files } = await scanBenchmarks(benchmarks);
  const found = {};
  for (const name of dataSets) {
    const served = [...files.keys()]
      .filter((file) => file.startsWith(`${name}/`))
      .map((file) => file.slice(name.length + 1));
    const folder = path.join(benchmarks, name);
    const experiments = (await entriesOf(folder)).filter((entry) => entry.isDirectory());
    const raw = await inTurn(
      experiments.map((entry) => entry.name),
      (experiment) => rawAlterations(folder, experiment, digests),
    );
    const derived = await derivedAlterations(
      folder,
      { served, measured: raw.some((one) => one !== null) },
      digests,
    );
    const all = [...derived, ...raw.flatMap((one) => one ?? [])].sort((a, b) => (a.file < b.file ? -1 : 1));
    if (all.length > 0) found[name] = all;
  }
  await digests.save();
  return found;
}

/** One sentence for each altered file, to be printed. */
export function alterationLines(found) {
  return Object.entries(found).flatMap(([name, all]) =>
    all.map(({ file, what }) => `${name}/${file} ${what}`),
  );
}

/** What a person can do about altered files. */
export function wayBack(found) {
  const again = Object.keys(found).map((name) => `npm run derive -- --data ${name}`);
  return `Derive again (${again.join("; ")}), and restore raw output from git or from a copy.`;
}

/** Refuses to publish what is not as recorded. */
export class AlteredData extends Error {
  /** @param {Record<string, Alteration[]>} found */
  constructor(found) {
    const lines = alterationLines(found);
    const more = lines.length > SHOWN ? [`and ${lines.length - SHOWN} more files`] : [];
    super(
      [
        "the data are altered",
        ...[...lines.slice(0, SHOWN), ...more].map((line) => `  ${line}`),
        `${wayBack(found)} With --altered it is published all the same, and each slide says so.`,
      ].join("\n"),
    );
  }
}

/**
 * Looks for altered files before data sets are published.
 * @param {string} benchmarks
 * @param {string[]} dataSets
 * @param {{allowed: boolean}} options   allowed: whether altered data may be published, marked as such
 * @returns {ReturnType<typeof findAlterations>}
 * @throws {AlteredData} naming the files, unless that is allowed
 */
export async function requireUnaltered(benchmarks, dataSets, { allowed }) {
  const found = await findAlterations(benchmarks, dataSets);
  if (Object.keys(found).length > 0 && !allowed) throw new AlteredData(found);
  return found;
}

/** Whether something is amiss with the files that sentences are filled from, or with all of a data set. Pure. */
export function concernsTexts({ file }) {
  return !file.includes("/");
}

async function derivedAlterations(folder, { served, measured }, digests) {
  const found = [];
  if (await exists(path.join(folder, STAMP))) found.push({ file: STAMP, what: EDITED_COPY });
  const { recorded, problem } = await readPackage(folder);
  if (problem) found.push({ file: PACKAGE, what: problem });
  const noted = await newerNotes(folder);
  // Data of another origin, which nobody measured or derived here: nothing vouches for them, nothing denies them.
  if (recorded === null && !measured) return found;
  const ours = served.filter((file) => file.includes("/") || DOCUMENTS.includes(file));
  for (const file of new Set([...(recorded ?? new Map()).keys(), ...ours])) {
    const digest = await digests.of(path.join(folder, file));
    const expected = [recorded?.get(file), noted.digests.get(file)].filter((one) => one !== undefined);
    if (digest !== null && expected.includes(digest)) continue;
    // Derive has just removed it.
    if (digest === null && noted.folders.has(file.split("/")[0]) && !noted.digests.has(file)) continue;
    const what = digest === null ? MISSING : expected.length > 0 ? NOT_DERIVED : NOT_LISTED;
    found.push({ file, what });
  }
  return found;
}

/** @returns {Promise<{recorded: Map<string, string>|null, problem: string|null}>} digests by file; null without a package */
async function readPackage(folder) {
  let text;
  try {
    text = await readFile(path.join(folder, PACKAGE), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return { recorded: null, problem: null };
    throw error;
  }
  try {
    const entries = JSON.parse(text).resources.map(({ path: file, hash }) => {
      const digest = /^sha256:([0-9a-f]{64})$/.exec(hash)?.[1];
      if (typeof file !== "string" || digest === undefined)
        throw new TypeError("a resource without path or hash");
      return [file, digest];
    });
    return { recorded: new Map(entries), problem: null };
  } catch {
    return { recorded: new Map(), problem: UNREADABLE };
  }
}

/**
 * What derive wrote since it wrote datapackage.json, from the notes of this checkout.
 * @returns {Promise<{digests: Map<string, string>, folders: Set<string>}>} folders: experiments that were derived since
 */
async function newerNotes(folder) {
  const described = await timeOf(path.join(folder, PACKAGE));
  const found = { digests: new Map(), folders: new Set() };
  const add = async (note, prefix) => {
    if ((await timeOf(path.join(folder, note))) <= described) return;
    try {
      const { outputs } = JSON.parse(await readFile(path.join(folder, note), "utf8"));
      for (const [file, digest] of Object.entries(outputs)) found.digests.set(`${prefix}${file}`, digest);
      if (prefix !== "") found.folders.add(prefix.slice(0, -1));
    } catch {
      // It is being replaced, or of another version: it vouches for nothing.
    }
  };
  for (const note of NOTES) await add(note, "");
  for (const entry of await entriesOf(folder)) {
    if (entry.isDirectory()) await add(path.join(entry.name, PART), `${entry.name}/`);
  }
  return found;
}

/** @returns {Promise<Alteration[]|null>} null for a folder without raw output */
async function rawAlterations(folder, experiment, digests) {
  const raw = path.join(folder, experiment, "raw");
  const present = (await entriesOf(raw)).map((entry) => entry.name);
  const visible = present.filter((name) => !name.startsWith(".") && name !== SUMS);
  if (visible.length === 0 && !present.includes(SUMS)) return null;
  const at = (name, what) => ({ file: `${experiment}/raw/${name}`, what });
  const opened = new Set(
    visible.filter((name) => OPEN.test(name)).map((name) => name.slice(0, -".open".length)),
  );
  const sums = present.includes(SUMS) ? parseSums(await readFile(path.join(raw, SUMS), "utf8")) : null;
  if (sums === null) {
    // The first block of all is listed when it is sealed.
    const waiting = !present.includes(SUMS) && visible.every((name) => OPEN.test(name));
    return waiting ? [] : [at(SUMS, present.includes(SUMS) ? UNREADABLE : MISSING)];
  }
  const found = await inTurn([...sums], async ([name, recorded]) => {
    const digest = await digests.of(path.join(raw, name));
    if (digest === recorded) return null;
    // What is being sealed is listed before it has its name.
    if (digest === null && (present.includes(`.${name}.partial`) || opened.has(PACK.exec(name)?.[1])))
      return null;
    return at(name, digest === null ? MISSING : NOT_MEASURED);
  });
  const listedFolders = new Set(
    [...sums.keys()].filter((name) => name.includes("/")).map((name) => name.split("/")[0]),
  );
  const unlisted = visible.filter(
    (name) =>
      !sums.has(name) && !listedFolders.has(name) && !OPEN.test(name) && !opened.has(PACK.exec(name)?.[1]),
  );
  return [...found.filter((one) => one !== null), ...unlisted.map((name) => at(name, UNLISTED))];
}

/** Digests by file; null when a line is not one of sha256sum. */
function parseSums(text) {
  const lines = text.split("\n");
  if (lines.pop() !== "") return null;
  const matches = lines.map((line) => SUMS_LINE.exec(line));
  return matches.includes(null) ? null : new Map(matches.map(([, digest, name]) => [name, digest]));
}

async function inTurn(items, one) {
  const results = [];
  for (const item of items) results.push(await one(item));
  return results;
}

async function exists(file) {
  return (await timeOf(file)) > 0n;
}

/** When a file was written last, in nanoseconds; 0 for one that is not there. */
async function timeOf(file) {
  try {
    return (await stat(file, { bigint: true })).mtimeNs;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(error.code)) return 0n;
    throw error;
  }
}
