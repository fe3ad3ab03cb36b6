/** What authors declare for `npm run check`: the figures that sources published. */

import { readFile } from "node:fs/promises";
import path from "node:path";

import { parseYaml } from "../checked-yaml.js";

export const PUBLISHED_FILE = "config/published.yaml";

/**
 * @param {string} root   folder of index.html
 * @returns {Promise<{published: Record<string, string[]>|null}>} null if there is no such file
 * @throws {Error} naming a file that is not of that form
 */
export async function readDeclared(root) {
  let text;
  try {
    text = await readFile(path.join(root, PUBLISHED_FILE), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return { published: null };
    throw error;
  }
  const published = parseYaml(text, PUBLISHED_FILE);
  const isMapping = published !== null && typeof published === "object" && !Array.isArray(published);
  if (!isMapping || !Object.values(published).every(isListOfTexts))
    throw new Error(`${PUBLISHED_FILE}: each source needs a list of figures, each in quotation marks`);
  return { published };
}

function isListOfTexts(value) {
  return Array.isArray(value) && value.every((item) => typeof item === "string" && item.trim() !== "");
}
