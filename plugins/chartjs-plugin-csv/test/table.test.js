import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CsvError } from "../src/error.js";
import { joinCompanions } from "../src/spread.js";
import { readModel } from "../src/table.js";

const WIDE = `I/O size,4096,8192,16384
Without journal,30658995.65,60612439.23,114581905.32
With journal,5943684.21,,31419250.76
`;

const LONG = `series,x,y,low,high,n
lag,0.5,12,10,14,3
lag,1.5,,,,0
rate,0.5,1e3,,,
`;

function failure(text) {
  try {
    readModel(text);
  } catch (error) {
    assert.ok(error instanceof CsvError, String(error));
    return error;
  }
  return assert.fail("no error");
}

test("a wide table becomes a series per row over the header's x values", () => {
  const model = readModel(WIDE);
  assert.equal(model.kind, "wide");
  assert.equal(model.xLabel, "I/O size");
  assert.deepEqual(model.xs, [4096, 8192, 16384]);
  assert.deepEqual(
    model.series.map(({ name }) => name),
    ["Without journal", "With journal"],
  );
  assert.deepEqual(model.series[0].points[1], { x: 8192, y: 60612439.23, low: null, high: null, n: null });
});

test("a header that is not all numbers makes categories", () => {
  assert.deepEqual(readModel("Client,1,2 of 2\na,1,2\n", { orientation: "rows" }).xs, ["1", "2 of 2"]);
});

test("the long form is told by its exact header and keeps low, high and n", () => {
  const model = readModel(LONG);
  assert.equal(model.kind, "long");
  assert.deepEqual(model.xs, [0.5, 1.5]);
  assert.deepEqual(model.series, [
    {
      name: "lag",
      points: [
        { x: 0.5, y: 12, low: 10, high: 14, n: 3 },
        { x: 1.5, y: null, low: null, high: null, n: 0 },
      ],
    },
    { name: "rate", points: [{ x: 0.5, y: 1000, low: null, high: null, n: null }] },
  ]);
});

test("the long form may leave out bounds and counts", () => {
  const short = readModel("series,x,y\nno cache,120,0.008\nwriteback,340,0.002\n");
  assert.deepEqual(
    short,
    readModel("series,x,y,low,high,n\nno cache,120,0.008,,,\nwriteback,340,0.002,,,\n"),
  );
  assert.equal(short.kind, "long");
});

test("a header that is almost the long one is wide", () => {
  assert.equal(readModel("series,x,y,low,high\na,1,2,3,4\n", { orientation: "rows" }).kind, "wide");
});

test("a non-number in a value field names row, column and text", () => {
  const error = failure("I/O size,4096,8192\nWithout journal,1,2\nWith journal,3,n/a\n");
  assert.deepEqual([error.row, error.column, error.kind], [3, 3, "number"]);
  assert.match(error.message, /row 3, column 3: "n\/a" is not a number \(under "8192"\)/);
});

for (const text of [
  "n/a",
  "inf",
  "0x10",
  "10 00",
  "1,5,2",
  " 7",
  "1e999",
  "--",
  "1.2.3",
  "<b>1</b>",
  "5 apples",
]) {
  test(`${JSON.stringify(text)} is not taken for a number`, () => {
    assert.equal(failure(`x,1\na,"${text}"\n`).kind, "number");
  });
}

for (const [text, value] of [
  ["-1.5e-3", -0.0015],
  ["+2", 2],
  [".5", 0.5],
  ["7.", 7],
  ["1E6", 1e6],
]) {
  test(`${text} is the number ${value}`, () => {
    assert.equal(readModel(`x,1\na,${text}\n`).series[0].points[0].y, value);
  });
}

for (const [what, text, reason, place] of [
  ["an empty file", "", /empty/, [null, null]],
  ["a file with a header alone", "I/O size,4096\n", /no data row/, [null, null]],
  ["a header of one cell", "hello\nworld\n", /names no x value/, [1, 1]],
  ["an x value twice", "x,4096,4096\na,1,2\n", /"4096" twice/, [1, 3]],
  ["the same x in two spellings", "x,4096,4.096e3\na,1,2\n", /twice/, [1, 3]],
  ["an empty x value", "x,4096,\na,1,2\n", /empty x value/, [1, 3]],
  ["a series twice", "x,1\na,1\na,2\n", /"a" twice/, [3, 1]],
  ["a series without a name", "x,1\n,1\n", /without a name/, [2, 1]],
  ["a long point without x", "series,x,y,low,high,n\na,,1,,,\n", /without an x/, [2, 2]],
  ["a long point without a series", "series,x,y,low,high,n\n,1,1,,,\n", /without a series/, [2, 1]],
  ["low above high", "series,x,y,low,high,n\na,1,2,3,1,\n", /low 3 is above high 1/, [2, 4]],
]) {
  test(`${what} is an error`, () => {
    const error = failure(text);
    assert.match(error.message, reason);
    assert.deepEqual([error.row, error.column], place);
  });
}

test("companions fill low, high and n by series name and x, and leave y alone", () => {
  const model = readModel(WIDE);
  const low = readModel("I/O size,8192,4096\nWith journal,1,2\nWithout journal,3,4\nOther,5,6\n");
  const joined = joinCompanions(model, {
    low,
    high: null,
    n: readModel("I/O size,4096\nWithout journal,10\n"),
  });
  assert.deepEqual(joined.series[0].points[0], { x: 4096, y: 30658995.65, low: 4, high: null, n: 10 });
  assert.deepEqual(joined.series[1].points[1], { x: 8192, y: null, low: 1, high: null, n: null });
  assert.equal(joined.series[0].points[2].low, null);
  assert.equal(model.series[0].points[0].low, null, "the model given is unchanged");
});

test("property: a wide table's numbers come back exactly, and an empty field is null", () => {
  const value = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }), { nil: null });
  const xs = fc.uniqueArray(fc.integer({ min: 1, max: 1e9 }), { minLength: 1, maxLength: 6 });
  const rows = xs.chain((header) =>
    fc.tuple(
      fc.constant(header),
      fc.array(fc.array(value, { minLength: header.length, maxLength: header.length }), {
        minLength: 1,
        maxLength: 4,
      }),
    ),
  );
  fc.assert(
    fc.property(rows, ([header, body]) => {
      const text = [["x", ...header], ...body.map((row, i) => [`s${i}`, ...row.map((v) => v ?? "")])]
        .map((row) => row.join(","))
        .join("\n");
      const model = readModel(text);
      assert.deepEqual(model.xs, header);
      // −0 is written as 0.
      const expected = body.map((row) => row.map((v) => (v === null ? null : v + 0)));
      assert.deepEqual(
        model.series.map(({ points }) => points.map(({ y }) => y)),
        expected,
      );
    }),
  );
});

test("a hostile file is refused before anything is drawn of it: too many series, endless names", () => {
  const rows = Array.from({ length: 101 }, (_, i) => `s${i},1`).join("\n");
  assert.throws(() => readModel(`x,1\n${rows}\n`), { kind: "size", row: 102, column: 1 });
  const points = Array.from({ length: 101 }, (_, i) => `s${i},1,1,,,`).join("\n");
  assert.throws(() => readModel(`series,x,y,low,high,n\n${points}\n`), { kind: "size", row: 102 });
  const long = "n".repeat(201);
  for (const text of [`x,1\n${long},1\n`, `${long},1\na,1\n`, `x,${long}\na,1\n`])
    assert.throws(() => readModel(text, { orientation: "rows" }), {
      kind: "size",
      message: /a name of 201 characters/,
    });
  assert.throws(
    () => readModel(`x,1\na,${"?".repeat(10_000)}\n`),
    (error) => error.kind === "number" && error.message.length < 200,
  );
});
