/**
 * What is wrong with a CSV file, and where.
 *
 * - `reason`: the sentence alone; `message`: the sentence after file, row and column.
 * - `url`: the file as it was asked for, or null for CSV given as text.
 * - `row`, `column`: 1-based; row 1 is the header, a row counts once even if a quoted field spans lines.
 *   Null if the error is not about one place.
 * - `kind`: `network | status | html | size | encoding | empty | syntax | ragged | header | number | ambiguous | options`.
 * - `status`: the HTTP status for kind `status`, else null.
 */
export class CsvError extends Error {
  /**
   * @param {string} reason
   * @param {{url?: string|null, row?: number|null, column?: number|null, kind?: string, status?: number|null, cause?: unknown}} [details]
   */
  constructor(reason, { url = null, row = null, column = null, kind = "syntax", status = null, cause } = {}) {
    const place = [];
    if (row !== null) place.push(`row ${row}`);
    if (column !== null) place.push(`column ${column}`);
    super([url, place.join(", "), reason].filter(Boolean).join(": "), cause ? { cause } : undefined);
    this.name = "CsvError";
    this.reason = reason;
    this.url = url;
    this.row = row;
    this.column = column;
    this.kind = kind;
    this.status = status;
  }

  /**
   * The same error for the file at `url`.
   * @param {string|null} url
   */
  in(url) {
    const { row, column, kind, status, cause } = this;
    return new CsvError(this.reason, { url, row, column, kind, status, cause });
  }
}

/**
 * The error for what can be read in two ways: it names the option that decides, and its values.
 * @param {string} reason
 * @param {string} option
 * @param {unknown[]} choices
 * @param {{row?: number|null, column?: number|null}} [at]
 */
export function ambiguous(reason, option, choices, at = {}) {
  const listed = choices.map((choice) => JSON.stringify(choice)).join(" or ");
  return new CsvError(`${reason}; say which with the option "${option}": ${listed}`, {
    ...at,
    kind: "ambiguous",
  });
}

/** How much of a wrong field a message quotes, in characters. */
const QUOTED = 60;

export function quoted(text) {
  return text.length > QUOTED ? `"${text.slice(0, QUOTED)}…"` : `"${text}"`;
}
