/** Generates talks to measure: with many charts, or with one chart of many points. Pure except `writeTalk`. */

import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

import { PROJECT } from "../data-sets.js";
import { readTalkFile } from "../talk-file.js";

/** The page that is measured shows the data set of the talk. */
const DATA_SET = readTalkFile(PROJECT).dataSet;
const EXPERIMENT = "generated";
const FOLDER = `benchmarks/${DATA_SET}/${EXPERIMENT}/aggregate`;
/** Series and sizes of a typical chart of the talk. */
const NAMES = ["Without journal", "With journal", "Journal mirrored", "Snapshot mirrored"];
const SIZES = Array.from({ length: 11 }, (_, step) => 4096 * 2 ** step);
/** Spread of the generated runs around their median. */
const SPREAD = { min: 0.9, max: 1.1 };

/** A generated throughput that rises with the size and levels off, at a different level for each chart and series. */
function throughput(chart, series, size) {
  return ((240e6 - 30e6 * series) * (1 + (chart % 7) / 10) * size) / (size + 60_000);
}

function wide(chart, factor = 1) {
  const rows = NAMES.map((name, series) =>
    [name, ...SIZES.map((size) => (factor * throughput(chart, series, size)).toFixed(2))].join(","),
  );
  return `${[["I/O size", ...SIZES].join(","), ...rows].join("\n")}\n`;
}

function slide(id, title, src) {
  return `<!-- .slide: id="${id}" data-timing="30" -->
## ${title}

<canvas data-chart="line" data-chart-src="${src}"></canvas>

<!-- Note -->
Nothing to say.
`;
}

/**
 * A talk of `count` slides with a typical chart on each: wide files with their minimum and maximum beside them.
 * @param {number} count
 * @returns {{chapter: string, files: Map<string, string>}} files: contents by path, as the page requests them
 */
export function talkOfCharts(count) {
  const files = new Map();
  const slides = Array.from({ length: count }, (_, at) => {
    const name = `throughput-${String(at + 1).padStart(4, "0")}`;
    files.set(`${FOLDER}/${name}.csv`, wide(at));
    for (const [suffix, factor] of Object.entries(SPREAD))
      files.set(`${FOLDER}/${name}.${suffix}.csv`, wide(at, factor));
    return slide(`chart-${at + 1}`, `Chart ${at + 1}`, `${FOLDER}/${name}.csv`);
  });
  return { chapter: slides.join("\n\n"), files };
}

/**
 * A talk of one slide, whose chart is a time series of `count` points.
 * @param {number} count
 * @returns {{chapter: string, files: Map<string, string>}}
 */
export function talkOfPoints(count) {
  const lines = ["series,x,y,low,high,n"];
  for (let at = 0; at < count; at += 1) {
    // A slow wave, a fast one, and a spike now and then, like those of a replay lag.
    const spike = at % 997 === 0 ? 4 : 0;
    const value = 3 + 2 * Math.sin(at / 9000) + Math.sin(at / 7) + spike;
    lines.push(`Replay lag,${(at / 10).toFixed(1)},${value.toFixed(4)},,,`);
  }
  const src = `${FOLDER}/lag-seconds.csv`;
  return {
    chapter: slide("chart-1", `${count} points`, src),
    files: new Map([[src, `${lines.join("\n")}\n`]]),
  };
}

/** The empty documents that the deck reads of a data set besides its charts. */
function documents() {
  const manifest = { schema_version: 1, data_set: DATA_SET, label: "generated", experiments: {} };
  const claims = { schema_version: 2, data_set: DATA_SET, method: {}, sources: {}, claims: {} };
  return { "manifest.json": manifest, "claims.json": claims };
}

/**
 * Writes a generated talk below `root`: `slides/generated.md` and `benchmarks/`.
 * @returns {Promise<{slides: string, benchmarks: string, chapters: string[]}>} options for `startPerfServer`
 */
export async function writeTalk(root, { chapter, files }) {
  const slides = path.join(root, "slides");
  await mkdir(slides, { recursive: true });
  await writeFile(path.join(slides, "generated.md"), chapter);
  for (const [name, text] of files) {
    const file = path.join(root, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  for (const [name, content] of Object.entries(documents()))
    await writeFile(path.join(root, "benchmarks", DATA_SET, name), JSON.stringify(content));
  return { slides, benchmarks: path.join(root, "benchmarks"), chapters: ["slides/generated.md"] };
}
