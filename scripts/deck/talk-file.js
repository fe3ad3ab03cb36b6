/** `slides/<talk>/talk.yaml`: what a talk is, apart from the program that shows it. A talk is a folder, with its chapters in it. */

import { existsSync, readdirSync } from "node:fs";
import path from "node:path";

import { TALK_FACTS } from "../../deck/text/talk-facts.js";
import { InvalidFile, readCheckedYaml } from "./checked-yaml.js";
import { PROJECT } from "./data-sets.js";
import { lookOf } from "./look.js";

const TALKS = "slides";
const SCHEMA = path.join(PROJECT, "config", "schemas", "talk.schema.json");

/**
 * A talk, as its file states it.
 * @typedef {object} TalkFile
 * @property {string} name    that of its folder
 * @property {string} file    its talk.yaml, with "/"
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
 * @property {string|null} picture   id of the slide that messengers show
 * @property {{light: string, dark: string, inverse: string}} accent   colours: on a light page, on a dark one, on its openers
 * @property {Record<string, string[]>} series   names of series, by their look
 * @property {ReturnType<typeof lookOf>} look   of its own
 * @property {(...keys: (string|number)[]) => number} lineOf   the line of a key
 */

/** The talks of a folder: the names of those in slides/ that have a talk.yaml. */
export function talkNames(root) {
  const folder = path.join(root, TALKS);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => existsSync(path.join(folder, name, "talk.yaml")))
    .sort();
}

/**
 * The talk that is meant: the one that REPLAY_TALK_NAME names (`--talk`), else the only one, else the lead.
 * @throws {InvalidFile} if there is none, or none of that name, or no lead among several
 */
export function talkName(root, environment = process.env) {
  const names = talkNames(root);
  const asked = environment.REPLAY_TALK_NAME;
  const known = names.join(", ") || "none";
  if (asked) {
    if (names.includes(asked)) return asked;
    throw new InvalidFile(`there is no talk "${asked}"; in ${TALKS}/: ${known}`);
  }
  if (names.length === 0)
    throw new InvalidFile(`${root} holds no talk: write ${TALKS}/NAME/talk.yaml (docs/your-own-talk.md)`);
  if (names.length === 1) return names[0];
  const leads = names.filter((name) => readCheckedYaml(root, talkFile(name), SCHEMA).value.lead === true);
  if (leads.length === 1) return leads[0];
  throw new InvalidFile(`${TALKS}/: write "lead: true" into the talk.yaml of one talk; there are ${known}`);
}

function talkFile(name) {
  return `${TALKS}/${name}/talk.yaml`;
}

/**
 * @param {string} root   the folder that holds slides/ and config/
 * @param {string} [name]   the talk's
 * @returns {TalkFile}
 * @throws {InvalidFile} saying what is wrong, with file and line
 */
export function readTalkFile(root, name = talkName(root)) {
  const file = talkFile(name);
  const { value, lineOf } = readCheckedYaml(root, file, SCHEMA);
  refuseOddCuts(value.cuts, file, lineOf);
  refuseItself(value, file, lineOf);
  const stated = Object.fromEntries(
    ["description", ...TALK_FACTS].map((key) => [key, (value[key] ?? "").trim()]),
  );
  const { claims = "all", accent } = value;
  const inFolder = (chapter) => `${TALKS}/${name}/${chapter}`;
  return {
    name,
    file,
    ...stated,
    dataSet: value.data_set,
    otherDataSets: value.other_data_sets ?? [],
    claims: claims === "all" ? null : claims,
    cuts: value.cuts.map(({ minutes, timed_for_minutes: timed = minutes }) => ({
      minutes,
      seconds: timed * 60,
    })),
    chapters: value.chapters.map(inFolder),
    readerPage: value.reader_page ? inFolder(value.reader_page) : null,
    picture: value.picture ?? null,
    accent: { inverse: accent.dark, ...accent },
    series: value.series ?? {},
    look: lookOf(root, name),
    lineOf,
  };
}

/** The talk that is meant, then the others of the folder. @throws {InvalidFile} as `readTalkFile` does */
export function readTalks(root) {
  const first = talkName(root);
  return [first, ...talkNames(root).filter((name) => name !== first)].map((name) => readTalkFile(root, name));
}

/** The talk's own data set is none of the others. */
function refuseItself({ data_set: own, other_data_sets: others = [] }, file, lineOf) {
  const at = others.indexOf(own);
  if (at < 0) return;
  const where = `${file}:${lineOf("other_data_sets", at)}: other_data_sets[${at}]`;
  throw new InvalidFile(
    `${where}: "${own}" is the talk's own data set, which slides show without being told`,
  );
}

/** What a schema cannot say: each length once, and no talk that is longer than its slot. */
function refuseOddCuts(cuts, file, lineOf) {
  cuts.forEach(({ minutes, timed_for_minutes: timed = minutes }, at) => {
    const where = `${file}:${lineOf("cuts", at)}: cuts[${at}]`;
    if (cuts.findIndex((other) => other.minutes === minutes) < at)
      throw new InvalidFile(`${where}: there are two cuts of ${minutes} minutes`);
    if (timed > minutes)
      throw new InvalidFile(
        `${where}: timed for ${timed} minutes, which is more than its ${minutes} minutes`,
      );
  });
}
