/** Checks the talk: `checkTalk` gathers what the rules need, applies them, and adds up the time. */

import { readFile, readdir } from "node:fs/promises";
import path from "node:path";

import { CUTS } from "../../../deck/page/mode.js";
import { indexOf, scanBenchmarks } from "../data-sets.js";
import { readDataSet, wordsOf } from "../text/data-set-words.js";
import { readSlide } from "../text/segments.js";
import { findAlterations } from "../verified/alterations.js";
import { chartsOf } from "./charts-of.js";
import { lineAt, readTalk, shippedDataSet } from "./chapters.js";
import { secondsIn } from "./cuts.js";
import { readDeclared } from "./declared.js";
import { RULES } from "./rules.js";
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
 * @property {{name: string, manifest: object|null, claims: object|null}} shipped   the data set that literals are of
 * @property {ReturnType<typeof wordsOf>} words   the texts of the shipped data set
 * @property {(id: string) => {file: string, line: number}} claimPlace   where a claim is written
 * @property {{file: string, text: string}[]} styles   the deck's style sheets
 * @property {Record<string, string[]>|null} published   figures by source, as the author declared them
 * @property {object|null} verdictWords   words that tell texts for "held" and "refuted" apart, as the author declared them
 * @property {Record<string, import("../verified/alterations.js").Alteration[]>} altered   of the data sets that slides show
 *
 * @param {{root: string, benchmarks: string}} places   root: folder of index.html
 * @returns {Promise<{problems: import("./chapters.js").Problem[],
 *                    times: {file: string, slides: number, seconds: Record<number, number>, appendix: number}[]}>}
 *   seconds: of the slides that are counted, by cut
 */
export async function checkTalk({ root, benchmarks }) {
  const { chapters, problems } = await readTalk(root);
  const { files } = await scanBenchmarks(benchmarks);
  const html = await readFile(path.join(root, "index.html"), "utf8");
  const shipped = await readDataSet(benchmarks, shippedDataSet(html));
  const slides = chapters.flatMap((chapter) => chapter.slides.map(readSlide));
  const dataSets = new Set(indexOf(files).data_sets);
  const drawn = slides.flatMap((slide) => chartsOf(slide).map(({ parts }) => parts?.dataSet));
  const shown = [...new Set([shipped.name, ...drawn])].filter((name) => dataSets.has(name));
  const talk = {
    chapters,
    slides,
    files,
    dataSets,
    altered: await findAlterations(benchmarks, shown),
    styles: await readStyles(root),
    ...(await readDeclared(root)),
    experiments: await experimentNames(root, files),
    shipped,
    words: wordsOf(shipped, { shipped: true }),
    claimPlace: await claimPlaces(root, shipped.name),
  };
  for (const rule of RULES) problems.push(...rule(talk));
  problems.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  return { problems, times: chapters.filter(({ front }) => !front).map(timeOf) };
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

function timeOf({ file, slides }) {
  const sum = (secondsOf) => slides.reduce((total, slide) => total + secondsOf(slide), 0);
  return {
    file,
    slides: slides.length,
    seconds: Object.fromEntries(CUTS.map((cut) => [cut, sum((slide) => secondsIn(slide, cut))])),
    appendix: sum(({ uncounted, timing }) => (uncounted ? Number(timing) || 0 : 0)),
  };
}
