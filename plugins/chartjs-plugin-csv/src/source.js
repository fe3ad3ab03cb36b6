import { companionUrl } from "./companions.js";
import { CsvError } from "./error.js";
import { loadText } from "./load.js";
import { inSlices } from "./slices.js";
import { joinCompanions, readingTable } from "./table.js";

/** Companion suffixes of each kind of band: [suffix of the lower bound, suffix of the upper bound]. */
const BAND_FILES = { "min-max": ["min", "max"], interval: ["low", "high"] };

/**
 * The band that `auto` stands for: the interval of a ratio, the minimum and maximum of everything else.
 * @returns {"min-max"|"interval"}
 */
export function bandOfFile(url) {
  return url.split(/[?#]/)[0].split("/").pop().startsWith("ratio-") ? "interval" : "min-max";
}

/**
 * Loads a CSV file and its companions into one model.
 *
 * `bands: false` loads the file alone; `"auto"` uses companions if they exist; `"min-max"` and `"interval"` require the
 * two bounds (the counts in `X.n.csv` stay optional). Files in the long form contain their own bounds and counts, so
 * no companion is requested.
 *
 * @param {string} url
 * @param {{bands?: "auto"|"min-max"|"interval"|false, reading?: object, signal?: AbortSignal, maxBytes?: number, fetch?: typeof fetch}} [options]
 * @returns {Promise<{model: import("./table.js").Model, text: string}>} `text` is all that was read; equal texts give equal models
 * @throws {CsvError}
 */
export async function loadModel(url, { bands = false, reading = {}, ...request } = {}) {
  const text = await loadText(url, request);
  const { model, orientation } = await interpret(text, reading, url, request.signal);
  if (bands === false || model.kind === "long") return { model, text };

  const [low, high] = BAND_FILES[bands === "auto" ? bandOfFile(url) : bands] ?? unknownBands(bands, url);
  const load = (suffix, optional) =>
    loadCompanion(companionUrl(url, suffix), optional, { ...reading, orientation }, request);
  const [lowFile, highFile, nFile] = await Promise.all([
    load(low, bands === "auto"),
    load(high, bands === "auto"),
    load("n", true),
  ]);
  const joined = joinCompanions(model, { low: lowFile?.model, high: highFile?.model, n: nFile?.model });
  return {
    model: joined,
    text: [text, ...[lowFile, highFile, nFile].map((file) => file?.text ?? "")].join("\u0000"),
  };
}

/** The options of the plugin that say how to read a file. */
export function readingOf({ orientation, delimiter, decimal, comment, missing }) {
  const given = { orientation, delimiter, decimal, comment, missing };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Reads CSV text into a model, and says how the file is laid out; a page stays usable meanwhile. Errors name `url`. */
async function interpret(text, reading, url, signal) {
  try {
    return await inSlices(readingTable(text, reading), { signal });
  } catch (error) {
    throw error instanceof CsvError ? error.in(url) : error;
  }
}

async function loadCompanion(url, optional, reading, request) {
  try {
    const text = await loadText(url, request);
    return { text, model: (await interpret(text, reading, url, request.signal)).model };
  } catch (error) {
    if (optional && isAbsent(error)) return null;
    throw error;
  }
}

/** Whether a server answered that the file does not exist. A companion that exists but is malformed is an error. */
function isAbsent(error) {
  return (
    error instanceof CsvError &&
    ((error.kind === "status" && [404, 410].includes(error.status)) || error.kind === "html")
  );
}

function unknownBands(bands, url) {
  throw new CsvError(`option bands is "${bands}"; expected "auto", "min-max", "interval" or false`, {
    url,
    kind: "options",
  });
}
