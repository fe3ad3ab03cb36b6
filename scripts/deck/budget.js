/**
 * The files that a reader's browser has to fetch, and their budgets. JavaScript at start is the entry and all it imports
 * statically, as gzip sends it: the first slide needs no more. The first chart needs that of another part in addition. What
 * is imported later is listed, but has no budget.
 */

import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const KB = 1024;

/** Bytes, by the kind of file and when it is needed; of a page that others frame, all that is in it. */
export const BUDGET = {
  script: { start: 80 * KB, chart: 100 * KB },
  font: { start: 60 * KB },
  embed: { page: 40 * KB },
};

/** The module that draws charts; its chunk begins with it. */
const CHART_CODE = /\/deck\/stage\/chart-code\.js$/;

const KINDS = { ".js": "script", ".css": "style", ".woff2": "font", ".woff": "font" };
const GROUPS = [
  { kind: "script", title: "JavaScript at start, gzip", when: "start" },
  { kind: "script", title: "JavaScript for the first chart, gzip", when: "chart" },
  { kind: "font", title: "Fonts", when: "start" },
  { kind: "style", title: "Styles at start, gzip", when: "start" },
  { kind: "script", title: "JavaScript later, gzip", when: "later" },
  { kind: "style", title: "Styles later, gzip", when: "later" },
];

/**
 * @typedef {{file: string, kind: "script"|"style"|"font", when: "start"|"chart"|"later", bytes: number}} Part
 *   bytes: as they are sent; fonts are already compressed
 */

/**
 * The files that a page always fetches: entries, and their static imports. Pure.
 * @param {object[]} output   what the bundler made: chunks and assets
 * @returns {Set<string>} file names, fonts included, as a page's text needs them
 */
export function filesAtStart(output) {
  const names = filesFrom(output, ({ isEntry }) => isEntry);
  for (const { fileName } of output) if (KINDS[path.extname(fileName)] === "font") names.add(fileName);
  return names;
}

/**
 * The files that the first chart needs, with those at start. Pure.
 * @param {object[]} output   as for `filesAtStart`
 * @throws {Error} if no chunk draws charts: then the budget of the first chart would hold nothing
 */
export function filesForChart(output) {
  const names = filesFrom(output, ({ facadeModuleId }) => CHART_CODE.test(facadeModuleId ?? ""));
  if (names.size === 0)
    throw new Error(`no chunk begins with a module like ${CHART_CODE}, which draws charts`);
  return names;
}

/** The chunks that `begins` accepts, and what they import statically. */
function filesFrom(output, begins) {
  const chunks = new Map(
    output.filter(({ type }) => type === "chunk").map((chunk) => [chunk.fileName, chunk]),
  );
  const waiting = [...chunks.values()].filter(begins).map(({ fileName }) => fileName);
  const names = new Set();
  while (waiting.length > 0) {
    const name = waiting.pop();
    if (names.has(name)) continue;
    names.add(name);
    const { imports = [], viteMetadata } = chunks.get(name) ?? {};
    waiting.push(...imports.filter((fileName) => chunks.has(fileName)));
    for (const style of viteMetadata?.importedCss ?? []) names.add(style);
  }
  return names;
}

/**
 * Weighs the files of a built site.
 * @param {object[]} output   as for `filesAtStart`
 * @param {string} folder     where the site lies
 * @returns {Promise<Part[]>} the heaviest first
 */
export async function weigh(output, folder) {
  const atStart = filesAtStart(output);
  const forChart = filesForChart(output);
  const whenOf = (file) => (atStart.has(file) ? "start" : forChart.has(file) ? "chart" : "later");
  const files = output.map(({ fileName }) => fileName).filter((name) => path.extname(name) in KINDS);
  const parts = await Promise.all(
    files.map(async (file) => {
      const kind = KINDS[path.extname(file)];
      return {
        file,
        kind,
        when: whenOf(file),
        bytes: await sentBytes(path.join(folder, file), kind),
      };
    }),
  );
  return parts.sort((a, b) => b.bytes - a.bytes || (a.file < b.file ? -1 : 1));
}

/** A sentence for each exceeded budget, which names its files. Pure. @param {Part[]} parts */
export function overBudget(parts, budget = BUDGET) {
  return groupsOf(parts, budget)
    .filter(({ bytes, most }) => bytes > most)
    .map(
      ({ title, bytes, most, parts: heavy }) =>
        `${title}: ${size(bytes)} is more than ${size(most)}: ${heavy.map(named).join(", ")}`,
    );
}

/** The table that a build prints. Pure. @param {Part[]} parts @returns {string[]} lines */
export function budgetTable(parts, budget = BUDGET) {
  const width = Math.max(
    ...GROUPS.map(({ title }) => title.length),
    ...parts.map(({ file }) => file.length + 2),
  );
  const line = (name, bytes, more = "") => `${name.padEnd(width)}  ${size(bytes).padStart(9)}${more}`;
  return groupsOf(parts, budget).flatMap(({ title, bytes, most, parts: group }) => [
    line(title, bytes, Number.isFinite(most) ? ` of ${size(most)}` : ""),
    ...group.map((part) => line(`  ${part.file}`, part.bytes)),
  ]);
}

function groupsOf(parts, budget) {
  return GROUPS.map(({ kind, title, when }) => {
    const group = parts.filter((part) => part.kind === kind && part.when === when);
    const bytes = group.reduce((sum, part) => sum + part.bytes, 0);
    return { title, bytes, parts: group, most: budget[kind]?.[when] ?? Infinity };
  }).filter(({ parts: group }) => group.length > 0);
}

async function sentBytes(file, kind) {
  const body = await readFile(file);
  return kind === "font" ? body.length : (await promisify(gzip)(body)).length;
}

const named = ({ file, bytes }) => `${file} (${size(bytes)})`;
const size = (bytes) => `${(bytes / KB).toFixed(1)} KB`;
