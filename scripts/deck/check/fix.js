/** Mends the problems that can be mended: literals that the shipped data have overtaken. Nothing else is rewritten. */

import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { applyEdits } from "../text/escape.js";

/**
 * Rewrites what problems with a `fix` name.
 * @param {string} root   folder of index.html
 * @param {import("./chapters.js").Problem[]} problems   as `checkTalk` found them just now
 * @returns {Promise<{file: string, count: number}[]>} the files that were rewritten
 */
export async function fixProblems(root, problems) {
  const byFile = new Map();
  for (const { file, fix } of problems) if (fix) byFile.set(file, [...(byFile.get(file) ?? []), fix]);
  const rewritten = [];
  for (const [file, fixes] of byFile) {
    const place = path.join(root, file);
    const text = await readFile(place, "utf8");
    // Places are those of LF line ends; such a file has its own problem, to be mended first.
    if (text.includes("\r")) continue;
    // Somebody has saved the file since it was checked.
    if (fixes.some(({ from, to, was }) => text.slice(from, to) !== was)) continue;
    await writeFile(place, applyEdits(text, fixes));
    rewritten.push({ file, count: fixes.length });
  }
  return rewritten;
}
