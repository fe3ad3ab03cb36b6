import { CsvError } from "./error.js";
import { parseRecords } from "./parse.js";

/**
 * CSV as people have it: separated by commas, semicolons, tabs or bars, with decimal points or commas, comments, blanks
 * and words for missing values. If a file can be read in two ways, an error names the option that decides.
 */

const DELIMITERS = [",", ";", "\t", "|"];
const COMMENT = "#";
/** How many rows are read to find out the dialect. */
const LOOKED_AT = 50;

/** Fields that say "not measured". */
export const MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "-", "–"];

const NUMBERS = {
  ".": /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/,
  ",": /^[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?$/,
};
const WITH_COMMA = /^[+-]?\d*,\d+([eE][+-]?\d+)?$/;
const WITH_POINT = /^[+-]?\d*\.\d+([eE][+-]?\d+)?$/;
/** 1,234 may mean 1234 or 1.234. */
const EITHER = /^[+-]?[1-9]\d{0,2},\d{3}$/;

/**
 * @typedef {object} Dialect
 * @property {string} [delimiter]   "auto", or the character between fields
 * @property {"auto"|"."|","} [decimal]
 * @property {"auto"|string|false} [comment]   how a comment line begins; false: there are none
 * @property {string[]} [missing]   fields that say "not measured", beside the empty one
 *
 * @typedef {object} Table
 * @property {string[][]} rows   the header first
 * @property {number[]} places   the number of each row in the file
 * @property {(text: string) => number|null} numberOf   null if the text is not a number
 * @property {(text: string) => boolean} isMissing
 */

/**
 * Reads the rows of a file, and finds out in which dialect it is written.
 * @param {string} text
 * @param {Dialect} [options]
 * @returns {Table}
 * @throws {CsvError} kind `ambiguous` where the file can be read in two ways, naming the option
 */
export function readRows(
  text,
  { delimiter = "auto", decimal = "auto", comment = "auto", missing = MISSING } = {},
) {
  checkOptions({ delimiter, decimal, comment });
  const dialect = {
    delimiter,
    comment: comment === "auto" ? COMMENT : comment || null,
    trim: true,
    blankLines: true,
  };
  const isMissing = (field) => field === "" || missing.includes(field);
  if (delimiter === "auto") dialect.delimiter = delimiterOf(text, dialect, { decimal, isMissing });
  const { rows, places, left } = parseRecords(text, dialect);
  if (comment === "auto") refuseDataInComments(left, rows, dialect.delimiter);
  const mark = decimal === "auto" ? decimalOf(rows, places, dialect.delimiter) : decimal;
  return { rows, places, numberOf: (field) => toNumber(field, mark), isMissing };
}

/** The number in a text; null if it is not a number. */
export function toNumber(text, decimal = ".") {
  if (!NUMBERS[decimal].test(text)) return null;
  const number = Number(decimal === "," ? text.replace(",", ".") : text);
  return Number.isFinite(number) ? number : null;
}

function checkOptions({ delimiter, decimal, comment }) {
  const fail = (name, value, expected) => {
    throw new CsvError(`option ${name} is ${JSON.stringify(value)}; expected ${expected}`, {
      kind: "options",
    });
  };
  if (delimiter !== "auto" && (typeof delimiter !== "string" || !/^[^"\r\n]$/.test(delimiter)))
    fail("delimiter", delimiter, '"auto" or one character');
  if (!["auto", ".", ","].includes(decimal)) fail("decimal", decimal, '"auto", "." or ","');
  if (comment !== false && comment !== null && (typeof comment !== "string" || comment === ""))
    fail("comment", comment, '"auto", what a comment begins with, or false');
}

/** The delimiter: the only candidate in the header, else the only one with which the fields are numbers. */
function delimiterOf(text, dialect, { decimal, isMissing }) {
  const header = firstLine(text, dialect);
  const candidates = DELIMITERS.filter((one) => header.includes(one));
  if (candidates.length < 2) return candidates[0] ?? ",";
  const fitting = candidates.filter((delimiter) => {
    let rows;
    try {
      ({ rows } = parseRecords(text, { ...dialect, delimiter }));
    } catch (error) {
      if (error instanceof CsvError) return false;
      throw error;
    }
    const fields = rows.slice(1, LOOKED_AT).flatMap((row) => row.slice(1));
    const marks = decimal === "auto" ? [".", ","] : [decimal];
    return marks.some((mark) => fields.every((field) => isMissing(field) || toNumber(field, mark) !== null));
  });
  if (fitting.length === 1) return fitting[0];
  if (fitting.length === 0 && candidates.includes(",")) return ",";
  throw ambiguous(`the fields could be parted by ${candidates.map(named).join(" or ")}`, "delimiter", 1);
}

/** The header without its quoted parts. */
function firstLine(text, dialect) {
  const lines = text.replace(/^\uFEFF/, "").split("\n", LOOKED_AT);
  const isHeader = (line) => line.trim() !== "" && !(dialect.comment && line.startsWith(dialect.comment));
  return (lines.find(isHeader) ?? "").replace(/"[^"]*("|$)/g, "");
}

/** The decimal separator, "." or ",": always a point where commas separate the fields. */
function decimalOf(rows, places, delimiter) {
  if (delimiter === ",") return ".";
  let comma = null;
  let point = false;
  let sure = false;
  rows.forEach((row, index) => {
    for (const field of row) {
      if (WITH_POINT.test(field)) point = true;
      if (!WITH_COMMA.test(field)) continue;
      comma ??= { field, place: places[index] };
      if (!EITHER.test(field)) sure = true;
    }
  });
  if (comma === null) return ".";
  if (point || !sure)
    throw ambiguous(`the comma in "${comma.field}" could part decimals or thousands`, "decimal", comma.place);
  return ",";
}

/** A line that begins like a comment may be data if it has numbers and as many fields as the header. */
function refuseDataInComments(left, [header = []], delimiter) {
  for (const { place, text } of left) {
    const fields = text.split(delimiter).map((field) => field.trim());
    const isRow = header.length > 1 && fields.length === header.length;
    if (isRow && fields.slice(1).some((field) => toNumber(field) !== null))
      throw ambiguous(`a line that begins with ${COMMENT} could be a comment or data`, "comment", place);
  }
}

/** An error that says what can be read in two ways, and which option decides. */
export function ambiguous(reason, option, row = null) {
  return new CsvError(`${reason}; say which with the option "${option}"`, { row, kind: "ambiguous" });
}

function named(delimiter) {
  return delimiter === "\t" ? "tabs" : `"${delimiter}"`;
}
