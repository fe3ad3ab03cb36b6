import { CsvError } from "./error.js";
import { loadText } from "./load.js";
import { readRuns } from "./runs.js";

/** By address: a file of runs as it was last read, or is being read. */
const files = new Map();

/**
 * Reads a file of runs once for all charts that ask for it.
 * @param {string} url
 * @param {{fresh?: boolean, maxBytes?: number, fetch?: typeof fetch}} options   fresh: read it again, unless another
 *   chart has just asked for that too: charts that are refreshed together share one request
 * @returns {Promise<ReturnType<typeof readRuns>>}
 * @throws {CsvError}
 */
export function sharedRuns(url, { fresh = false, maxBytes, fetch }) {
  const known = files.get(url);
  if (known?.fetch === fetch && known?.maxBytes === maxBytes && (known?.isNew || !fresh)) return known.runs;
  const file = { fetch, maxBytes, isNew: true, runs: read(url, { maxBytes, ...(fetch ? { fetch } : {}) }) };
  files.set(url, file);
  setTimeout(() => {
    file.isNew = false;
  });
  // What failed is asked for again the next time.
  file.runs.catch(() => files.get(url) === file && files.delete(url));
  return file.runs;
}

async function read(url, options) {
  const text = await loadText(url, options);
  try {
    return readRuns(text);
  } catch (error) {
    throw error instanceof CsvError ? error.in(url) : error;
  }
}
