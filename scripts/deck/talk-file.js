/** `config/talk.yaml`: what a talk is, apart from the program that shows it. */

import path from "node:path";

import { TALK_FACTS } from "../../deck/text/talk-facts.js";
import { InvalidFile, readCheckedYaml } from "./checked-yaml.js";
import { PROJECT } from "./data-sets.js";

export const TALK_FILE = "config/talk.yaml";
const SCHEMA = path.join(PROJECT, "config", "schemas", "talk.schema.json");

/**
 * A talk, as its file states it.
 * @typedef {object} TalkFile
 * @property {string} title
 * @property {string} description    what search engines and messengers say of it
 * @property {string} speaker        empty if nothing is stated, like the four that follow
 * @property {string} event
 * @property {string} date
 * @property {string} contact
 * @property {string} repository
 * @property {string} dataSet        the one whose figures are written on the slides
 * @property {string[]} otherDataSets   those that single slides show instead of it
 * @property {string[]|null} claims   ids of those that the talk must discuss; null for all
 * @property {{minutes: number, seconds: number}[]} cuts
 *   the usual one first. minutes: the slot, which names the cut; seconds: what its slides add up to
 * @property {string[]} chapters     files, in order
 * @property {string|null} readerPage   the file of the first page of the published talk
 * @property {{light: string, dark: string, inverse: string}} accent   colours: on a light page, on a dark one, on its openers
 * @property {Record<string, string[]>} series   names of series, by their look
 * @property {(...keys: (string|number)[]) => number} lineOf   the line of a key
 */

/**
 * @param {string} root   the talk's folder, which holds config/ and slides/
 * @returns {TalkFile}
 * @throws {InvalidFile} saying what is wrong, with file and line
 */
export function readTalkFile(root) {
  const { value, lineOf } = readCheckedYaml(root, TALK_FILE, SCHEMA);
  refuseOddCuts(value.cuts, lineOf);
  refuseItself(value, lineOf);
  const stated = Object.fromEntries(
    ["description", ...TALK_FACTS].map((key) => [key, (value[key] ?? "").trim()]),
  );
  const { claims = "all", accent } = value;
  return {
    ...stated,
    dataSet: value.data_set,
    otherDataSets: value.other_data_sets ?? [],
    claims: claims === "all" ? null : claims,
    cuts: value.cuts.map(({ minutes, timed_for_minutes: timed = minutes }) => ({
      minutes,
      seconds: timed * 60,
    })),
    chapters: value.chapters,
    readerPage: value.reader_page ?? null,
    accent: { inverse: accent.dark, ...accent },
    series: value.series ?? {},
    lineOf,
  };
}

/** The talk's own data set is none of the others. */
function refuseItself({ data_set: own, other_data_sets: others = [] }, lineOf) {
  const at = others.indexOf(own);
  if (at < 0) return;
  const where = `${TALK_FILE}:${lineOf("other_data_sets", at)}: other_data_sets[${at}]`;
  throw new InvalidFile(
    `${where}: "${own}" is the talk's own data set, which slides show without being told`,
  );
}

/** What a schema cannot say: each length once, and no talk that is longer than its slot. */
function refuseOddCuts(cuts, lineOf) {
  cuts.forEach(({ minutes, timed_for_minutes: timed = minutes }, at) => {
    const where = `${TALK_FILE}:${lineOf("cuts", at)}: cuts[${at}]`;
    if (cuts.findIndex((other) => other.minutes === minutes) < at)
      throw new InvalidFile(`${where}: there are two cuts of ${minutes} minutes`);
    if (timed > minutes)
      throw new InvalidFile(
        `${where}: timed for ${timed} minutes, which is more than its ${minutes} minutes`,
      );
  });
}
