import { CsvError, ambiguous, quoted } from "./error.js";

/** Numbers as people write them: with decimal points or commas, digits in groups of three, per cent, units. Pure. */

const PLAIN = {
  ".": /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/,
  ",": /^[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?$/,
};
/** 1,234.5 or 1 234,5: a mark, a blank or an apostrophe between groups. */
const GROUPED = /^[+-]?[1-9]\d{0,2}([.,'\u2019 \u00a0\u202f])\d{3}(?:\1\d{3})*(?:[.,]\d+)?$/;
const SUFFIXED =
  /^([+-]?[.,]?\d[\d.,'\u2019 \u00a0\u202f]*(?:[eE][+-]?\d+)?)\s*([%\u00d7a-zA-Z\u00b5\u03bc][a-zA-Z/ ]*)$/;
/** 1,234 may mean 1234 or 1.234; 1,234,567 may not. */
const GROUPS = /^[1-9]\d{0,2}([.,])\d{3}(\1\d{3})*$/;
const SIZE = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i;

/** What may stand after a value, which is what the plugin itself writes: unit, power of ten, power of two. */
const UNITS = new Map();
const unit = (suffix, name, ten = 0, two = 0) => UNITS.set(suffix, { unit: name, ten, two });
unit("%", "fraction", -2);
unit("\u00d7", "ratio");
["s", "ms", "us", "ns"].forEach((suffix, at) => unit(suffix, "seconds", -3 * at));
for (const micro of ["\u00b5", "\u03bc"]) unit(`${micro}s`, "seconds", -6);
unit("B", "bytes");
unit("B/s", "bytes_per_second");
for (const suffix of ["ops/s", "IOPS"]) unit(suffix, "operations_per_second");
const PREFIXES = ["k", "M", "G", "T"];
PREFIXES.forEach((prefix, at) => {
  const [ten, two] = [3 * (at + 1), 10 * (at + 1)];
  const binary = `${prefix.toUpperCase()}iB`;
  unit(binary, "bytes", 0, two);
  unit(`${binary}/s`, "bytes_per_second", 0, two);
  unit(`${prefix}B/s`, "bytes_per_second", ten);
  unit(`${prefix} ops/s`, "operations_per_second", ten);
});
/** Of what the k in 4k is 1024, and of what it is 1000. */
const BINARY = ["bytes"];
const DECIMAL = ["operations_per_second", "count"];

/** The number in a text; null if it is not a number. */
export function toNumber(text, decimal = ".") {
  if (!PLAIN[decimal].test(text)) return null;
  const number = Number(decimal === "," ? text.replace(",", ".") : text);
  return Number.isFinite(number) ? number : null;
}

/** The same, also of digits in groups of three: 1,234.5 and 1 234 and 1'234. */
export function figureIn(text, decimal = ".") {
  const number = toNumber(text, decimal);
  if (number !== null) return number;
  const [, between = decimal] = GROUPED.exec(text) ?? [];
  return between === decimal ? null : toNumber(text.replaceAll(between, ""), decimal);
}

/**
 * The number in a text and its unit: 12 % is 0.12 of a `fraction`, 30 ms are 0.03 `seconds`.
 * @returns {{value: number, unit: import("./plugin.js").Unit|null}|null} null if it is neither a number nor has such a unit
 */
export function quantityIn(text, decimal = ".") {
  const number = figureIn(text, decimal);
  if (number !== null) return { value: number, unit: null };
  const { digits, suffix } = partsOf(text);
  const meaning = UNITS.get(suffix);
  const figure = meaning ? figureIn(digits, decimal) : null;
  return figure === null ? null : { value: scaled(figure, meaning), unit: meaning.unit };
}

/** The bytes of a size: 4k, 64K, 1M, 4KiB, 512; null of any other text. Sizes are binary, as everywhere in the plugin. */
export function sizeIn(text) {
  const [, digits, prefix] = SIZE.exec(text) ?? [];
  return digits === undefined
    ? null
    : Number(digits) * 1024 ** ["", "k", "m", "g", "t"].indexOf(prefix.toLowerCase());
}

/**
 * Which mark of a number parts its decimals, and whether that is sure; null of what is no number with a point or a comma.
 * @returns {{mark: "."|",", sure: boolean}|null}
 */
export function decimalIn(text) {
  if (!/[.,]/.test(text)) return null;
  const { digits, suffix } = partsOf(text);
  if (suffix !== null && !UNITS.has(suffix) && powerOf(suffix) === 0) return null;
  const mark = digits.lastIndexOf(",") > digits.lastIndexOf(".") ? "," : ".";
  const count = digits.split(mark).length - 1;
  if (GROUPS.test(digits.replace(/^[+-]/, "")))
    return count === 1 ? { mark, sure: false } : { mark: mark === "," ? "." : ",", sure: true };
  return count === 1 && figureIn(digits, mark) !== null ? { mark, sure: true } : null;
}

function partsOf(text) {
  const [, digits, suffix] = SUFFIXED.exec(text) ?? [null, text, null];
  return { digits: digits.trim(), suffix };
}

/** 1 for k, 2 for M, …; 0 for what is no prefix. */
function powerOf(suffix) {
  return PREFIXES.indexOf(suffix === "K" ? "k" : suffix) + 1;
}

/** Shifts the decimal point instead of multiplying, so that 57 % is exactly 0.57. */
function scaled(figure, { ten, two }) {
  const shifted = Number(`${figure}e${ten}`);
  return (Number.isNaN(shifted) ? figure * 10 ** ten : shifted) * 2 ** two;
}

/** Reads the values of one file. All have the same unit, because a chart has one axis for them. */
export class Values {
  #table;
  #yUnit;
  /** Unit, or null for none → the first value with it. */
  #seen = new Map();

  /**
   * @param {import("./dialect.js").Table} table
   * @param {string|null} yUnit   what the chart's values are: tells 4000 from 4096 in 4k
   */
  constructor(table, yUnit) {
    this.#table = table;
    this.#yUnit = yUnit;
  }

  /** The unit that the file says its values have, or null. */
  get unit() {
    return [...this.#seen.keys()].find((unit) => unit !== null) ?? null;
  }

  /**
   * The value in a field; null for a missing one.
   * @param {string} text
   * @param {{row: number, column: number}} at
   * @param {string} title   what the field stands under
   * @throws {CsvError} if it is no number, or has another unit than those before
   */
  at(text, at, title) {
    const { isMissing, numberOf, quantityOf } = this.#table;
    if (isMissing(text)) return null;
    const number = numberOf(text);
    // Zero is the same in every unit.
    if (number === 0) return number;
    const quantity = number === null ? quantityOf(text) : null;
    const unit = quantity?.unit ?? null;
    const value = number ?? quantity?.value ?? this.#prefixed(text, at, title);
    if (!this.#seen.has(unit)) {
      const [other] = this.#seen.values();
      if (other)
        throw new CsvError(
          `${quoted(text)} has another unit than ${quoted(other.text)} in row ${other.row}; a chart has one axis for all values: write them in one unit`,
          { ...at, kind: "number" },
        );
      this.#seen.set(unit, { text, row: at.row });
    }
    return value;
  }

  /** 4k is 4096 bytes, or 4000 operations a second. */
  #prefixed(text, at, title) {
    const { digits, suffix } = partsOf(text);
    const power = powerOf(suffix);
    const figure = power === 0 ? null : this.#table.numberOf(digits);
    if (figure === null) throw notNumber(text, at, title);
    if (BINARY.includes(this.#yUnit)) return scaled(figure, { ten: 0, two: 10 * power });
    if (DECIMAL.includes(this.#yUnit)) return scaled(figure, { ten: 3 * power, two: 0 });
    throw ambiguous(
      `the ${suffix} in ${quoted(text)} could count in thousands or in units of 1024`,
      "yUnit",
      [...DECIMAL, ...BINARY],
      at,
    );
  }
}

/** The error for a field that should be a number. */
export function notNumber(text, at, title) {
  return new CsvError(`${quoted(text)} is not a number (under ${quoted(title)})`, { ...at, kind: "number" });
}
