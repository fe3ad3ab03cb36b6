import { companionUrl } from "./companions.js";
import { CsvError } from "./error.js";
import { loadText } from "./load.js";
import { joinCompanions, readModel } from "./table.js";

/** Companion suffixes of each kind of band: [suffix of the lower bound, suffix of the upper bound]. */
const BAND_FILES = { "min-max": ["min", "max"], interval: ["low", "high"] };

/**
 * The band that `auto` stands for: a ratio has an interval, everything else its minimum and maximum.
 * @returns {"min-max"|"interval"}
 */
export function bandOfFile(url) {
  return url.split(/[?#]/)[0].split("/").pop().startsWith("ratio-") ? "interval" : "min-max";
}

/**
 * Loads a CSV file and its companions into one model.
 *
 * `bands: "auto"` takes companions where they exist; `"min-max"` and `"interval"` require the two bounds
 * (the counts in `X.n.csv` stay optional); `false` loads the file alone. Files in the long form carry their own
 * bounds and counts, so no companion is asked for.
 *
 * @param {string} url
 * @param {{bands?: "auto"|"min-max"|"interval"|false, signal?: AbortSignal, maxBytes?: number, fetch?: typeof fetch}} [options]
 * @returns {Promise<{model: import("./table.js").Model, text: string}>} `text` is all that was read; equal texts, equal models
 * @throws {CsvError}
 */
export async function loadModel(url, { bands = "auto", ...request } = {}) {
  const text = await loadText(url, request);
  const model = interpret(text, url);
  if (bands === false || model.kind === "long") return { model, text };

  const [low, high] = BAND_FILES[bands === "auto" ? bandOfFile(url) : bands] ?? unknownBands(bands, url);
  const load = (suffix, optional) => loadCompanion(companionUrl(url, suffix), optional, request);
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

/** A model from CSV text; errors name `url`. */
export function interpret(text, url = null) {
  try {
    return readModel(text);
  } catch (error) {
    throw error instanceof CsvError && url ? error.in(url) : error;
  }
}

async function loadCompanion(url, optional, request) {
  try {
    const text = await loadText(url, request);
    return { text, model: interpret(text, url) };
  } catch (error) {
    if (optional && isAbsent(error)) return null;
    throw error;
  }
}

/** Not there, in the ways that servers say so; a companion that is there but malformed is still an error. */
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
