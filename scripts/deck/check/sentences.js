/**
 * A slide as the sentences that somebody reads or hears, and the pictures that somebody sees: each with its place, what it
 * is bound to, and an id that another wording does not have. Pure.
 */

import { hash } from "node:crypto";

import { isOwnName } from "../../../deck/data/own-file.js";
import { parseWhen } from "../../../deck/text/verdict-text.js";
import { nodesOf } from "../text/segments.js";
import { isElement } from "../text/tree.js";
import { lineIn } from "./chapters.js";
import { addressesOf } from "./charts-of.js";

const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" });
const PLACES = { heading: "title", note: "note", body: "text", attribute: "label" };

/**
 * @typedef {object} Sentence
 * @property {string} id      of its slide, place, words, conditions and sources: an edited sentence is another one
 * @property {string} slide   id of the slide; the file of a section of the reader's page
 * @property {string} file
 * @property {number} line
 * @property {"title"|"text"|"note"|"label"|"picture"} place
 * @property {string} words   each bound value as its name in braces
 * @property {string} [when]  `<claim> <verdict> …`: it is said with these verdicts only
 * @property {string[]} values   the values of the data that it says
 * @property {string[]} claims   the claims whose verdict chooses it
 * @property {string[]} sources   the sources that it names, files of the talk's own among them
 * @property {string[]} [files]   of a picture: the files that it draws
 */

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
    const shown = segments.filter(
      (segment) => segment.when.length === 0 || JSON.stringify(segment.when) === key,
    );
    return partsOf(shown).map((part) => ({
      place: PLACES[part.kind],
      ...part,
      // What all verdicts share is said with each of them.
      ...chosenBy(part.depends ? when : []),
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

/** The verdicts with which a sentence is said or a picture drawn. */
function chosenBy(when) {
  return {
    when: when.map(({ claim, verdicts }) => [claim, ...verdicts].join(" ")).join("; "),
    claims: unique(when.map(({ claim }) => claim)),
  };
}

function isPicture(node) {
  return isElement(node) && Object.keys(node.attributes).some((name) => PICTURE.test(name));
}

/** Attributes that decide what a picture shows. */
const PICTURE = /^data-(?:chart|ratio|release|claims|answer-table)/;

/**
 * A picture: everything in its tag and in its options that decides what is drawn, the heading above it, so that two headings
 * cannot change places, and the verdicts that show it.
 */
function pictureOf(slide, element) {
  const src = element.attributes["data-chart-src"];
  const files = src === undefined ? [] : addressesOf({ src, element });
  const drawn = Object.entries(element.attributes).filter(([name]) => PICTURE.test(name));
  const when = [];
  for (let around = element; around; around = around.parent)
    when.unshift(...[parseWhen(around.attributes["data-when"])].filter(Boolean));
  const options = /<!--([\s\S]*?)-->/.exec(slide.text.slice(element.innerStart, element.innerEnd))?.[1] ?? "";
  const heading = element.parent.children.find((node) => isElement(node) && /^h[3-6]$/.test(node.name));
  const words = [heading ? wordsIn(slide, heading) : "", ...drawn.map((pair) => pair.join("=")), options]
    .join(" ")
    .replace(/\s+/g, " ")
    .trim();
  return {
    place: "picture",
    words,
    line: lineIn(slide, element.start),
    ...chosenBy(when),
    values: [],
    sources: unique([element.attributes["data-source"], ...files.filter(isOwnName)]),
    files,
  };
}

/** The words of an element, each bound value as its name in braces. */
function wordsIn(slide, { innerStart, innerEnd }) {
  return slide.text
    .slice(innerStart, innerEnd)
    .replace(/<data value="([^"]*)">[^<]*<\/data>/g, "{$1}")
    .replace(/<[^>]*>/g, "");
}

function withId(sentence) {
  const { slide, place, words, when, sources } = sentence;
  const id = hash("sha256", [slide, place, words, when, ...sources].join("\n")).slice(0, 8);
  return { id, ...sentence };
}

/** The kind of a sentence that its own markup tells; null if a person has to say it. */
export function kindOf({ place, values, claims, sources }) {
  const published = sources.find((source) => /^S\d/.test(source) || isOwnName(source));
  if (place === "picture" || values.length > 0 || claims.length > 0) return "measured";
  if (published) return "source";
  return sources.length > 0 ? "definition" : null;
}

/** A list without what is missing, each item once. */
export function unique(list) {
  return [...new Set(list.filter((item) => item !== null && item !== undefined))];
}
