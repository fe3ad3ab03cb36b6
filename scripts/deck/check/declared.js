/** What authors declare for `npm run check`: figures that sources published, and words that tell verdicts apart. */

import { readFile } from "node:fs/promises";
import path from "node:path";

import { parse } from "yaml";

export const PUBLISHED_FILE = "config/published.yaml";
export const VERDICT_WORDS_FILE = "config/verdict-words.yaml";

/**
 * @param {string} root   folder of index.html
 * @returns {Promise<{published: Record<string, string[]>|null, verdictWords: {refuted: string[],
 *                    claims: Record<string, {held?: string[], refuted?: string[]}>}|null}>} null for a file that is not there
 * @throws {Error} naming a file that is not of that form
 */
export async function readDeclared(root) {
  const [published, verdictWords] = await Promise.all(
    [PUBLISHED_FILE, VERDICT_WORDS_FILE].map((file) => readYaml(root, file)),
  );
  if (published !== null && !Object.values(published).every(isListOfTexts))
    throw new Error(`${PUBLISHED_FILE}: each source needs a list of figures, each in quotation marks`);
  if (verdictWords !== null && !isWords(verdictWords))
    throw new Error(
      `${VERDICT_WORDS_FILE}: write a list \`refuted\` and, by claim, lists \`held\` and \`refuted\``,
    );
  return { published, verdictWords };
}

async function readYaml(root, file) {
  let text;
  try {
    text = await readFile(path.join(root, file), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
  let value;
  try {
    value = parse(text);
  } catch (error) {
    throw new Error(`${file}: ${error.message}`, { cause: error });
  }
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new Error(`${file}: holds no mapping`);
  return value;
}

function isWords({ refuted, claims = {} }) {
  const lists = Object.values(claims).flatMap((words) => Object.values(words ?? { none: null }));
  return [refuted, ...lists].every(isListOfTexts);
}

function isListOfTexts(value) {
  return Array.isArray(value) && value.every((one) => typeof one === "string" && one.trim() !== "");
}
