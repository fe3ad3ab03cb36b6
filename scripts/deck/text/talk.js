/** The talk and its data sets, gathered for `npm run wording` and `npm run freeze`. */

import { normalText, readTalk } from "../check/chapters.js";
import { indexOf, scanBenchmarks, whyUnknownDataSet } from "../data-sets.js";
import { readSlide } from "./segments.js";

/** Something that a person asked for does not exist. */
export class NotThere extends Error {}

/**
 * Reads every chapter.
 * @param {string} root   the talk's folder
 * @param {string} [name]   the talk's, if it is not the one that is meant
 * @returns {Promise<{stated: import("../talk-file.js").TalkFile, slides: import("./segments.js").ReadSlide[],
 *                    chapters: {file: string, text: string, slides: import("./segments.js").ReadSlide[]}[]}>}
 *   stated: slides/<talk>/talk.yaml; slides: of all chapters; text: with LF line ends
 * @throws {NotThere} naming a chapter that cannot be read
 * @throws {import("../checked-yaml.js").InvalidFile} if slides/<talk>/talk.yaml is not as it must be
 */
export async function openTalk(root, name) {
  const { talk: stated, chapters: read, problems } = await readTalk(root, name);
  if (problems.length) {
    const [{ file, line, message }] = problems;
    throw new NotThere(`${file}:${line}: ${message}`);
  }
  const chapters = read.map(({ file, text, slides }) => ({
    file,
    text: normalText(text),
    slides: slides.map(readSlide),
  }));
  return { stated, chapters, slides: chapters.flatMap((chapter) => chapter.slides) };
}

/**
 * Refuses names of data sets that do not exist.
 * @param {string} benchmarks   folder of data sets
 * @param {string[]} names
 * @throws {NotThere} naming those that exist
 */
export async function requireDataSets(benchmarks, names) {
  const { data_sets: known } = indexOf((await scanBenchmarks(benchmarks)).files);
  const why = whyUnknownDataSet(known, names);
  if (why !== null) throw new NotThere(why);
}
