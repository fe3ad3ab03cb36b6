/**
 * The manifests (or another file) of the current data sets: fetched once, kept, and fetched again after a change.
 */

import { manifestAddress } from "./data-set.js";

export class Manifests {
  #kept = new Map();
  #fetch;
  #address;
  #parse;

  /**
   * @param {typeof fetch} fetchFile
   * @param {(dataSet: string) => string} address   where a data set's file is
   * @param {(text: string) => object} parse   throws if the text is no such file
   */
  constructor(fetchFile, address = manifestAddress, parse = parseObject) {
    this.#fetch = fetchFile;
    this.#address = address;
    this.#parse = parse;
  }

  /**
   * Fetches a data set's manifest, again if it was fetched before.
   * @returns {Promise<object|null>} null when there is none, or it is not such a file
   */
  async load(dataSet) {
    const manifest = await this.#read(this.#address(dataSet));
    this.#kept.set(dataSet, manifest);
    return manifest;
  }

  /** The manifest fetched last, or null. */
  get(dataSet) {
    return this.#kept.get(dataSet) ?? null;
  }

  /** Forgets a file that no longer exists. */
  forget(dataSet) {
    this.#kept.delete(dataSet);
  }

  async #read(address) {
    try {
      const response = await this.#fetch(address, { cache: "no-cache" });
      if (!response.ok) return null;
      // A server that answers every address with its index page would return HTML here.
      return this.#parse(await response.text());
    } catch {
      return null;
    }
  }
}

/**
 * The files that the server offers, and which are altered, by data set; and digests of the author's own charts:
 * `benchmarks/index.json`.
 * @returns {Promise<{files: Record<string, string[]>, altered: Record<string, {file: string, what: string}[]>,
 *                    own: Record<string, string>}|null>}
 *   files: paths below the data set; own: digests by address; null when the server has no list
 */
export async function serverIndex(fetchFile) {
  try {
    const response = await fetchFile("benchmarks/index.json", { cache: "no-cache" });
    if (!response.ok) return null;
    const { files, altered = {}, own = {} } = JSON.parse(await response.text());
    return [files, altered, own].every(isObject) ? { files, altered, own } : null;
  } catch {
    return null;
  }
}

/** @throws {SyntaxError|TypeError} if the text is no JSON object */
function parseObject(text) {
  const value = JSON.parse(text);
  if (!isObject(value)) throw new TypeError("no JSON object");
  return value;
}

export function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
