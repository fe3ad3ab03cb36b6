import { MISSING } from "./dialect.js";
import { LONG_HEADER, MAX_NAME, MAX_SERIES } from "./forms.js";
import { STEP } from "./slices.js";

/**
 * The long form as programs write it: `series,x,y,low,high,n`, numbers with decimal points, nothing quoted, nothing left
 * out. A file of very many points has this form, and is read in one pass, without a text for each field. Whatever is not
 * of this form is left to the reader that knows all forms, which also finds the words for what is wrong.
 */

const HEAD = `${LONG_HEADER.join(",")}\n`;
const [COMMA, LINE_FEED, DOT, PLUS, MINUS, ZERO, NINE] = [..."\u002c\n.+-09"].map((one) => one.charCodeAt(0));
const COMMENT = "#".charCodeAt(0);
/** The most digits with which a whole number is exact; a division by a power of ten is then rounded as `Number` rounds. */
const EXACT_DIGITS = 15;
const POWERS = Array.from({ length: EXACT_DIGITS + 1 }, (_, digits) => 10 ** digits);

/**
 * @param {string} text
 * @param {import("./dialect.js").Dialect} dialect   as the caller gave it
 * @returns {Generator<void, import("./table.js").Model|null>} null if the file is not of this form
 */
export function* readingPlainLong(
  text,
  { delimiter = "auto", decimal = "auto", comment = "auto", missing = MISSING },
) {
  const asUsual =
    ["auto", ","].includes(delimiter) &&
    ["auto", "."].includes(decimal) &&
    ["auto", false, "#"].includes(comment) &&
    !missing.some((word) => /\d/.test(word));
  if (!asUsual || !text.startsWith(HEAD) || text.includes('"') || text.includes("\r")) return null;
  const fields = new Fields(text, HEAD.length);
  const byName = new Map();
  const xs = [];
  let name = null;
  let points = null;
  for (let row = 1; !fields.atEnd; row += 1) {
    if (!fields.skip(name)) {
      name = fields.word();
      if (name === null) return null;
      points = byName.get(name);
      if (!points) byName.set(name, (points = []));
      if (byName.size > MAX_SERIES) return null;
    }
    const x = fields.number();
    const y = fields.number();
    const low = fields.number();
    const high = fields.number();
    const n = fields.number(LINE_FEED);
    if (fields.failed || x === null || (low !== null && high !== null && low > high)) return null;
    points.push({ x, y, low, high, n });
    xs.push(x);
    if (row % STEP === 0) yield;
  }
  if (xs.length === 0) return null;
  const series = [...byName].map(([title, all]) => ({ name: title, points: all }));
  return { kind: "long", xLabel: "x", xs: distinct(xs), series };
}

/** Reads a text field by field. */
class Fields {
  #text;
  #at;

  constructor(text, at) {
    this.#text = text;
    this.#at = at;
    /** Whether a field was not of the plain form. */
    this.failed = false;
  }

  get atEnd() {
    return this.#at >= this.#text.length;
  }

  /** Skips a field if it is this word; returns whether it was. */
  skip(word) {
    if (word === null || !this.#text.startsWith(word, this.#at)) return false;
    const end = this.#at + word.length;
    if (this.#text.charCodeAt(end) !== COMMA) return false;
    this.#at = end + 1;
    return true;
  }

  /** A name; null if it is none, or needs a closer look. */
  word() {
    const end = this.#text.indexOf(",", this.#at);
    const first = this.#text.charCodeAt(this.#at);
    if (end <= this.#at || end - this.#at > MAX_NAME || first === COMMENT) return null;
    const word = this.#text.slice(this.#at, end);
    if (word.includes("\n") || word.trim() !== word) return null;
    this.#at = end + 1;
    return word;
  }

  /** A number, or null for an empty field. The last field of a file may end with it. */
  number(end = COMMA) {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    let code = text.charCodeAt(at);
    const sign = code === MINUS ? -1 : 1;
    if (code === MINUS || code === PLUS) code = text.charCodeAt((at += 1));
    let whole = 0;
    let digits = 0;
    let decimals = -1;
    for (; ; code = text.charCodeAt((at += 1))) {
      if (code >= ZERO && code <= NINE) {
        whole = whole * 10 + (code - ZERO);
        digits += 1;
        if (decimals >= 0) decimals += 1;
      } else if (code === DOT && decimals < 0) decimals = 0;
      else break;
    }
    const isEnd = code === end || (end === LINE_FEED && at === text.length);
    if (isEnd && at === start) {
      this.#at = at + 1;
      return null;
    }
    if (isEnd && digits > 0 && digits <= EXACT_DIGITS) {
      this.#at = at + 1;
      return (sign * whole) / POWERS[Math.max(decimals, 0)];
    }
    return this.#longNumber(start, end);
  }

  /** A number with more digits, or with an exponent. */
  #longNumber(start, end) {
    const next = this.#text.indexOf(String.fromCharCode(end), start);
    const stop = next < 0 && end === LINE_FEED ? this.#text.length : next;
    const field = this.#text.slice(start, stop);
    const number = stop < 0 || !/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(field) ? NaN : Number(field);
    if (!Number.isFinite(number)) this.failed = true;
    this.#at = stop + 1;
    return number;
  }
}

/** Each number once, ascending. */
function distinct(numbers) {
  const isAscending = numbers.every((one, at) => at === 0 || numbers[at - 1] < one);
  return isAscending ? numbers : [...new Float64Array(new Set(numbers)).sort()];
}
