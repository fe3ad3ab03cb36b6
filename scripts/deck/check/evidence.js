/**
 * What each sentence of a talk rests on: `evidence.yaml` beside its chapters. Each sentence is *measured* (it names the
 * values and claims of its data), a *source*'s, a *definition* or mechanism, or a *judgement* of the speaker. An entry is
 * written after a person has read the sentence; it records what the data said then. What a sentence is, and what else it
 * rests on, that person writes into the file. A new or edited sentence, a changed verdict, an estimate outside its
 * former interval, and figures of another data set or release are problems until somebody has read the sentence again.
 */

import { writeFile } from "node:fs/promises";
import path from "node:path";

import { Document, isScalar, visit } from "yaml";

import { parseYaml } from "../checked-yaml.js";
import { KINDS } from "../constants.js";
import { textIfThere } from "../data-sets.js";
import { isOwnName, shortDigest } from "../../../deck/data/own-file.js";
import { verdictOf } from "../../../deck/text/verdict-text.js";
import { originOf } from "./origin.js";
import { kindOf, sentencesOf, unique } from "./sentences.js";

/** The kind of an entry that `--accept` wrote for a sentence whose markup does not tell it. */
const UNREAD = "unread";
const ABSENT = "not measured";

/** The file of a talk's evidence: in the folder of its first chapter. */
export function evidenceFile({ chapters }) {
  return path.posix.join(path.posix.dirname(chapters[0]), "evidence.yaml");
}

/**
 * What the data say now of everything that a sentence rests on.
 * @param {string[]} rests   values (`answer.snapshot-60.…`, `<claim>.<condition>`), claims, and files of the talk's own
 * @param {{claims: object|null, own: Map<string, {digest: string}>}} data   own: files of the talk's own, by name
 * @param {{resolve: (value: string) => string|null}} words
 * @returns {Record<string, string|{verdict: string}|{estimate: number, low: number|null, high: number|null}>}
 */
export function stateOf(rests, { claims, own }, words) {
  return Object.fromEntries(
    rests.map((name) => {
      const [claim, condition] = name.split(".");
      const known = claims?.claims?.[claim];
      if (own.has(name)) return [name, shortDigest(own.get(name).digest)];
      if (known === undefined) return [name, words.resolve(name) ?? ABSENT];
      if (condition === undefined) return [name, { verdict: verdictOf(claim, claims) }];
      const measured = known.conditions?.[condition];
      if (measured === undefined) return [name, words.resolve(name) ?? ABSENT];
      const { estimate = null, low = null, high = null } = measured;
      return [name, { estimate, low, high }];
    }),
  );
}

/** What a sentence rests on by its own markup. */
function shownBy({ values, claims, sources }) {
  return [...values, ...claims, ...sources.filter(isOwnName)];
}

/** Why what a sentence rests on is no longer what it was when somebody read it; null if it is. */
export function whyMoved(name, before, now) {
  // A name that somebody has written into the file has no state yet.
  if (before === undefined || before === null) return `${name} was not looked at`;
  if (typeof now === "string" || typeof before === "string")
    return now === before ? null : `${name} was ${stateText(before)}, and is ${stateText(now)}`;
  if ("verdict" in now)
    return now.verdict === before.verdict ? null : `${name} was ${before.verdict}, and is ${now.verdict}`;
  const { low, high, estimate } = before;
  const inside = low === null ? now.estimate === estimate : now.estimate >= low && now.estimate <= high;
  return inside ? null : `${name} was ${stateText(before)}, and is ${stateText(now)}`;
}

function stateText(state) {
  if (typeof state === "string") return `"${state}"`;
  if ("verdict" in state) return state.verdict;
  const { estimate, low, high } = state;
  return low === null ? String(estimate) : `${estimate} (${low} to ${high})`;
}

/**
 * Reads a talk's evidence.
 * @returns {Promise<Map<string, object>|null>} entries by id; null if the talk has no such file
 * @throws {Error} naming an entry that is not of the form
 */
export async function readEvidence(root, file) {
  const text = await textIfThere(path.join(root, file));
  if (text === null) return null;
  const slides = parseYaml(text, file) ?? {};
  const entries = Object.entries(slides).flatMap(([slide, given]) => {
    // Where somebody has taken out all entries of a slide, its name is left.
    const list = given ?? [];
    if (!Array.isArray(list) || !list.every((entry) => entry instanceof Object))
      throw new Error(
        `${file}: slide ${slide}: expected a list of entries, each with an id and what it says`,
      );
    return list.map((entry) => {
      const kinds = [...KINDS, UNREAD].filter((kind) => kind in entry);
      const words = entry[kinds[0]];
      if (kinds.length === 1 && typeof words === "string") return { ...entry, slide, kind: kinds[0], words };
      throw new Error(`${file}: slide ${slide}, ${entry.id}: say as one of ${KINDS.join(", ")} what it is`);
    });
  });
  return new Map(entries.map((entry) => [entry.id, entry]));
}

/**
 * The sentences that nobody has read as they stand.
 * @param {{slides: object[], evidence: Map<string, object>, shipped: object, words: object, own: Map<string, object>}} talk
 * @returns {(import("./sentences.js").Sentence & {why: string, rests: ReturnType<typeof stateOf>, before?: string})[]}
 *   rests: what the data say now; before: its words before they were edited
 */
export function unread({ slides, evidence, shipped, words, own }) {
  const sentences = slides.flatMap(sentencesOf);
  const ids = new Set(sentences.map(({ id }) => id));
  return sentences.flatMap((sentence) => {
    const entry = evidence.get(sentence.id);
    const rests = unique([...shownBy(sentence), ...Object.keys(entry?.rests_on ?? {})]);
    const now = stateOf(rests, { ...shipped, own }, words);
    if (entry === undefined) {
      const before = entryBefore(sentence, evidence, ids)?.words;
      return [{ ...sentence, rests: now, before, why: "nobody has read it" }];
    }
    if (entry.kind === UNREAD)
      return [{ ...sentence, rests: now, why: `write instead of “${UNREAD}” what it is` }];
    if (entry.kind === "measured" && sentence.place !== "picture" && rests.length === 0)
      return [{ ...sentence, rests: now, why: "measured, and names nothing that it rests on" }];
    const moved = rests.map((name) => whyMoved(name, entry.rests_on?.[name], now[name])).filter(Boolean);
    const origin = originOf(sentence, rests, shipped);
    // An entry of an older form does not say it.
    if (entry.of && entry.of !== origin) moved.push(`it was of ${entry.of}, and is of ${origin}`);
    return moved.length > 0 ? [{ ...sentence, rests: now, why: moved.join("; ") }] : [];
  });
}

/** A rule of `npm run check`: a sentence or picture that nobody has read as it stands. */
export function unreadSentences(talk) {
  if (talk.evidence === null) return [];
  return unread(talk).map((sentence) => ({
    file: sentence.file,
    line: sentence.line,
    message: `${sentence.id} (${sentence.place} of ${sentence.slide}): ${sentence.why}: ${quoted(sentence)}`,
    sentence,
  }));
}

/** A sentence with its verdicts, and beside it what the data say; and what it was. */
function quoted({ words, when, rests, before }) {
  const beside = Object.entries(rests).map(([name, state]) => `${name}: ${stateText(state)}`);
  return [
    `“${shortened(words)}”`,
    when && `[${when}]`,
    beside.length > 0 && `(${beside.join(", ")})`,
    before && `instead of “${shortened(before)}”`,
  ]
    .filter(Boolean)
    .join(" ");
}

function shortened(words) {
  return words.length > 200 ? `${words.slice(0, 197)}…` : words;
}

/**
 * The entry of a sentence before it was edited: of the same slide, of a sentence that is no longer said, and with at least half
 * of the words.
 */
function entryBefore({ slide, words }, evidence, ids) {
  const own = wordsIn(words);
  const shared = (entry) => {
    const theirs = wordsIn(entry.words);
    return [...own].filter((word) => theirs.has(word)).length / Math.max(own.size, theirs.size);
  };
  const gone = [...(evidence?.values() ?? [])].filter((entry) => entry.slide === slide && !ids.has(entry.id));
  const [likeliest] = gone.sort((a, b) => shared(b) - shared(a));
  return likeliest && shared(likeliest) >= 0.5 ? likeliest : undefined;
}

function wordsIn(text) {
  return new Set(text.toLowerCase().match(/\{[^}]*\}|[\p{L}\p{N}]+/gu));
}

/**
 * Writes that a person has read sentences. An edited one stays what it was. What the markup of a new one does not tell stays red
 * as `unread` until that person has written into the file what it is.
 * @param {{root: string, file: string, slides: object[], evidence: Map<string, object>|null,
 *          own: Map<string, object>, tellingOf: (slide: object) => {data: object, words: object}}} talk
 *   tellingOf: the data that a slide is of
 * @param {string[]} which   ids of sentences or of slides, or "all"
 * @param {{kind?: string}} reading   kind: what they are, instead of what the file or their markup tells
 * @returns {Promise<{accepted: number, unread: number, unknown: string[]}>} unread: of those accepted
 */
export async function accept({ root, file, slides, evidence, own, tellingOf }, which, { kind }) {
  const all = slides.flatMap((slide) => {
    const { data, words } = tellingOf(slide);
    return sentencesOf(slide).map((sentence) => ({ ...sentence, data: { ...data, own }, toText: words }));
  });
  const asked = (sentence) =>
    which.includes("all") || which.includes(sentence.id) || which.includes(sentence.slide);
  const ids = new Set(all.map(({ id }) => id));
  const kept = new Set();
  const bySlide = {};
  const accepted = [];
  for (const sentence of all) {
    const known = evidence?.get(sentence.id);
    const before = known ?? entryBefore(sentence, evidence, ids);
    if (!asked(sentence) && known === undefined) {
      // Whoever accepts the edited sentence later has to find what it was.
      if (before && !kept.has(before)) (bySlide[sentence.slide] ??= []).push(entryOf(before, before));
      kept.add(before);
      continue;
    }
    const entry = { ...before, kind: known?.kind ?? kindOf(sentence) ?? before?.kind ?? UNREAD };
    if (asked(sentence)) {
      const shown = shownBy(sentence);
      const added = restsByHand(before).filter((name) => !shown.includes(name));
      entry.kind = kind ?? entry.kind;
      entry.rests_on = stateOf(unique([...shown, ...added]), sentence.data, sentence.toText);
      const nothing = added.find((name) => entry.rests_on[name] === ABSENT);
      if (nothing) throw new Error(`${file}: ${sentence.id} rests on ${nothing}, which the data do not have`);
      delete entry.of;
      accepted.push(entry);
    }
    entry.of ??= originOf(sentence, Object.keys(entry.rests_on ?? {}), sentence.data);
    (bySlide[sentence.slide] ??= []).push(entryOf(sentence, entry));
  }
  await writeFile(path.join(root, file), HEAD + documentOf(bySlide));
  const names = new Set(all.flatMap(({ id, slide }) => [id, slide]));
  return {
    accepted: accepted.length,
    unread: accepted.filter((entry) => entry.kind === UNREAD).length,
    unknown: which.filter((name) => name !== "all" && !names.has(name)),
  };
}

/** What an entry rests on besides what its sentence is bound to: somebody has written it into the file. */
function restsByHand({ words, when = "", rests_on = {} } = { words: "" }) {
  const isBound = (name) => words.includes(`{${name}}`) || when.split(/[;\s]+/).includes(name);
  return Object.keys(rests_on).filter((name) => !isBound(name));
}

function entryOf({ id, words, when, sources = [] }, { kind, scope, rests_on = {}, of }) {
  return {
    id,
    [kind]: words,
    ...(when ? { when } : {}),
    ...(sources.length > 0 ? { sources } : {}),
    ...(scope ? { scope } : {}),
    ...(Object.keys(rests_on).length > 0 ? { rests_on } : {}),
    ...(of ? { of } : {}),
  };
}

/** The file's text: what the data said is one line for each name. */
function documentOf(bySlide) {
  const document = new Document(bySlide);
  visit(document, {
    Map(_, node) {
      // A slide may be called “verdict”.
      if ((node.has("verdict") || node.has("estimate")) && node.items.every(({ value }) => isScalar(value)))
        node.flow = true;
    },
  });
  return document.toString({ lineWidth: 120 });
}

const HEAD = `# What each sentence of this talk rests on, as somebody read it beside the slide; docs/wording.md#evidence.
# measured: on the values and claims below it; source: somebody else's words or figure; definition: true by definition, or
# how something works; judgement: the speaker's. Names below rests_on get what the data say with: npm run check -- --accept ID
# of: the data set of the figures, and the releases of Ceph that measured them.
`;
