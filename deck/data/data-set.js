/**
 * Which data set the deck shows. Pure functions: no DOM, no network.
 *
 * A chart's address is `benchmarks/<data set>/<rest>`. `?data=NAME` in the page's address replaces only the second segment
 * of that path.
 */

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const SOURCE = /^((?:\.\/)?benchmarks\/)([^/?#]+)(\/[^?#]*)((?:[?#].*)?)$/;

/** True when `name` can be the name of a data set: one plain path segment, no traversal, nothing to escape. */
export function isDataSetName(name) {
  return typeof name === "string" && NAME.test(name) && !name.includes("..");
}

/**
 * The data set that a query string (`location.search`) requests.
 * @returns {string|null} null if none is requested, or if the name is empty
 */
export function requestedDataSet(search) {
  const value = new URLSearchParams(search).get("data");
  return value === null || value === "" ? null : value;
}

/**
 * A chart's address with its data set replaced.
 * @param {string} src   as written on the slide
 * @param {string|null} name   the data set to show, or null to leave `src` as it is
 * @returns {string} `src` unchanged when it is not of the form `benchmarks/<data set>/…`
 * @throws {RangeError} when `name` cannot be the name of a data set
 */
export function withDataSet(src, name) {
  if (name === null || name === undefined) return src;
  if (!isDataSetName(name)) throw new RangeError(`not the name of a data set: ${JSON.stringify(name)}`);
  return src.replace(SOURCE, (_, before, old, rest, tail) => `${before}${name}${rest}${tail}`);
}

/**
 * Which file of which data set an address names.
 * @returns {[string, string]|null} the data set's name, and the path in it; null if it is no such address
 */
export function fileOf(src) {
  const match = SOURCE.exec(src);
  return match && [match[2], match[3].slice(1)];
}

/** What a data set says as a whole, and charts can draw. */
const DOCUMENTS = ["answer.csv", "claims.json"];

/**
 * What a chart's address names.
 * @returns {{dataSet: string, experiment: string|null, chart: string|null, document?: string}|null}
 *   experiment is null for the short form `benchmarks/<data set>/csv/aggregate/<chart>.csv`;
 *   document: a file of the whole data set, `benchmarks/<data set>/answer.csv`, which has neither experiment nor chart;
 *   null when the address has none of these forms
 */
export function partsOf(src) {
  const match = SOURCE.exec(src);
  if (!match) return null;
  const rest = match[3].split("/").filter(Boolean);
  if (rest.length === 1 && DOCUMENTS.includes(rest[0]))
    return { dataSet: match[2], experiment: null, chart: null, document: rest[0] };
  if (rest.length !== 3 || rest[1] !== "aggregate" || !rest[2].endsWith(".csv")) return null;
  return {
    dataSet: match[2],
    experiment: rest[0] === "csv" ? null : rest[0],
    chart: rest[2].slice(0, -".csv".length),
  };
}

/** The address of a data set's manifest, relative to the page. */
export function manifestAddress(dataSet) {
  return `benchmarks/${dataSet}/manifest.json`;
}

/**
 * Which data set to show, and what to tell the reader if the requested one cannot be shown.
 * @param {{requested: string|null, usual: string, available: string[]|null, frozen?: string|null}} facts
 *   available is null when the server offers no list; frozen is the data set that a frozen talk is pinned to
 * @returns {{dataSet: string, override: string|null, problem: string|null}}
 */
export function chooseDataSet({ requested, usual, available, frozen = null }) {
  if (frozen !== null) {
    const ignored = requested !== null && requested !== frozen;
    const problem = ignored ? `This talk is frozen to ${frozen}; “${shown(requested)}” is ignored.` : null;
    return { dataSet: frozen, override: null, problem };
  }
  // Asked for by name, the talk's own data set changes nothing: slides that are of another one stay so.
  if (requested === null || requested === usual) return { dataSet: usual, override: null, problem: null };
  const refused = (why) => ({ dataSet: usual, override: null, problem: why });
  if (!isDataSetName(requested)) return refused(`“${shown(requested)}” is not a valid data set name.`);
  if (available !== null && !available.includes(requested))
    return refused(`There is no data set “${requested}” here.`);
  return { dataSet: requested, override: requested, problem: null };
}

/** A name from the address bar, shortened and without control characters, to show on the page. */
function shown(text) {
  // eslint-disable-next-line no-control-regex
  const plain = text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g, "�");
  return plain.length > 60 ? `${plain.slice(0, 60)}…` : plain;
}
