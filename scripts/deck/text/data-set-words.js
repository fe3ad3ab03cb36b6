/** What the talk's sentences take from a data set: texts of bound values, and texts chosen by its verdicts. */

import { readFile } from "node:fs/promises";
import path from "node:path";

import { parseAnswer } from "../../../deck/data/answer.js";
import { BoundNumbers, absent } from "../../../deck/text/bound-numbers.js";
import { isChosen } from "../../../deck/text/verdict-text.js";
import { ANSWER } from "../data-sets.js";

/**
 * Reads a data set's manifest, claims and answer.
 * @param {string} benchmarks   folder of data sets
 * @param {string} name
 * @returns {Promise<{name: string, manifest: object|null, claims: object|null, answer: object|null}>} null for a missing
 *   file
 * @throws {Error} naming a file that contains no JSON object, or no answer
 */
export async function readDataSet(benchmarks, name) {
  const [manifest, claims, answer] = await Promise.all([
    ...["manifest.json", "claims.json"].map((file) => readObject(path.join(benchmarks, name, file))),
    readParsed(path.join(benchmarks, name, ANSWER), parseAnswer),
  ]);
  return { name, manifest, claims, answer };
}

/**
 * What a table of claims by release takes from a data set.
 * @returns {Promise<{claims: object|null, releases: object|null}>} null for a missing file
 * @throws {Error} naming a file that contains no JSON object
 */
export async function readBeside(benchmarks, name) {
  const [claims, releases] = await Promise.all(
    ["claims.json", "releases.json"].map((file) => readObject(path.join(benchmarks, name, file))),
  );
  return { claims, releases };
}

/** The files of the two for its sentences that a data set lacks, as messages that say how to write them. */
export function lacking({ name, manifest, claims }) {
  return Object.entries({ "manifest.json": manifest, "claims.json": claims })
    .filter(([, document]) => document === null)
    .map(([file]) => `“${name}” has no ${file}; write it with: ./replay derive --data ${name}`);
}

/**
 * @param {{manifest: object|null, claims: object|null, answer?: object|null}} data
 * @param {{shipped?: boolean}} [options]   shipped: whether the literals on the slides are those of these data
 * @returns {{resolve: (value: string) => string|null, absent: (value: string) => string,
 *            text: (value: string, literal: string) => string,
 *            chooses: (when: {claim: string, verdicts: string[]}[]) => boolean}}
 *   resolve: the text from the data, or null; absent: the text for a value that the data lack; text: the text to show;
 *   chooses: whether all conditions are met
 */
export function wordsOf({ manifest, claims, answer = null }, { shipped = false } = {}) {
  const numbers = BoundNumbers({ manifest, claims, answer });
  return {
    resolve: numbers.resolve,
    absent,
    text: (value, literal) => numbers.textFor(value, literal, { shipped }).text,
    chooses: (when) => when.every((condition) => isChosen(condition, claims)),
  };
}

async function readObject(file) {
  const value = await readParsed(file, JSON.parse);
  if (value !== null && (typeof value !== "object" || Array.isArray(value)))
    throw new Error(`${file} contains no JSON object; write it again with ./replay derive`);
  return value;
}

async function readParsed(file, parse) {
  try {
    return parse(await readFile(file, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw new Error(`${file}: ${error.message}`, { cause: error });
  }
}
