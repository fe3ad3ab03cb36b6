/**
 * The rules for every slide. Each rule is a function from the talk (and the data, if it needs them) to problems; a new
 * rule is added to RULES.
 */

import { whyNoKind } from "chartjs-plugin-csv";

import { partsOf } from "../../../deck/data/data-set.js";
import { isOwnName } from "../../../deck/data/own-file.js";
import { TALK_PARTS } from "../../../deck/text/talk-facts.js";
import { nodesOf, problemsWith } from "../text/segments.js";
import { isElement } from "../text/tree.js";
import { addressesOf, isAwaited, ownModelOf } from "./charts-of.js";
import { lineAt, lineIn, problemIn } from "./chapters.js";
import { ceilings, lines, marks, notes, series, steps } from "./chart-attributes.js";
import { chartTexts } from "./chart-options.js";
import { chartSources, claimsDrawn, claimsSpoken, claimsStated } from "./coverage.js";
import { chapterMinutes, cutAttributes, linksIn, pace, wholeStory } from "./cuts.js";
import { namedDataSets, oneDataSet, unaltered } from "./data-on-slides.js";
import { unreadSentences } from "./evidence.js";
import { listedConditions, takenParts } from "./front-page.js";
import { pointNotes, saidFigures } from "./marks.js";
import { numerals, sourceIds } from "./numerals.js";
import { publishedFigures } from "./published.js";
import { releaseClaims, releasesCurrent } from "./releases.js";
import { removedParts } from "./removed.js";
import { styledTexts } from "./styles.js";
import { boundValues, shippedData, staleLiterals } from "./values.js";
import { verdictGroupsCover, verdictTexts } from "./verdicts.js";
import { wordsOfCharts, wordsOfValues } from "./words.js";

const KEBAB = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Line ends are LF: with CRLF the separators never match. */
export function lineEnds({ chapters }) {
  return chapters
    .filter(({ text }) => text.includes("\r"))
    .map(({ file, text }) => ({
      file,
      line: lineAt(text, text.indexOf("\r")),
      message: "line ends with CR LF; save the file with LF",
    }));
}

/** Every slide says how many seconds it takes; sections of the reader's page take none. */
export function timing({ slides }) {
  return slides
    .filter((slide) => !slide.front && !/^[1-9]\d*$/.test(slide.timing ?? ""))
    .map((slide) =>
      problemIn(
        slide,
        slide.timing === null
          ? 'no timing; begin the slide with <!-- .slide: data-timing="SECONDS" -->'
          : `data-timing="${slide.timing}" is not a number of seconds`,
      ),
    );
}

/** Every slide has one note that is not empty; reveal would print a second one. The reader's page has no notes. */
export function oneNote({ slides }) {
  return slides.flatMap((slide) => {
    if (slide.front) return [];
    const notes = [...slide.text.matchAll(/^<!-- Note -->/gm)];
    if (notes.length === 0) return [problemIn(slide, "no <!-- Note -->")];
    if (notes.length > 1) return [problemIn(slide, "a second <!-- Note -->", notes[1].index)];
    const words = slide.text.slice(notes[0].index + notes[0][0].length).trim();
    return words ? [] : [problemIn(slide, "an empty note", notes[0].index)];
  });
}

/** Where a note still asks for what only the speaker can say, as `replay talk` leaves it: a reminder, no problem. */
export function unwritten(slides) {
  return slides.flatMap((slide) =>
    [...slide.text.matchAll(/^\(yours: .*\)$/gm)].map(({ index }) => ({
      file: slide.file,
      line: lineIn(slide, index),
    })),
  );
}

/** Every slide has its own id, so that links can lead to it. */
export function ids({ slides }) {
  const seen = new Map();
  return slides.flatMap((slide) => {
    const { id } = slide;
    if (id === null) return [problemIn(slide, 'no id; begin the slide with <!-- .slide: id="NAME" … -->')];
    if (!KEBAB.test(id)) return [problemIn(slide, `id "${id}" is not of the form words-and-dashes`)];
    const before = seen.get(id);
    seen.set(id, before ?? `${slide.file}:${slide.line}`);
    return before ? [problemIn(slide, `id "${id}" is taken by ${before}`)] : [];
  });
}

/** Links within the deck lead to a slide; other links are complete addresses. */
export function links({ slides }) {
  const known = new Set(slides.filter(({ front }) => !front).map(({ id }) => id));
  return slides.flatMap((slide) =>
    linksIn(slide).flatMap(({ target, at }) => {
      const problem = (message) => [problemIn(slide, message, at)];
      if (target.startsWith("#/"))
        return known.has(target.slice(2)) ? [] : problem(`no slide has the id "${target.slice(2)}"`);
      if (/^(https?:\/\/|mailto:|\?)/.test(target)) return [];
      return problem(`link to "${target}"; use #/<id of a slide> or a complete address`);
    }),
  );
}

/** The slide that messengers show is one of the talk's. */
export function pictureIsASlide({ stated, slides }) {
  const { picture, file, lineOf } = stated;
  if (picture === null || slides.some(({ id, front }) => id === picture && !front)) return [];
  const message = `picture: no slide has the id "${picture}"; write the id of one`;
  return [{ file, line: lineOf("picture"), message }];
}

/** `data-talk` names what slides/<talk>/talk.yaml says of a talk. */
export function talkFacts({ slides }) {
  return problemsWith(slides, "data-talk", ({ "data-talk": names }) =>
    names
      .split(/\s+/)
      .filter((name) => !TALK_PARTS.includes(name))
      .map((name) => `data-talk: no "${name}"; there are ${TALK_PARTS.join(", ")}`),
  );
}

/**
 * A chart is of a kind that somebody draws, and each file that it names is one of its talk's own that can be read, or one that
 * the data set has, of an experiment that exists. If the slide's own data set does not exist yet, because nobody has measured
 * it, or one that the slide compares, only the form of the address is checked.
 * @param {{slides: object[], experiments: Set<string>, files: Map<string, string>, dataSets: Set<string>, shipped: object,
 *          kinds: string[], own: Map<string, object>}} talk
 */
export function charts(talk) {
  return talk.slides.flatMap((slide) =>
    canvasesOf(slide).flatMap((element) => {
      const { "data-chart": kind, "data-chart-src": src } = element.attributes;
      if (kind === undefined && src === undefined) return [];
      const messages = [
        kind === undefined ? "a chart without data-chart, its kind" : whyNoKind(kind, talk.kinds),
        ...(src === undefined
          ? ["a chart without data-chart-src"]
          : addressesOf({ src, element }).map((address) => whyNoFile(slide, element, address, talk))),
      ];
      return messages.filter(Boolean).map((message) => problemIn(slide, message, element.start));
    }),
  );
}

/** Why a chart cannot be drawn from a file that it names; null if it can. */
function whyNoFile(slide, element, src, { experiments, files, dataSets, shipped, own }) {
  if (isOwnName(src)) return ownModelOf(element.attributes, own, src).problem ?? null;
  const parts = partsOf(src);
  if (!parts)
    return `"${src}" is not benchmarks/<data set>/<experiment>/aggregate/<metric>-<workload>.csv, nor charts/NAME.csv of the talk's own`;
  const { dataSet, experiment, chart } = parts;
  if (!KEBAB.test(chart)) return `chart name "${chart}" is not of the form <metric>-<workload>`;
  if (experiment !== null && !experiments.has(experiment)) return `no experiment "${experiment}"`;
  if (dataSet === shipped.name && isAwaited(element, experiment, shipped)) return null;
  if (!dataSets.has(dataSet)) {
    if (dataSet === shipped.name || slide.compares.includes(dataSet)) return null;
    return `there is no data set "${dataSet}"; this slide is of ${shipped.name}`;
  }
  if (files.has(src.replace(/^(?:\.\/)?benchmarks\//, ""))) return null;
  return `data set "${dataSet}" has no ${src.split("/").slice(2).join("/")}`;
}

function canvasesOf(slide) {
  return [...nodesOf(slide)].filter((node) => isElement(node) && node.name === "canvas");
}

/** Rules for the talk as a whole. */
export const RULES = [
  ...[lineEnds, timing, oneNote, ids, links, pictureIsASlide, talkFacts, removedParts, unaltered],
  ...[namedDataSets, oneDataSet],
  ...[cutAttributes, chapterMinutes, wholeStory],
  ...[verdictGroupsCover, chartTexts, styledTexts, wordsOfValues],
  ...[claimsStated, claimsSpoken, claimsDrawn],
  ...[takenParts, listedConditions, releaseClaims, releasesCurrent],
];

/** Rules for the slides of one data set, which compare them with it. */
export const RULES_OF_SLIDES = [
  ...[charts, series, steps, marks, ceilings, notes, lines, chartSources],
  ...[wordsOfCharts, saidFigures, pointNotes, shippedData, boundValues, staleLiterals],
  ...[verdictTexts, numerals, sourceIds, publishedFigures, pace, unreadSentences],
];

/**
 * What the talk's own data alone decide, because it is about what is written on the slides: the deck writes the figures of
 * another data set over it.
 */
const OF_WHAT_IS_WRITTEN = [
  ...[staleLiterals, numerals, publishedFigures, saidFigures, pointNotes, unreadSentences],
];

/** Those of the rules that hold for a talk with another data set than its own. */
export function forOtherData(rules) {
  return rules.filter((rule) => !OF_WHAT_IS_WRITTEN.includes(rule));
}
