/**
 * What each sentence of a talk rests on: `evidence.yaml` beside its chapters. Each sentence is *measured* (it names the
 * values and claims of its data), a *source*'s, a *definition* or mechanism, or a *judgement* of the speaker. An entry is
 * written after a person has read the sentence; it records what the data said then. A new or edited sentence, a changed
 * verdict, and an estimate outside its former interval are problems until somebody has read the sentence again.
 */

import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { parse, stringify } from "yaml";

import { KINDS } from "../constants.js";
import { verdictOf } from "../../../deck/text/verdict-text.js";
import { nodesOf } from "../text/segments.js";
import { isElement } from "../text/tree.js";
import { lineIn } from "./chapters.js";

const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" });
const PLACES = { heading: "title", note: "note", body: "text", attribute: "label" };

/**
 * @typedef {object} Sentence
 * @property {string} id      of its slide, place, words and conditions: an edited sentence is another one
 * @property {string} slide   id of the slide; the file of a section of the reader's page
 * @property {string} file
 * @property {number} line
 * @property {"title"|"text"|"note"|"label"|"picture"} place
 * @property {string} words   each bound value as its name in braces
 * @property {string} [when]  `<claim> <verdict> …`: it is said with these verdicts only
 * @property {string[]} values   the values of the data that it says
 * @property {string[]} claims   the claims whose verdict chooses it
 * @property {string[]} sources   the sources that it names
 */

/** The file of a talk's evidence: in the folder of its first chapter. */
export function evidenceFile({ chapters }) {
  return path.posix.join(path.posix.dirname(chapters[0]), "evidence.yaml");
}

/**
 * Every sentence of a slide that somebody reads or hears, with every verdict, and every picture: its tag says what is drawn.
 * @param {import("../text/segments.js").ReadSlide} slide
 * @returns {Sentence[]} in the order of the slide
 */
export function sentencesOf(slide) {
  const blocks = new Map();
  for (const segment of slide.segments)
    blocks.set(segment.block, [...(blocks.get(segment.block) ?? []), segment]);
  const sentences = [...blocks.values()].flatMap((segments) => sentencesOfBlock(segments));
  const pictures = [...nodesOf(slide)].filter(isPicture).map((element) => pictureOf(slide, element));
  const seen = new Set();
  return [...sentences, ...pictures]
    .map((sentence) => withId({ slide: slide.id ?? slide.file, file: slide.file, ...sentence }))
    .filter(({ id }) => !seen.has(id) && seen.add(id));
}

/** The sentences of a block as they are with each of its conditions. */
function sentencesOfBlock(segments) {
  const conditions = new Map(segments.map(({ when }) => [JSON.stringify(when), when]));
  conditions.delete("[]");
  const variants = conditions.size > 0 ? [...conditions.values()] : [[]];
  return variants.flatMap((when) => {
    const key = JSON.stringify(when);
    const shown = segments.filter((segment) => segment.when.length === 0 || JSON.stringify(segment.when) === key);
    return partsOf(shown).map((part) => ({
      place: PLACES[part.kind],
      ...part,
      // What all verdicts share is said with each of them.
      when: part.depends ? when.map(({ claim, verdicts }) => [claim, ...verdicts].join(" ")).join("; ") : "",
      claims: part.depends ? when.map(({ claim }) => claim) : [],
    }));
  });
}

function partsOf(segments) {
  let text = "";
  const pieces = segments.map((segment) => {
    const from = text.length;
    text += segment.bound === null ? segment.text.replace(/\s+/g, " ") : `{${segment.bound.trim()}}`;
    return { ...segment, from, to: text.length };
  });
  return [...SENTENCES.segment(text)]
    .map(({ segment: words, index }) => {
      const within = pieces.filter(({ from, to }) => from < index + words.trimEnd().length && to > index);
      return {
        words: words.trim(),
        line: within[0]?.line,
        kind: within[0]?.kind,
        depends: within.some(({ when }) => when.length > 0),
        values: unique(within.map(({ bound }) => bound?.trim())),
        sources: unique(within.map(({ source }) => source)),
      };
    })
    .filter(({ words }) => /[\p{L}\p{N}]/u.test(words));
}

function isPicture(node) {
  return isElement(node) && Object.keys(node.attributes).some((name) => PICTURE.test(name));
}

/** Attributes that decide what a picture shows. */
const PICTURE = /^data-(?:chart|ratio|release|claims|answer)/;

/** A picture: everything in its tag and in its options that decides what is drawn. */
function pictureOf(slide, element) {
  const drawn = Object.entries(element.attributes).filter(([name]) => PICTURE.test(name) || name === "data-when");
  const options = /<!--([\s\S]*?)-->/.exec(slide.text.slice(element.innerStart, element.innerEnd))?.[1] ?? "";
  const words = [...drawn.map(([name, value]) => `${name}=${value}`), options].join(" ").replace(/\s+/g, " ").trim();
  return {
    place: "picture",
    words,
    line: lineIn(slide, element.start),
    when: "",
    claims: [],
    values: [],
    sources: unique([element.attributes["data-source"]]),
  };
}

function withId(sentence) {
  const { slide, place, words, when } = sentence;
  const id = createHash("sha256").update([slide, place, words, when].join("\n")).digest("hex").slice(0, 8);
  return { id, ...sentence };
}

/**
 * What the data say now of everything that a sentence rests on.
 * @param {string[]} rests   values (`answer.snapshot-60.…`, `<claim>.<condition>`) and claims
 * @param {{claims: object|null}} data
 * @param {{resolve: (value: string) => string|null}} words
 * @returns {Record<string, string|{verdict: string}|{estimate: number, low: number|null, high: number|null}>}
 */
export function stateOf(rests, { claims }, words) {
  return Object.fromEntries(
    rests.map((name) => {
      const [claim, condition] = name.split(".");
      const known = claims?.claims?.[claim];
      if (known === undefined) return [name, words.resolve(name) ?? "not measured"];
      if (condition === undefined) return [name, { verdict: verdictOf(claim, claims) }];
      const measured = known.conditions?.[condition];
      if (measured === undefined) return [name, words.resolve(name) ?? "not measured"];
      const { estimate = null, low = null, high = null } = measured;
      return [name, { estimate, low, high }];
    }),
  );
}

/** Why what a sentence rests on is no longer what it was when somebody read it; null if it is. */
export function whyMoved(name, before, now) {
  if (before === undefined) return `${name} was not looked at`;
  if (typeof now === "string" || typeof before === "string")
    return now === before ? null : `${name} was ${said(before)}, and is ${said(now)}`;
  if ("verdict" in now)
    return now.verdict === before.verdict ? null : `${name} was ${before.verdict}, and is ${now.verdict}`;
  const { low, high, estimate } = before;
  const inside = low === null ? now.estimate === estimate : now.estimate >= low && now.estimate <= high;
  return inside ? null : `${name} was ${said(before)}, and is ${said(now)}`;
}

function said(state) {
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
  let text;
  try {
    text = await readFile(path.join(root, file), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
  const slides = parse(text) ?? {};
  const entries = Object.entries(slides).flatMap(([slide, list]) => list.map((entry) => ({ slide, ...entry })));
  for (const { id, kind, slide } of entries)
    if (!KINDS.includes(kind))
      throw new Error(`${file}: slide ${slide}, ${id}: kind "${kind}" is none of ${KINDS.join(", ")}`);
  return new Map(entries.map((entry) => [entry.id, entry]));
}

/**
 * The sentences that nobody has read as they stand.
 * @param {{slides: object[], evidence: Map<string, object>, shipped: object, words: object}} talk
 * @returns {(Sentence & {why: string, rests: string[]})[]}
 */
export function unread({ slides, evidence, shipped, words }) {
  return slides.flatMap(sentencesOf).flatMap((sentence) => {
    const entry = evidence.get(sentence.id);
    const rests = unique([...sentence.values, ...sentence.claims, ...Object.keys(entry?.rests_on ?? {})]);
    if (entry === undefined) return [{ ...sentence, rests, why: "nobody has read it" }];
    const now = stateOf(rests, shipped, words);
    const moved = rests.map((name) => whyMoved(name, entry.rests_on?.[name], now[name])).filter(Boolean);
    return moved.length > 0 ? [{ ...sentence, rests, why: moved.join("; ") }] : [];
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

function quoted({ words, when }) {
  const short = words.length > 200 ? `${words.slice(0, 197)}…` : words;
  return when ? `“${short}” [${when}]` : `“${short}”`;
}

/** The kind of a sentence that its own markup tells; null if a person has to say it. */
export function kindOf({ place, values, claims, sources }) {
  const published = sources.find((source) => /^S\d/.test(source));
  if (place === "picture" || values.length > 0 || claims.length > 0) return "measured";
  if (published) return "source";
  return sources.length > 0 ? "definition" : null;
}

/**
 * Writes that a person has read sentences.
 * @param {{root: string, file: string, slides: object[], evidence: Map<string, object>|null, shipped: object,
 *          words: object}} talk
 * @param {string[]} which   ids of sentences or of slides, or "all"
 * @param {{kind?: string, rests?: string[], scope?: string}} reading   kind: for those whose markup does not tell it
 * @returns {Promise<{accepted: number, unknown: string[], undecided: Sentence[]}>} undecided: nobody said what they are
 */
export async function accept({ root, file, slides, evidence, shipped, words }, which, { kind, rests = [], scope }) {
  const all = slides.flatMap(sentencesOf);
  const asked = (sentence) => which.includes("all") || which.includes(sentence.id) || which.includes(sentence.slide);
  const known = evidence ?? new Map();
  const undecided = [];
  let accepted = 0;
  const bySlide = {};
  for (const sentence of all) {
    const before = known.get(sentence.id);
    let entry = before;
    if (asked(sentence)) {
      const decided = kind ?? before?.kind ?? kindOf(sentence);
      if (decided === null) undecided.push(sentence);
      else {
        const names = unique([...sentence.values, ...sentence.claims, ...Object.keys(before?.rests_on ?? {}), ...rests]);
        entry = entryOf(sentence, { kind: decided, rests: stateOf(names, shipped, words), scope: scope ?? before?.scope });
        accepted += 1;
      }
    }
    if (entry === undefined) continue;
    const { slide, ...written } = entry;
    (bySlide[sentence.slide] ??= []).push(written);
  }
  await writeFile(path.join(root, file), HEAD + stringify(bySlide, { lineWidth: 120 }));
  const names = new Set(all.flatMap(({ id, slide }) => [id, slide]));
  return { accepted, undecided, unknown: which.filter((name) => name !== "all" && !names.has(name)) };
}

function entryOf({ id, place, words, when, sources }, { kind, rests, scope }) {
  return {
    id,
    place,
    words,
    ...(when ? { when } : {}),
    kind,
    ...(sources.length > 0 ? { sources } : {}),
    ...(scope ? { scope } : {}),
    ...(Object.keys(rests).length > 0 ? { rests_on: rests } : {}),
  };
}

const HEAD = `# What each sentence of this talk rests on, as somebody read it: npm run check -- --accept ID …
# measured: on the values and claims below; source: somebody else's words or figure; definition: or mechanism; judgement.
`;

function unique(list) {
  return [...new Set(list.filter((item) => item !== null && item !== undefined))];
}
