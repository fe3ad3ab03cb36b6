/** Checks the talk: `checkTalk` gathers what the rules need, applies them, and adds up the time. */

import path from "node:path";

import { loadKind, whyNoKind } from "chartjs-plugin-csv";

import { partsOf } from "../../../deck/data/data-set.js";
import { findAlterations } from "../alterations.js";
import { parseYaml } from "../checked-yaml.js";
import { PROJECT, entriesOf, indexOf, scanBenchmarks, textIfThere } from "../data-sets.js";
import { lookStyles } from "../look.js";
import { ownCharts } from "../own-charts.js";
import { readBeside, readDataSet } from "../text/data-set-words.js";
import { applyEdits } from "../text/escape.js";
import { chartEdits } from "../text/pin.js";
import { readSlide } from "../text/segments.js";
import { byTelling, tellingOf } from "../text/slide-words.js";
import { addressesOf, chartsOf } from "./charts-of.js";
import { readTalk } from "./chapters.js";
import { secondsIn } from "./cuts.js";
import { readDrawn } from "./drawn.js";
import { accept, evidenceFile, readEvidence } from "./evidence.js";
import { lookProblems } from "./look.js";
import { readPublished } from "./published.js";
import { releasesOn } from "./releases.js";
import { RULES, RULES_OF_SLIDES, forOtherData, unwritten } from "./rules.js";
import { readStyles } from "./styles.js";

const CLAIMS = path.join("config", "claims.yaml");

/**
 * What rules get.
 * @typedef {object} Talk
 * @property {{file: string, text: string, slides: object[]}[]} chapters
 * @property {import("./chapters.js").Problem[]} missing   chapters that are not there
 * @property {import("../text/segments.js").ReadSlide[]} slides
 * @property {Map<string, string>} files   what the deck may read below benchmarks
 * @property {Set<string>} dataSets
 * @property {Set<string>} experiments
 * @property {import("../talk-file.js").TalkFile} stated   slides/<talk>/talk.yaml
 * @property {import("../talk-file.js").TalkFile["cuts"]} cuts
 * @property {{name: string, manifest: object|null, claims: object|null}} shipped   the data set that the slides are held
 *   to: the talk's, or for rules of slides the one of these slides
 * @property {(slide: object) => import("../text/slide-words.js").Telling} telling   the data set of each slide
 * @property {Map<string, {claims: object|null, releases: object|null}>} beside   the data sets of tables of claims by release
 * @property {boolean} literal   whether that is the one whose figures are written on the slides
 * @property {ReturnType<typeof import("../text/data-set-words.js").wordsOf>} words   the texts of that data set
 * @property {Map<string, import("chartjs-plugin-csv").Model>} drawn   what is in the files of the charts, by address
 * @property {object[]} book   the claims as config/claims.yaml has them
 * @property {{file: string, text: string}[]} styles   the style sheets of the deck and of the talk's look
 * @property {string[]} kinds   kinds of charts that the talk adds
 * @property {Map<string, {text: string, digest: string}>} own   files of the talk's own charts, by what slides call them
 * @property {Record<string, string[]>|null} published   figures by source, as the author declared them
 * @property {Map<string, object>|null} evidence   what each sentence rests on, by its id; null if the talk keeps no such file
 * @property {Record<string, import("../alterations.js").Alteration[]>} altered   of the data sets that slides show
 *
 * @typedef {{root: string, benchmarks: string, data?: string|null}} Places
 *   root: the talk's folder; data: the data set to hold the talk to, null for the one that it names
 */

/**
 * @param {Places} places
 * @returns {Promise<{accept: (which: string[], reading?: {kind?: string}) => ReturnType<typeof accept>, keepsEvidence: boolean, evidence: string, problems: import("./chapters.js").Problem[],
 *                    times: {file: string, slides: number, seconds: Record<number, number>, appendix: number}[],
 *                    slides: object[], talkFile: string, cuts: number[], unwritten: {file: string, line: number}[]}>}
 *   seconds: of the slides that are counted, by cut; cuts: in minutes, the usual one first; evidence: its file;
 *   unwritten: notes that still ask for what only the speaker can say
 * @throws {import("../checked-yaml.js").InvalidFile} if slides/<talk>/talk.yaml is not as it must be
 */
export async function checkTalk(places) {
  const talk = await gatherTalk(places);
  const { chapters, missing, stated, telling } = talk;
  const problems = [...missing, ...problemsOf(talk), ...lookProblems(places.root, stated.name)];
  problems.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  const times = chapters.filter(({ front }) => !front).map((chapter) => timeOf(chapter, stated.cuts));
  const file = evidenceFile(stated);
  return {
    problems,
    unwritten: unwritten(talk.slides),
    times,
    slides: talk.slides,
    talkFile: stated.file,
    cuts: stated.cuts.map(({ minutes }) => minutes),
    keepsEvidence: talk.evidence !== null,
    evidence: file,
    accept: (which, reading = {}) =>
      accept({ ...talk, root: places.root, file, tellingOf: telling }, which, reading),
  };
}

/** What the rules say of a talk. Pure. @param {Talk} talk */
export function problemsOf(talk) {
  const chosen = (rules) => (talk.literal ? rules : forOtherData(rules));
  const ofSlides = byTelling(talk.slides, talk.telling).flatMap(({ data: shipped, words, slides }) => {
    const part = { ...talk, slides, shipped, words };
    return chosen(RULES_OF_SLIDES).flatMap((rule) => rule(part));
  });
  return [...chosen(RULES).flatMap((rule) => rule(talk)), ...ofSlides];
}

/**
 * Reads what rules get.
 * @param {Places} places
 * @returns {Promise<Talk>}
 */
export async function gatherTalk({ root, benchmarks, data = null }) {
  const { talk: stated, chapters, problems: missing } = await readTalk(root);
  const { files } = await scanBenchmarks(benchmarks);
  const shipped = await readDataSet(benchmarks, data ?? stated.dataSet);
  const telling = await tellingOf({ benchmarks, stated, data: shipped });
  const { own: literal } = telling({ dataSet: null });
  const slides = chapters.flatMap((chapter) =>
    chapter.slides.map(readSlide).map((slide) => (literal ? slide : shownWith(slide, shipped.name))),
  );
  const dataSets = new Set(indexOf(files).data_sets);
  const charts = slides.flatMap(chartsOf);
  await loadKinds(charts);
  const released = releasesOn(slides).filter((name) => dataSets.has(name));
  const drawn = charts.flatMap(addressesOf).map((src) => partsOf(src)?.dataSet);
  const named = [shipped.name, ...drawn, ...released];
  const shown = [...new Set(named)].filter((name) => dataSets.has(name));
  return {
    chapters,
    missing,
    slides,
    stated,
    cuts: stated.cuts,
    literal,
    telling,
    files,
    dataSets,
    altered: await findAlterations(benchmarks, shown),
    styles: [...(await readStyles(root)), ...lookStyles(root, stated.name)],
    kinds: await ownKinds(stated.name),
    own: await ownCharts(path.join(root, "slides", stated.name)),
    published: await readPublished(root),
    evidence: await readEvidence(root, evidenceFile(stated)),
    experiments: await experimentNames(root, files),
    beside: new Map(
      await Promise.all(released.map(async (name) => [name, await readBeside(benchmarks, name)])),
    ),
    shipped,
    words: telling({ dataSet: null }).words,
    drawn: await readDrawn(benchmarks, charts, files),
    book: await readBook(root),
  };
}

/** Fetches the plugin's own kinds that charts name: they say how their files are laid out. */
async function loadKinds(charts) {
  const named = new Set(charts.map(({ element }) => element.attributes["data-chart"]));
  await Promise.all([...named].filter((id) => id && whyNoKind(id) === null).map((id) => loadKind(id)));
}

/** A slide as the deck shows it with another data set: its charts are of that one. */
function shownWith(slide, name) {
  return readSlide({ ...slide, text: applyEdits(slide.text, chartEdits(slide, name)) });
}

/** Kinds of charts that a talk adds; the deck has those of the checkout (deck/stage/chart-code.js). */
async function ownKinds(talk) {
  const files = await entriesOf(path.join(PROJECT, "slides", talk, "kinds"));
  return files.flatMap(({ name }) => (name.endsWith(".js") ? [path.basename(name, ".js")] : []));
}

/** Experiments that are configured, and those that a data set holds. */
async function experimentNames(root, files) {
  const folder = path.join(root, "config", "experiments");
  const configured = (await entriesOf(folder)).map(({ name }) => name);
  const measured = [...files.keys()].map((file) => file.split("/")).filter((parts) => parts.length === 4);
  return new Set([
    ...configured.filter((name) => name.endsWith(".yaml")).map((name) => name.slice(0, -".yaml".length)),
    ...measured.map((parts) => parts[1]),
  ]);
}

/** The claims as they are written; none where nobody wrote any. */
async function readBook(root) {
  const text = (await textIfThere(path.join(root, CLAIMS))) ?? "";
  return parseYaml(text, CLAIMS)?.claims ?? [];
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
