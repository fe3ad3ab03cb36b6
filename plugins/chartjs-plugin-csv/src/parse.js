import { CsvError } from "./error.js";

const QUOTE = '"';
const [LINE_FEED, RETURN] = [..."\n\r"].map((character) => character.charCodeAt(0));

/** RFC 4180, nothing else. */
const STRICT = { delimiter: ",", comment: null, trim: false, blankLines: false };

/**
 * Parses CSV strictly by RFC 4180.
 *
 * Accepted: LF or CRLF line ends, one optional line end after the last record, quoted fields that contain commas,
 * line breaks and doubled quotes, one byte order mark. Everything else is an error: a quote inside an unquoted
 * field, text after a closing quote, a quote that is never closed, a carriage return without a line feed, a record
 * with more or fewer fields than the first.
 *
 * @param {string} text
 * @returns {string[][]} records of equal length; `[]` for an empty text
 * @throws {CsvError} with row (record) and column (field), both 1-based
 */
export function parseCsv(text) {
  return parseRecords(text, STRICT).rows;
}

/**
 * Parses a dialect of CSV; anything that the dialect does not allow is an error, as in `parseCsv`.
 *
 * @param {string} text
 * @param {{delimiter: string, comment: string|null, trim: boolean, blankLines: boolean}} dialect
 *   comment: how a line begins that is left out; trim: removes blanks around a field, except within quotes;
 *   blankLines: leaves them out
 * @returns {{rows: string[][], places: number[], left: {place: number, text: string}[]}} places: the number of each row
 *   in the file, 1-based, for errors; lines that are left out count; left: the comments
 * @throws {CsvError}
 */
export function parseRecords(text, dialect) {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  // Large files come from programs and are plain; splitting them is several times as fast as scanning.
  const plain = !text.includes(QUOTE) && !text.includes("\r");
  const records = plain ? splitRows(text.slice(start), dialect) : scanRows(text, start, dialect);
  const { rows, places } = records;
  const ragged = rows.findIndex((row) => row.length !== rows[0].length);
  if (ragged >= 0) throw raggedRow(places[ragged], rows[ragged].length, rows[0].length);
  return records;
}

/** Whether a line is left out. */
function isLeftOut(line, { comment, blankLines, delimiter }) {
  if (comment !== null && line.startsWith(comment)) return true;
  // A tab may be a delimiter, and then a line of tabs is a row of empty fields.
  return blankLines && !line.includes(delimiter) && line.trim() === "";
}

function splitRows(text, dialect) {
  const [rows, places, left] = [[], [], []];
  if (text === "") return { rows, places, left };
  const { delimiter, comment, trim } = dialect;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  lines.forEach((line, index) => {
    if (isLeftOut(line, dialect)) {
      if (comment !== null && line.startsWith(comment)) left.push({ place: index + 1, text: line });
      return;
    }
    const fields = line.split(delimiter);
    rows.push(trim ? fields.map((field) => field.trim()) : fields);
    places.push(index + 1);
  });
  return { rows, places, left };
}

function raggedRow(row, fieldCount, width) {
  return new CsvError(`${fieldCount} field${fieldCount === 1 ? "" : "s"} where the header has ${width}`, {
    row,
    column: Math.min(fieldCount, width) + 1,
    kind: "ragged",
  });
}

function scanRows(text, start, dialect) {
  const { delimiter, comment, trim } = dialect;
  const [quote, delimiterCode] = [QUOTE, delimiter].map((character) => character.charCodeAt(0));
  const [rows, places, left] = [[], [], []];
  let row = [];
  let at = start;
  let place = 1;

  const fail = (reason) => {
    throw new CsvError(reason, { row: place, column: row.length + 1, kind: "syntax" });
  };

  /** Length of the line end at `at`: 2 for CRLF, 1 for LF, 0 for none. */
  const lineEnd = () => {
    if (text[at] === "\n") return 1;
    return text[at] === "\r" && text[at + 1] === "\n" ? 2 : 0;
  };

  const skipBlanks = () => {
    if (trim) while (text[at] === " " || (text[at] === "\t" && delimiter !== "\t")) at += 1;
  };

  const unquoted = () => {
    const from = at;
    // Character by character: fields are short, and a search would look beyond the end of each.
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === delimiterCode || code === LINE_FEED || code === quote || code === RETURN) break;
    }
    const field = text.slice(from, at);
    if (text[at] === QUOTE)
      fail("a quote inside an unquoted field (quote the whole field, double the quote)");
    if (text[at] === "\r" && !lineEnd()) fail("a carriage return without a line feed");
    return trim ? field.trim() : field;
  };

  const quoted = () => {
    let field = "";
    let from = at + 1;
    for (;;) {
      const close = text.indexOf(QUOTE, from);
      if (close < 0) fail("a quoted field is never closed");
      field += text.slice(from, close);
      if (text[close + 1] !== QUOTE) {
        at = close + 1;
        break;
      }
      field += QUOTE;
      from = close + 2;
    }
    skipBlanks();
    if (at < text.length && text[at] !== delimiter && !lineEnd())
      fail("text after the closing quote of a field");
    return field;
  };

  /** Skips a line that is left out; returns whether there was one. */
  const skipLine = () => {
    const end = text.indexOf("\n", at);
    const line = text.slice(at, end < 0 ? text.length : end);
    if (!isLeftOut(line, dialect)) return false;
    if (comment !== null && line.startsWith(comment)) left.push({ place, text: line.replace(/\r$/, "") });
    at = end < 0 ? text.length : end + 1;
    place += 1;
    return true;
  };

  while (at < text.length) {
    if (skipLine()) continue;
    for (;;) {
      skipBlanks();
      row.push(text[at] === QUOTE ? quoted() : unquoted());
      if (text[at] !== delimiter) break;
      at += 1;
    }
    at += lineEnd();
    if (rows.length && row.length !== rows[0].length) throw raggedRow(place, row.length, rows[0].length);
    rows.push(row);
    places.push(place);
    row = [];
    place += 1;
  }
  return { rows, places, left };
}
