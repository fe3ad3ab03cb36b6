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
  const special = /[",\r\n]/g;
  const rows = [];
  let row = [];
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;

  const fail = (reason, kind = "syntax") => {
    throw new CsvError(reason, { row: rows.length + 1, column: row.length + 1, kind });
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
    if (row.length !== width) {
      const found = row.length;
      row.length = Math.min(found, width);
      fail(`${count(found, "field")} where the header has ${width}`, "ragged");
    }
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
