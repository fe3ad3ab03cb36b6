/** Reads what data sets say of themselves, and the server's list of their files. */

/**
 * Reads a document of a data set, such as its manifest.
 * @param {typeof fetch} fetchFile
 * @param {string} address
 * @param {(text: string) => object} [parse]   throws if the text is no such document
 * @returns {Promise<object|null>} null when there is none, or it is not such a document
 */
export async function readDocument(fetchFile, address, parse = parseObject) {
  try {
    const response = await fetchFile(address, { cache: "no-cache" });
    if (!response.ok) return null;
    // A server that answers every address with its index page would return HTML here.
    return parse(await response.text());
  } catch {
    return null;
  }
}

/**
 * The files that the server offers, and which are altered, by data set; and digests of the author's own charts:
 * `benchmarks/index.json`.
 * @returns {Promise<{files: Record<string, string[]>, altered: Record<string, {file: string, what: string}[]>,
 *                    own: Record<string, string>}|null>}
 *   files: paths below the data set; own: digests by address; null when the server has no list
 */
export function serverIndex(fetchFile) {
  return readDocument(fetchFile, "benchmarks/index.json", (text) => {
    const { files, altered = {}, own = {} } = JSON.parse(text);
    return [files, altered, own].every(isObject) ? { files, altered, own } : null;
  });
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
