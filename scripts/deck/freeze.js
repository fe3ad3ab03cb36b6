/**
 * A site frozen to one data set: its files, with those of data sets that charts show beside it, its texts on the slides, and
 * `frozen.json`, which says what was frozen and lets anyone check that it still is.
 */

import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { partsOf } from "../../deck/data/data-set.js";
import { isOwnName } from "../../deck/data/own-file.js";
import { scanBenchmarks, talkRoot } from "./data-sets.js";
import { RECORD } from "./constants.js";
import { lacking, readDataSet } from "./text/data-set-words.js";
import { chartFilesIn, pinChapter } from "./text/pin.js";
import { byTelling, tellingOf } from "./text/slide-words.js";
import { NotThere, openTalk, requireDataSets } from "./text/talk.js";

/** Made when a site is built, from the names of the other files. */
const INDEX = "benchmarks/index.json";

/**
 * The talk's chapters as they read with a data set. With the talk's own, slides that name another keep it.
 * @param {{root: string, benchmarks: string, name: string}} places
 * @returns {Promise<{chapters: Map<string, string>, dataSets: string[]}>} chapters: text by file; dataSets: those that
 *   slides are told with, the named one first, and those that their charts show beside them, as far as they are here
 * @throws {NotThere} when there is no such data set, or it lacks what its sentences are made of
 */
export async function pinnedTalk({ root, benchmarks, name }) {
  await requireDataSets(benchmarks, [name]);
  const data = await readDataSet(benchmarks, name);
  const { stated, chapters, slides } = await openTalk(root);
  const telling = await tellingOf({ benchmarks, stated, data });
  const shown = byTelling(slides, telling).map((group) => group.data);
  const names = shown.map((set) => set.name);
  await requireDataSets(benchmarks, names);
  const [lack] = shown.flatMap(lacking);
  if (lack) throw new NotThere(lack);
  const pinned = new Map(chapters.map((one) => [one.file, pinChapter(one.text, one.slides, telling)]));
  const { files } = await scanBenchmarks(benchmarks);
  const drawn = chartFiles(pinned)
    .map((src) => partsOf(src)?.dataSet)
    .filter((set) => files.has(`${set}/manifest.json`));
  return { chapters: pinned, dataSets: [...new Set([...names, ...drawn])] };
}

/**
 * Builds the site.
 * @param {{outDir: string, benchmarks: string, name: string, addressed?: boolean, altered?: boolean, preview?: boolean,
 *          say?: (step: string) => void}} places
 *   outDir: absolute; addressed: whether readers must be told where they can clone the talk; altered: whether altered data may
 *   be frozen; say: called with each step as it begins
 * @returns {Promise<{record: object, undrawn: string[], site: Awaited<ReturnType<import("./site.js").buildSite>>}>}
 *   record: what frozen.json holds; undrawn: files of charts that the data set lacks; site: what building it told
 * @throws {NotThere} as pinnedTalk; {Error} when the data change while they are copied
 */
export async function freezeSite({
  outDir,
  benchmarks,
  name,
  addressed = true,
  altered = false,
  preview = true,
  say = () => {},
}) {
  const { chapters, dataSets } = await pinnedTalk({ root: talkRoot(), benchmarks, name });
  const before = await documents(benchmarks, dataSets);
  const { buildSite } = await import("./site.js");
  const frozen = { name, chapters };
  const site = await buildSite({ outDir, benchmarks, dataSets, frozen, addressed, altered, preview, say });
  say("Recording what was frozen");
  const files = await digests(outDir, isData);
  for (const [file, digest] of Object.entries(before)) {
    if (files[file] !== digest)
      throw new Error(`${file} changed while it was frozen; freeze again when nothing is measuring`);
  }
  const slides = await digests(outDir, isSlides);
  const own = Object.keys(slides).filter((file) => file.endsWith(".csv"));
  const sources = [
    ...Object.keys(files).map((file) => path.join(benchmarks, path.relative("benchmarks", file))),
    ...[...chapters.keys(), ...own].map((file) => path.join(talkRoot(), file)),
  ];
  const record = {
    schema_version: 1,
    data_set: name,
    ...(await commitOf(talkRoot(), sources)),
    claims_sha256: files[`benchmarks/${name}/claims.json`],
    files,
    slides,
  };
  await writeFile(path.join(outDir, RECORD), `${JSON.stringify(record, null, 2)}\n`);
  return { record, undrawn: chartFiles(chapters).filter((src) => !(src in files)), site };
}

/**
 * Compares a frozen site with its record.
 * @param {string} folder
 * @returns {Promise<{record: object, differences: string[]}>} differences: a sentence each; none is best
 * @throws {NotThere} when the folder holds no readable record
 */
export async function verifySite(folder) {
  const record = await readRecord(folder);
  const known = { ...record.files, ...record.slides };
  const present = await digests(folder, (file) => isData(file) || file in known || isSlides(file));
  const differences = [];
  for (const [file, digest] of Object.entries(known)) {
    if (!(file in present)) differences.push(`${file}: missing`);
    else if (present[file] !== digest) differences.push(`${file}: differs`);
  }
  for (const file of Object.keys(present)) if (!(file in known)) differences.push(`${file}: added since`);
  if (record.claims_sha256 !== record.files[`benchmarks/${record.data_set}/claims.json`])
    differences.push(`${RECORD}: claims_sha256 is not that of the claims it lists`);
  return { record, differences: differences.sort() };
}

async function readRecord(folder) {
  const file = path.join(folder, RECORD);
  try {
    const record = JSON.parse(await readFile(file, "utf8"));
    if (typeof record.data_set !== "string" || typeof record.files !== "object" || record.files === null)
      throw new Error("it names no data set, or no files");
    return { slides: {}, ...record };
  } catch (error) {
    const why =
      error.code === "ENOENT" ? "there is none; was this site built by npm run freeze?" : error.message;
    throw new NotThere(`${file}: ${why}`, { cause: error });
  }
}

const isData = (file) => file.startsWith("benchmarks/") && file !== INDEX;
/** Slides, and the charts of an author's own that they draw. */
const isSlides = (file) => /^slides\/.*\.(?:html|md|csv)$/.test(file);
/** What sentences are filled from. */
const isDocument = (file) => /^(?:manifest|claims)\.json$/.test(file);
/** SHA-256 of what the sentences of these data sets are filled from, by its path in the site. */
async function documents(benchmarks, dataSets) {
  const entries = await Promise.all(
    dataSets.map(async (name) => {
      const files = await digests(path.join(benchmarks, name), isDocument);
      return Object.entries(files).map(([file, digest]) => [`benchmarks/${name}/${file}`, digest]);
    }),
  );
  return Object.fromEntries(entries.flat());
}

/** SHA-256 of the files below a folder that `wanted` accepts, by their path with "/", sorted. */
async function digests(folder, wanted) {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"))
    .filter(wanted)
    .sort();
  return Object.fromEntries(
    await Promise.all(
      files.map(async (file) => [file, hash("sha256", await readFile(path.join(folder, file)))]),
    ),
  );
}

/**
 * The commit that is checked out, and whether files differ from it; null where git cannot say.
 * @param {string} root   the talk's folder
 * @param {string[]} sources   absolute; the files that were frozen. One that git does not track is in no commit
 */
export async function commitOf(root, sources) {
  const git = async (...args) => (await promisify(execFile)("git", args, { cwd: root })).stdout.trim();
  try {
    const commit = await git("rev-parse", "HEAD");
    const changed = await git("--no-optional-locks", "status", "--porcelain", "--untracked-files=no");
    // It fails for a file that is not tracked, and for one outside the repository.
    const isTracked = await git("ls-files", "--error-unmatch", "--", ...sources).then(
      () => true,
      () => false,
    );
    return { git_commit: commit, git_dirty: changed !== "" || !isTracked };
  } catch {
    // An archive of the project has no history; the digests still say what was frozen.
    return { git_commit: null, git_dirty: null };
  }
}

/** The files that the charts of pinned slides name, each once, without those of the author's own. */
function chartFiles(chapters) {
  const named = [...chapters.values()]
    .flatMap(chartFilesIn)
    .map((src) => src.replace(/^\.\//, ""))
    .filter((src) => !isOwnName(src));
  return [...new Set(named)];
}
