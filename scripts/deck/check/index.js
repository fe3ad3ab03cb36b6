/** Checks the talk: `checkTalk` gathers what the rules need, applies them, and adds up the time. */

import { readFile, readdir } from "node:fs/promises";
import path from "node:path";

import { withDataSet } from "../../../deck/data/data-set.js";
import { findAlterations } from "../alterations.js";
import { indexOf, scanBenchmarks } from "../data-sets.js";
import { readBeside, readDataSet } from "../text/data-set-words.js";
import { readSlide } from "../text/segments.js";
import { byTelling, tellingOf } from "../text/slide-words.js";
import { chartsOf } from "./charts-of.js";
import { lineAt, readTalk } from "./chapters.js";
import { secondsIn } from "./cuts.js";
import { readDeclared } from "./declared.js";
import { accept, evidenceFile, readEvidence } from "./evidence.js";
import { releasesOn } from "./releases.js";
import { RULES, RULES_OF_SLIDES, forOtherData, unwritten } from "./rules.js";
import { readStyles } from "./styles.js";

const CLAIMS = path.join("config", "claims.yaml");

/**
 * What rules get.
 * @typedef {object} Talk
 * @property {{file: string, text: string, slides: object[]}[]} chapters
 * @property {import("../text/segments.js").ReadSlide[]} slides
 * @property {Map<string, string>} files   what the deck may read below benchmarks
 * @property {Set<string>} dataSets
 * @property {Set<string>} experiments
 * @property {import("../talk-file.js").TalkFile} stated   slides/<talk>/talk.yaml
 * @property {import("../talk-file.js").TalkFile["cuts"]} cuts
 * @property {{name: string, manifest: object|null, claims: object|null}} shipped   the data set that the slides are held
 *   to: the talk's, or for rules of slides the one of these slides
 * @property {Map<string, {claims: object|null, releases: object|null}>} beside   the data sets of tables of claims by release
 * @property {boolean} literal   whether that is the one whose figures are written on the slides
 * @property {ReturnType<typeof import("../text/data-set-words.js").wordsOf>} words   the texts of that data set
 * @property {(id: string) => {file: string, line: number}} claimPlace   where a claim is written
 * @property {{file: string, text: string}[]} styles   the deck's style sheets
 * @property {Record<string, string[]>|null} published   figures by source, as the author declared them
 * @property {Map<string, object>|null} evidence   what each sentence rests on, by its id; null if the talk keeps no such file
 * @property {Record<string, import("../alterations.js").Alteration[]>} altered   of the data sets that slides show
 *
 * @param {{root: string, benchmarks: string, data?: string|null}} places
 *   root: the talk's folder; data: the data set to hold the talk to, null for the one that it names
 * @returns {Promise<{accept: (which: string[], reading?: {kind?: string}) => ReturnType<typeof accept>, keepsEvidence: boolean, evidence: string, problems: import("./chapters.js").Problem[],
 *                    times: {file: string, slides: number, seconds: Record<number, number>, appendix: number}[],
 *                    cuts: number[], unwritten: {file: string, line: number}[]}>}
 *   seconds: of the slides that are counted, by cut; cuts: in minutes, the usual one first; evidence: its file;
 *   unwritten: notes that still ask for what only the speaker can say
 * @throws {import("../checked-yaml.js").InvalidFile} if slides/<talk>/talk.yaml is not as it must be
 */
export async function checkTalk({ root, benchmarks, data = null }) {
  const { talk: stated, chapters, problems } = await readTalk(root);
  const { files } = await scanBenchmarks(benchmarks);
  const shipped = await readDataSet(benchmarks, data ?? stated.dataSet);
  const telling = await tellingOf({ benchmarks, stated, data: shipped });
  const { own: literal } = telling({ dataSet: null });
  const slides = chapters.flatMap((chapter) =>
    chapter.slides.map((slide) => readSlide(literal ? slide : shownWith(slide, shipped.name))),
  );
  const dataSets = new Set(indexOf(files).data_sets);
  const drawn = slides.flatMap((slide) => chartsOf(slide).map(({ parts }) => parts?.dataSet));
  const released = releasesOn(slides).filter((name) => dataSets.has(name));
  const shown = [...new Set([shipped.name, ...drawn, ...released])].filter((name) => dataSets.has(name));
  const talk = {
    chapters,
    slides,
    stated,
    cuts: stated.cuts,
    literal,
    files,
    dataSets,
    altered: await findAlterations(benchmarks, shown),
    styles: await readStyles(root),
    ...(await readDeclared(root)),
    evidence: await readEvidence(root, evidenceFile(stated)),
    experiments: await experimentNames(root, files),
    beside: new Map(
      await Promise.all(released.map(async (name) => [name, await readBeside(benchmarks, name)])),
    ),
    shipped,
    words: telling({ dataSet: null }).words,
    claimPlace: await claimPlaces(root, shipped.name),
  };
  const chosen = (rules) => (literal ? rules : forOtherData(rules));
  for (const rule of chosen(RULES)) problems.push(...rule(talk));
  for (const group of byTelling(slides, telling)) {
    const { data: ofSlides, words, slides: members } = group;
    const part = { ...talk, slides: members, shipped: ofSlides, words };
    for (const rule of chosen(RULES_OF_SLIDES)) problems.push(...rule(part));
  }
  problems.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  const times = chapters.filter(({ front }) => !front).map((chapter) => timeOf(chapter, stated.cuts));
  return {
    problems,
    unwritten: unwritten(slides),
    times,
    cuts: stated.cuts.map(({ minutes }) => minutes),
    keepsEvidence: talk.evidence !== null,
    evidence: evidenceFile(stated),
    accept: (which, reading = {}) =>
      accept({ ...talk, root, file: evidenceFile(stated), tellingOf: telling }, which, reading),
  };
}

/** A slide as the deck shows it with another data set: its charts are of that one. */
function shownWith(slide, name) {
  const text = slide.text.replace(
    /(\bdata-chart-src=")([^"]*)(?=")/g,
    (_, before, src) => before + withDataSet(src, name),
  );
  return { ...slide, text };
}

/** Experiments that are configured, and those that a data set holds. */
async function experimentNames(root, files) {
  const folder = path.join(root, "config", "experiments");
  const configured = await readdir(folder).catch(() => []);
  const measured = [...files.keys()].map((file) => file.split("/")).filter((parts) => parts.length === 4);
  return new Set([
    ...configured.filter((name) => name.endsWith(".yaml")).map((name) => name.slice(0, -".yaml".length)),
    ...measured.map((parts) => parts[1]),
  ]);
}

/** Where a claim is written: its line in the configuration, else the shipped claims.json. */
async function claimPlaces(root, shipped) {
  const text = await readFile(path.join(root, CLAIMS), "utf8").catch((error) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  return (id) => {
    const at = [...text.matchAll(/^\s*-\s+id:\s*["']?([\w-]+)/gm)].find((match) => match[1] === id);
    return at
      ? { file: "config/claims.yaml", line: lineAt(text, at.index + at[0].indexOf("-")) }
      : { file: `benchmarks/${shipped}/claims.json`, line: 1 };
  };
}

function timeOf({ file, slides }, cuts) {
  const sum = (secondsOf) => slides.reduce((total, slide) => total + secondsOf(slide), 0);
  return {
    file,
    slides: slides.length,
    seconds: Object.fromEntries(cuts.map(({ minutes: cut }) => [cut, sum((slide) => secondsIn(slide, cut))])),
    appendix: sum(({ uncounted, timing }) => (uncounted ? Number(timing) || 0 : 0)),
  };
}
