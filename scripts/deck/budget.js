/**
 * The files that a reader's browser has to fetch, and their budgets. JavaScript that every chart needs is the entry, the code
 * that draws charts, and all that they import statically, as gzip sends it. What is imported later is listed, but has no
 * budget: the code of each kind of chart, too.
 */

import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const KB = 1024;

/** Bytes at first, by the kind of file; of a page that others frame, all that is in it. */
export const BUDGET = { script: 150 * KB, font: 60 * KB, embed: 40 * KB };

/** The module that draws charts; its chunk begins with it. */
const CHART_CODE = /\/deck\/stage\/chart-code\.js$/;

const KINDS = { ".js": "script", ".css": "style", ".woff2": "font", ".woff": "font" };
const GROUPS = [
  { kind: "script", title: "JavaScript that every chart needs, gzip", isFirst: true },
  { kind: "font", title: "Fonts", isFirst: true },
  { kind: "style", title: "Styles until the first chart, gzip", isFirst: true },
  { kind: "script", title: "JavaScript later, gzip", isFirst: false },
  { kind: "style", title: "Styles later, gzip", isFirst: false },
];

/**
 * @typedef {{file: string, kind: "script"|"style"|"font", isFirst: boolean, bytes: number}} Part
 *   isFirst: whether the first chart needs it; bytes: as they are sent; fonts are already compressed
 */

/**
 * The files that a page fetches until its first chart: entries, the code that draws charts, and their static imports. Pure.
 * @param {object[]} output   what the bundler made: chunks and assets
 * @returns {Set<string>} file names, fonts included, as a page's text needs them
 * @throws {Error} if no chunk draws charts: then the budget would not hold it
 */
export function filesUntilChart(output) {
  const chunks = new Map(
    output.filter(({ type }) => type === "chunk").map((chunk) => [chunk.fileName, chunk]),
  );
  const drawing = [...chunks.values()].filter(({ facadeModuleId }) => CHART_CODE.test(facadeModuleId ?? ""));
  if (drawing.length === 0)
    throw new Error(`no chunk begins with a module like ${CHART_CODE}, which draws charts`);
  const entries = [...chunks.values()].filter(({ isEntry }) => isEntry);
  const waiting = [...entries, ...drawing].map(({ fileName }) => fileName);
  const names = new Set();
  while (waiting.length > 0) {
    const name = waiting.pop();
    if (names.has(name)) continue;
    names.add(name);
    const { imports = [], viteMetadata } = chunks.get(name) ?? {};
    waiting.push(...imports.filter((fileName) => chunks.has(fileName)));
    for (const style of viteMetadata?.importedCss ?? []) names.add(style);
  }
  for (const { fileName } of output) if (KINDS[path.extname(fileName)] === "font") names.add(fileName);
  return names;
}

/**
 * Weighs the files of a built site.
 * @param {object[]} output   as for `filesUntilChart`
 * @param {string} folder     where the site lies
 * @returns {Promise<Part[]>} the heaviest first
 */
export async function weigh(output, folder) {
  const first = filesUntilChart(output);
  const files = output.map(({ fileName }) => fileName).filter((name) => path.extname(name) in KINDS);
  const parts = await Promise.all(
    files.map(async (file) => {
      const kind = KINDS[path.extname(file)];
      const bytes = await sentBytes(path.join(folder, file), kind);
      return { file, kind, isFirst: first.has(file), bytes };
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
  return GROUPS.map(({ kind, title, isFirst }) => {
    const group = parts.filter((part) => part.kind === kind && part.isFirst === isFirst);
    const bytes = group.reduce((sum, part) => sum + part.bytes, 0);
    return { title, bytes, parts: group, most: (isFirst && budget[kind]) || Infinity };
  }).filter(({ parts: group }) => group.length > 0);
}

async function sentBytes(file, kind) {
  const body = await readFile(file);
  return kind === "font" ? body.length : (await promisify(gzip)(body)).length;
}

const named = ({ file, bytes }) => `${file} (${size(bytes)})`;
const size = (bytes) => `${(bytes / KB).toFixed(1)} KB`;
