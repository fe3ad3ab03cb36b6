import assert from "node:assert/strict";
import { test } from "node:test";
import { parse as oracle } from "csv-parse/sync";
import fc from "fast-check";
import { CsvError } from "../src/error.js";
import { parseCsv } from "../src/parse.js";

const PATIENCE = Number(process.env.REPLAY_TEST_PATIENCE ?? 3);

/** The oracle, as strict as RFC 4180: same line ends, no relaxations. */
function oracleParse(text) {
  return oracle(text, {
    bom: true,
    record_delimiter: ["\r\n", "\n"],
    relax_column_count: false,
    skip_empty_lines: false,
  });
}

function errorOf(text) {
  try {
    parseCsv(text);
  } catch (error) {
    assert.ok(error instanceof CsvError, `a CsvError, not ${error}`);
    return error;
  }
  return assert.fail(`no error for ${JSON.stringify(text)}`);
}

test("a quoted field keeps commas, line breaks and doubled quotes", () => {
  const text = '"I/O size, bytes","say ""hi""","two\r\nlines"\n1,2,3\n';
  assert.deepEqual(parseCsv(text)[0], ["I/O size, bytes", 'say "hi"', "two\r\nlines"]);
});

test("an empty text has no record", () => {
  assert.deepEqual(parseCsv(""), []);
});

test("a record with too few or too many fields is an error that names its row", () => {
  const short = errorOf("a,b,c\n1,2,3\n4,5\n");
  assert.equal(short.kind, "ragged");
  assert.equal(short.row, 3);
  assert.match(short.message, /row 3, column 3: 2 fields where the header has 3/);
  const long = errorOf("a,b\n1,2,3\n");
  assert.deepEqual([long.row, long.column], [2, 3]);
});

test("an empty line between records is an error", () => {
  assert.equal(errorOf("a,b\n\n1,2\n").row, 2);
});

test("quotes in the wrong place are errors with row and column", () => {
  const open = errorOf('a,b\n1,"2\n');
  assert.deepEqual([open.row, open.column], [2, 2]);
  assert.match(open.message, /never closed/);
  assert.match(errorOf('a,b"c\n').message, /row 1, column 2: a quote inside an unquoted field/);
  assert.match(errorOf('"a"b,c\n').message, /row 1, column 1: text after the closing quote/);
});

test("a carriage return without line feed is an error", () => {
  assert.match(errorOf("a,b\r1,2\r").message, /carriage return/);
});

const field = fc.string({
  unit: fc.constantFrom("a", "1", ".", " ", ",", '"', "\n", "\r\n", "é", "×"),
  maxLength: 6,
});
const table = fc
  .tuple(fc.integer({ min: 2, max: 5 }), fc.integer({ min: 1, max: 6 }))
  .chain(([width, height]) =>
    fc.array(fc.array(field, { minLength: width, maxLength: width }), {
      minLength: height,
      maxLength: height,
    }),
  );

test("property: any rows written by RFC 4180 are read back, and csv-parse agrees", () => {
  const options = fc.record({
    eol: fc.constantFrom("\n", "\r\n"),
    last: fc.boolean(),
    bom: fc.boolean(),
    all: fc.boolean(),
  });
  fc.assert(
    fc.property(table, options, (rows, { eol, last, bom, all }) => {
      const quote = (text) => (all || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
      const body = rows.map((row) => row.map(quote).join(",")).join(eol);
      const text = (bom ? "\uFEFF" : "") + body + (last ? eol : "");
      assert.deepEqual(parseCsv(text), rows);
      assert.deepEqual(oracleParse(text), rows);
    }),
    { numRuns: 500 },
  );
});

test("property: of all texts of CSV's own characters, parser and csv-parse accept the same, with equal rows", () => {
  const anyText = fc.string({ unit: fc.constantFrom("a", "b", ",", '"', "\n", "\r\n"), maxLength: 24 });
  let accepted = 0;
  fc.assert(
    fc.property(anyText, (text) => {
      const attempt = (parse) => {
        try {
          return parse(text);
        } catch {
          return "error";
        }
      };
      const ours = attempt(parseCsv);
      if (ours !== "error") accepted += 1;
      assert.deepEqual(ours, attempt(oracleParse));
    }),
    { numRuns: 2000 },
  );
  assert.ok(accepted > 100, `texts of both sorts were tried, ${accepted} accepted`);
});

test("100,000 rows are parsed without a noticeable wait", () => {
  const text =
    "series,x,y,low,high,n\n" + Array.from({ length: 100_000 }, (_, i) => `a,${i},${i / 7},,,1`).join("\n");
  const start = performance.now();
  assert.equal(parseCsv(text).length, 100_001);
  assert.ok(performance.now() - start < 5000 * PATIENCE, "what is not linear takes far longer");
});
