import { CsvError } from "./error.js";

const QUOTE = '"';

/**
 * Parses CSV strictly after RFC 4180.
 *
 * Accepted: LF or CRLF line ends, one optional line end after the last record, quoted fields with commas,
 * line breaks and doubled quotes in them, one byte order mark. Everything else is an error: a quote inside an
 * unquoted field, text after a closing quote, a quote never closed, a carriage return without line feed, a
 * record with another number of fields than the first.
 *
 * @param {string} text
 * @returns {string[][]} records of equal length; `[]` for an empty text
 * @throws {CsvError} with row (record) and column (field), both 1-based
 */
export function parseCsv(text) {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  // Large files are written by programs and plain, and splitting is several times as fast as scanning.
  const plain = !text.includes(QUOTE) && !text.includes("\r");
  return plain ? splitRows(text.slice(start)) : scanRows(text, start);
}

function splitRows(text) {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const rows = lines.map((line) => line.split(","));
  const width = rows[0].length;
  const ragged = rows.findIndex((row) => row.length !== width);
  if (ragged >= 0) throw raggedRow(ragged + 1, rows[ragged].length, width);
  return rows;
}

function raggedRow(row, found, width) {
  return new CsvError(`${count(found, "field")} where the header has ${width}`, {
    row,
    column: Math.min(found, width) + 1,
    kind: "ragged",
  });
}

function scanRows(text, start) {
  const special = /[",\r\n]/g;
  const rows = [];
  let row = [];
  let at = start;

  const fail = (reason) => {
    throw new CsvError(reason, { row: rows.length + 1, column: row.length + 1, kind: "syntax" });
  };

  /** Length of the line end at `at`: 2 for CRLF, 1 for LF, 0 for none. */
  const lineEnd = () => {
    if (text[at] === "\n") return 1;
    return text[at] === "\r" && text[at + 1] === "\n" ? 2 : 0;
  };

  const unquoted = () => {
    special.lastIndex = at;
    const stop = special.exec(text)?.index ?? text.length;
    const field = text.slice(at, stop);
    at = stop;
    if (text[at] === QUOTE)
      fail("a quote inside an unquoted field (quote the whole field, double the quote)");
    if (text[at] === "\r" && !lineEnd()) fail("a carriage return without a line feed");
    return field;
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
    if (at < text.length && text[at] !== "," && !lineEnd()) fail("text after the closing quote of a field");
    return field;
  };

  const endRow = () => {
    const width = rows.length ? rows[0].length : row.length;
    if (row.length !== width) throw raggedRow(rows.length + 1, row.length, width);
    rows.push(row);
    row = [];
  };

  if (at >= text.length) return rows;
  for (;;) {
    row.push(text[at] === QUOTE ? quoted() : unquoted());
    if (text[at] === ",") {
      at += 1;
      continue;
    }
    at += lineEnd();
    endRow();
    if (at >= text.length) return rows;
  }
}

function count(n, noun) {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
