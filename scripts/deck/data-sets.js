/**
 * What a folder of benchmarks holds that the deck may read: CSV files of aggregates, the attempts behind them with what
 * their cells were like and which claims they registered, and the JSON and the answer beside them. Raw output and
 * everything hidden stay where they are.
 */

import { readFile, readdir, realpath, stat } from "node:fs/promises";
import path from "node:path";

import { isDataSetName } from "../../deck/data/data-set.js";
import { PRIVATE_DATA_SET } from "./constants.js";

/** What a data set answers to the talk's question: docs/answer.md. */
export const ANSWER = "answer.csv";

const DATA_FILE =
  /^[^/]+\/(?:[^/]+\.json|answer\.csv|[^/]+\/(?:tidy|registered)\.csv|[^/]+\/aggregate\/[^/]+\.csv)$/;

/** Whether the deck may read a file, by its path below the folder of data sets, with "/". */
export function isDataFile(name) {
  return DATA_FILE.test(name);
}

/** The root of the project: two folders up. */
export const PROJECT = path.resolve(import.meta.dirname, "../..");

/** The folder of the talk, which holds config/, slides/ and benchmarks/: the one that REPLAY_TALK names, else the project. */
export function talkRoot(environment = process.env) {
  return path.resolve(environment.REPLAY_TALK || PROJECT);
}

/** The folder of data sets: the one that REPLAY_BENCHMARKS names, else `benchmarks/` of the talk. */
export function benchmarksRoot(environment = process.env) {
  return path.resolve(environment.REPLAY_BENCHMARKS || path.join(talkRoot(environment), "benchmarks"));
}

/**
 * Every file that the deck may read, and every folder that must be watched to notice a new one. What a link leads to outside
 * of its data set is none of it: it would be published.
 * @param {string} root   the folder of data sets; it need not exist
 * @returns {Promise<{files: Map<string, string>, folders: string[]}>}
 *   files: path below root with "/" → a signature that changes whenever the file does; sorted by path
 */
export async function scanBenchmarks(root) {
  const files = new Map();
  const folders = [root];
  for (const dataSet of await namesOfFolders(root)) {
    if (!isDataSetName(dataSet)) continue;
    folders.push(path.join(root, dataSet));
    await addFiles(files, root, dataSet);
    for (const experiment of await namesOfFolders(path.join(root, dataSet))) {
      const folder = path.join(dataSet, experiment);
      const aggregate = path.join(folder, "aggregate");
      folders.push(path.join(root, folder), path.join(root, aggregate));
      await addFiles(files, root, folder);
      await addFiles(files, root, aggregate);
    }
  }
  return { files: new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1))), folders };
}

/**
 * The content of `benchmarks/index.json`: which data sets there are, and which files each has.
 * A folder counts as a data set when it holds at least one file that the deck may read.
 * @param {Map<string, string>} files
 * @param {Record<string, {file: string, what: string}[]>} [altered]   what is not as recorded, by data set
 * @param {Record<string, string>} [own]   digests of files of the author's own, by address
 */
export function indexOf(files, altered = {}, own = {}) {
  const byName = new Map();
  for (const file of files.keys()) {
    const [name, ...rest] = file.split("/");
    if (!byName.has(name)) byName.set(name, []);
    byName.get(name).push(rest.join("/"));
  }
  return {
    schema_version: 1,
    data_sets: [...byName.keys()].sort(),
    files: Object.fromEntries(byName),
    altered,
    own,
  };
}

/** The existing data sets, including those without anything for the deck to read yet. */
export async function dataSetFolders(root) {
  return (await namesOfFolders(root)).filter(isDataSetName).sort();
}

async function namesOfFolders(folder) {
  const entries = await entriesOf(folder);
  return entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith("."))
    .map((entry) => entry.name);
}

async function addFiles(files, root, folder) {
  const [dataSet, ...below] = folder.split(path.sep);
  const isWithin = (...names) => placeWithin(path.join(root, dataSet), path.join(...below, ...names));
  if (below.length > 0 && !(await isWithin())) return;
  for (const entry of await entriesOf(path.join(root, folder))) {
    const name = path.join(folder, entry.name).split(path.sep).join("/");
    if (entry.name.startsWith(".") || !isDataFile(name)) continue;
    if (entry.isSymbolicLink() && !(await isWithin(entry.name))) continue;
    const facts = await stat(path.join(root, name)).catch(() => null);
    if (!facts?.isFile()) continue;
    files.set(name, `${facts.mtimeMs}:${facts.size}:${facts.ino}`);
  }
}

/** A folder's entries; none if it is absent, is a file, or disappears while it is read. */
export async function entriesOf(folder) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(error.code)) return [];
    throw error;
  }
}

/** The real path of what has a name below a folder, with links followed; null if it is elsewhere, or is not there. */
export async function placeWithin(folder, name) {
  try {
    const root = await realpath(folder);
    const place = await realpath(path.join(root, name));
    return place.startsWith(root + path.sep) ? place : null;
  } catch {
    return null;
  }
}

/** A file's text; null if there is no such file. */
export async function textIfThere(file) {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(error.code)) return null;
    throw error;
  }
}

/**
 * Says why names that a person gave cannot be used.
 * @param {string[]} known   the existing data sets
 * @param {string[]} names
 * @returns {string|null} a sentence that names the first unknown one, and the known ones
 */
export function whyUnknownDataSet(known, names) {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return null;
  return `There is no data set “${unknown}”. Available: ${known.join(", ") || "none"}.`;
}

/** Whether a data set is of `npm start`, such as `local`, or `local-18` after an upgrade of the host. */
const isPrivate = (name) => name === PRIVATE_DATA_SET || name.startsWith(`${PRIVATE_DATA_SET}-`);

/**
 * The data sets that a site will hold, and those whose evidence waits to be derived, as when a campaign of several
 * nights has only begun: they have nothing to show. Pure.
 * @param {Map<string, unknown>} files   as `scanBenchmarks` gives them
 * @param {string[]|null} dataSets   which are wanted; null for all but the private ones
 * @returns {{published: string[], waiting: string[]}}
 * @throws {Error} when one of `dataSets` waits to be derived
 */
export function toPublish(files, dataSets) {
  const wanted = indexOf(files).data_sets.filter((name) =>
    dataSets ? dataSets.includes(name) : !isPrivate(name),
  );
  const isDerived = (name) => files.has(`${name}/manifest.json`);
  const waiting = wanted.filter((name) => !isDerived(name));
  if (dataSets && waiting.length > 0)
    throw new Error(
      `nothing is derived from ${waiting.map((name) => `“${name}”`).join(", ")} yet. Run: ./replay derive --data ${waiting[0]}`,
    );
  return { published: wanted.filter(isDerived), waiting };
}
