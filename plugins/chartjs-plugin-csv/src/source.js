import { SPREAD, companionUrl } from "./companions.js";
import { CsvError } from "./error.js";
import { loadText } from "./load.js";
import { joinCompanions, joinSpread, readSpread } from "./spread.js";
import { readTable } from "./table.js";

/** Older data have a file for each statistic: [suffix of the lower bound, suffix of the upper bound]. */
const BAND_FILES = { "min-max": ["min", "max"], interval: ["low", "high"], both: ["low", "high"] };

/**
 * The band that `auto` stands for: the interval of a ratio, the minimum and maximum of everything else.
 * @returns {"min-max"|"interval"}
 */
export function bandOfFile(url) {
  return url.split(/[?#]/)[0].split("/").pop().startsWith("ratio-") ? "interval" : "min-max";
}

/**
 * Loads a CSV file and its statistics into one model.
 *
 * `bands: false` loads the file alone; `"auto"` uses `X.spread.csv` if it exists; `"min-max"`, `"interval"` and `"both"`
 * require it. In its absence the files of older data are read, of which the counts in `X.n.csv` are optional. Files in the
 * long form contain their own bounds and counts, so nothing else is requested.
 *
 * @param {string} url
 * @param {{bands?: "auto"|"min-max"|"interval"|"both"|false, reading?: object, read?: ((text: string, url: string) => import("./table.js").Model)|null, signal?: AbortSignal, maxBytes?: number, fetch?: typeof fetch|null}} [options]
 *   read: reads the text of a file of the page's own form
 * @returns {Promise<{model: import("./table.js").Model, text: string}>} `text` is all that was read; equal texts give equal models
 * @throws {CsvError}
 */
export async function loadModel(url, { bands = false, reading = {}, read = null, ...request } = {}) {
  const text = await loadText(url, request);
  if (read) return { model: naming(url, () => read(text, url)), text };
  const { model, orientation } = naming(url, () => readTable(text, reading));
  if (bands === false || model.kind === "long") return { model, text };
  const which = bands === "auto" ? bandOfFile(url) : bands;
  if (!Object.hasOwn(BAND_FILES, which)) throw unknownBands(bands, url);
  const load = async (suffix, interpret) => {
    const address = companionUrl(url, suffix);
    const content = await loadText(address, request);
    return { text: content, read: naming(address, () => interpret(content)) };
  };
  const spread = await unlessAbsent(load(SPREAD, (content) => readSpread(content, reading)));
  if (spread) return { model: joinSpread(model, spread.read, which), text: `${text}\0${spread.text}` };

  const asModel = (content) => readTable(content, { ...reading, orientation }).model;
  const files = await Promise.all(
    [...BAND_FILES[which], "n"].map((suffix) => unlessAbsent(load(suffix, asModel))),
  );
  const [low, high, n] = files.map((file) => file?.read);
  if (bands !== "auto" && !(low && high)) {
    const details = { url: companionUrl(url, SPREAD), kind: "status", status: 404 };
    throw new CsvError(`there is no such file, which option bands "${bands}" needs`, details);
  }
  return {
    model: joinCompanions(model, { low, high, n }),
    text: [text, ...files.map((file) => file?.text ?? "")].join("\0"),
  };
}

/** The options of the plugin that say how to read a file. */
export function readingOf({ orientation, delimiter, decimal, comment, missing, yUnit }) {
  return { orientation, delimiter, decimal, comment, missing, yUnit };
}

/** Does what reads a file's text; errors name the file. */
export function naming(url, read) {
  try {
    return read();
  } catch (error) {
    throw error instanceof CsvError ? error.in(url) : error;
  }
}

/** What is read of a file that need not exist, or null. A file that exists but is malformed is an error. */
export async function unlessAbsent(file) {
  try {
    return await file;
  } catch (error) {
    if (error instanceof CsvError && isAbsent(error)) return null;
    throw error;
  }
}

/** Whether a server answered that there is no such file. */
function isAbsent({ kind, status }) {
  return (kind === "status" && [404, 410].includes(status)) || kind === "html";
}

function unknownBands(bands, url) {
  return new CsvError(`option bands is "${bands}"; expected "auto", "min-max", "interval", "both" or false`, {
    url,
    kind: "options",
  });
}
