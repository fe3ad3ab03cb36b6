/** Checks the talk: `checkTalk` gathers what the rules need, applies them, and adds up the time. */

import { readFile, readdir } from "node:fs/promises";
import path from "node:path";

import { indexOf, scanBenchmarks } from "../data-sets.js";
import { readTalk } from "./chapters.js";
import { RULES } from "./rules.js";

/**
 * @param {{root: string, benchmarks: string}} places   root: folder of index.html
 * @returns {Promise<{problems: import("./chapters.js").Problem[],
 *                    times: {file: string, story: number, appendix: number}[]}>} times in seconds
 */
export async function checkTalk({ root, benchmarks }) {
  const { chapters, problems } = await readTalk(root);
  const slides = chapters.flatMap((chapter) => chapter.slides);
  const { files } = await scanBenchmarks(benchmarks);
  const dataSets = new Set(indexOf(files).data_sets);
  const html = await readFile(path.join(root, "index.html"), "utf8");
  const usual = /name="replay:data-set" content="([^"]+)"/.exec(html)?.[1] ?? "reference";
  const talk = {
    chapters,
    slides,
    files,
    dataSets,
    experiments: await experimentNames(root, files),
    sources: { manifest: await readJson(path.join(benchmarks, usual, "manifest.json")) },
  };
  for (const rule of RULES) problems.push(...rule(talk));
  problems.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  return { problems, times: chapters.map(timeOf) };
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

async function readJson(file) {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw new Error(`${file}: ${error.message}`, { cause: error });
  }
}

function timeOf({ file, slides }) {
  const sum = (some) => some.reduce((total, { timing }) => total + (Number(timing) || 0), 0);
  return {
    file,
    slides: slides.length,
    story: sum(slides.filter(({ uncounted }) => !uncounted)),
    appendix: sum(slides.filter(({ uncounted }) => uncounted)),
  };
}
