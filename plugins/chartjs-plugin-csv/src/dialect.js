import { CsvError, ambiguous } from "./error.js";
import { isMoment } from "./forms.js";
import { decimalIn, figureIn, quantityIn, sizeIn } from "./numbers.js";
import { parseRecords } from "./parse.js";

/**
 * CSV as people have it: separated by commas, semicolons, tabs or bars, with decimal points or commas, comments, blanks,
 * words for missing values, and what spreadsheets add. If a file can be read in two ways, an error names the option that
 * decides.
 */

const DELIMITERS = [",", ";", "\t", "|"];
const COMMENT = "#";
/** How many rows are read to find out the dialect. */
const LOOKED_AT = 50;
/** The line in which Excel says what parts the fields; it is no row. */
const SEPARATOR = /^\uFEFF?"?sep=([^"\r\n])"?(?=\r?\n)/i;

/** Fields that say "not measured". */
export const MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "-", "–"];

/**
 * @typedef {object} Dialect
 * @property {string} [delimiter]   "auto", or the character between fields
 * @property {"auto"|"."|","} [decimal]   the other one may part thousands
 * @property {"auto"|string|false} [comment]   how a comment line begins; false: there are none
 * @property {string[]} [missing]   fields that say "not measured", beside the empty one
 *
 * @typedef {object} Table
 * @property {string[][]} rows   the header first
 * @property {number[]} places   the number of each row in the file
 * @property {(text: string) => number|null} numberOf   null if the text is not a number
 * @property {(text: string) => ReturnType<typeof quantityIn>} quantityOf   a number, or one with its unit
 * @property {(text: string) => boolean} isPlace   whether it is a value of an axis for certain: a number or a date
 * @property {(text: string) => boolean} isAmount   whether it may be one: also a size or a number with a unit
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
  const [separatorLine = "", separator = "auto"] = SEPARATOR.exec(text) ?? [];
  // Its line end stays, and counts as a row.
  const body = text.slice(separatorLine.length);
  const dialect = {
    delimiter: delimiter === "auto" ? separator : delimiter,
    comment: comment === "auto" ? COMMENT : comment || null,
    trim: true,
    blankLines: true,
  };
  const isMissing = (field) => field === "" || missing.includes(field);
  if (dialect.delimiter === "auto") dialect.delimiter = delimiterOf(body, dialect, { decimal, isMissing });
  const { left, ...records } = parseRecords(body, dialect);
  const content = withoutEmpty(records);
  // Where commas part the fields, there is none in a field that is not quoted.
  const isPlain = dialect.delimiter === "," && !body.includes('"');
  const mark = decimal !== "auto" ? decimal : isPlain ? "." : decimalOf(content, dialect.delimiter);
  const numberOf = (field) => figureIn(field, mark);
  const quantityOf = (field) => quantityIn(field, mark);
  const table = {
    ...content,
    numberOf,
    quantityOf,
    isPlace: (field) => numberOf(field) !== null || isMoment(field),
    isAmount: (field) => isMoment(field) || quantityOf(field) !== null || sizeIn(field) !== null,
    isMissing,
  };
  if (comment !== "auto") return table;
  refuseDataInComments(left, table, dialect.delimiter);
  return withHeaderOf(left, table, dialect);
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
  const candidates = DELIMITERS.filter((delimiter) => header.includes(delimiter));
  if (candidates.length < 2) return candidates[0] ?? ",";
  const fitting = candidates.filter((delimiter) => {
    const rows = rowsIn(text, { ...dialect, delimiter });
    if (rows === null) return false;
    const fields = rows.slice(1, LOOKED_AT).flatMap((row) => row.slice(1));
    const marks = decimal === "auto" ? [".", ","] : [decimal];
    return marks.some((mark) =>
      fields.every((field) => isMissing(field) || quantityIn(field, mark) !== null),
    );
  });
  if (fitting.length === 1) return fitting[0];
  if (fitting.length === 0 && candidates.includes(",")) return ",";
  throw ambiguous("the fields could be parted by several characters", "delimiter", candidates, { row: 1 });
}

/** The header without its quoted parts. */
function firstLine(text, dialect) {
  const lines = text.replace(/^\uFEFF/, "").split("\n", LOOKED_AT);
  const isHeader = (line) => line.trim() !== "" && !(dialect.comment && line.startsWith(dialect.comment));
  return (lines.find(isHeader) ?? "").replace(/"[^"]*("|$)/g, "");
}

/** Leaves out rows, and columns at the right, in which there is nothing: spreadsheets add them. */
function withoutEmpty({ rows, places }) {
  const isEmpty = (row) => row.every((field) => field === "");
  if (rows.some(isEmpty)) {
    places = places.filter((_, index) => !isEmpty(rows[index]));
    rows = rows.filter((row) => !isEmpty(row));
  }
  if (rows[0]?.at(-1) === "") {
    const widthOf = (row) => row.findLastIndex((field) => field !== "") + 1;
    const width = rows.reduce((widest, row) => Math.max(widest, widthOf(row)), 0);
    rows = rows.map((row) => row.slice(0, width));
  }
  return { rows, places };
}

/** The decimal separator, "." or ",". */
function decimalOf({ rows, places }, delimiter) {
  const sure = {};
  const either = {};
  rows.forEach((row, index) => {
    for (const field of row) {
      const separator = decimalIn(field);
      if (separator) (separator.sure ? sure : either)[separator.mark] ??= { field, row: places[index] };
    }
  });
  const fail = (mark, { field, row }) => {
    const name = mark === "," ? "comma" : "point";
    throw ambiguous(`the ${name} in "${field}" could part decimals or thousands`, "decimal", [".", ","], {
      row,
    });
  };
  if (sure["."] && sure[","]) fail(",", sure[","]);
  if (sure["."] || sure[","]) return sure["."] ? "." : ",";
  if (either[","]) fail(",", either[","]);
  // Who parts fields by semicolons may have decimal commas, and points between thousands.
  if (either["."] && delimiter === ";") fail(".", either["."]);
  return ".";
}

/** A line that begins like a comment may be data if it has numbers and as many fields as the header. */
function refuseDataInComments(left, { rows: [header = []], quantityOf }, delimiter) {
  for (const { place, text } of left) {
    const fields = text.split(delimiter).map((field) => field.trim());
    const isRow = header.length > 1 && fields.length === header.length;
    if (isRow && fields.slice(1).some((field) => quantityOf(field) !== null)) throw couldBe("data", place);
  }
}

function couldBe(what, row) {
  return ambiguous(
    `a line that begins with ${COMMENT} could be a comment or ${what}`,
    "comment",
    [COMMENT, false],
    { row },
  );
}

/**
 * The table with a header that stands behind a comment sign, as files for gnuplot have it: the only comment above the data
 * with a word for each of their columns. In the first row of such a file there are numbers only.
 */
function withHeaderOf(left, table, dialect) {
  const [first = []] = table.rows;
  const isData = (field) => table.quantityOf(field) !== null || table.isMissing(field);
  if (first.length < 2 || !first.slice(1).every(isData)) return table;
  const comments = left.filter(({ place }) => place < table.places[0]);
  const above = comments.flatMap(({ place, text }) => {
    const [fields = []] = rowsIn(text.slice(COMMENT.length), { ...dialect, comment: null }) ?? [];
    const isHeader = fields.length === first.length && fields.slice(1).every((field) => field !== "");
    return isHeader ? [{ place, fields }] : [];
  });
  if (above.length === 0) return table;
  if (above.length > 1 || !table.isAmount(first[0])) throw couldBe("the header", above.at(-1).place);
  const [{ place, fields }] = above;
  return { ...table, rows: [fields, ...table.rows], places: [place, ...table.places] };
}

/** The rows of a text; null if it is no CSV of that dialect. */
function rowsIn(text, dialect) {
  try {
    return parseRecords(text, dialect).rows;
  } catch (error) {
    if (error instanceof CsvError) return null;
    throw error;
  }
}
