/** CSV as people write it: what is read, and what is refused because it can be read in two ways. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readRows } from "../src/dialect.js";
import { readModel } from "../src/table.js";

const lines = (...rows) => `${rows.join("\n")}\n`;
const values = (model) =>
  Object.fromEntries(model.series.map(({ name, points }) => [name, points.map(({ y }) => y)]));

function failure(text, options) {
  try {
    readModel(text, options);
  } catch (error) {
    return error;
  }
  return assert.fail("no error");
}

for (const [what, text, xLabel, xs, series] of [
  [
    "dates",
    lines("date,alpha,beta", "2024-01-01,1,2", "2024-01-02,3,"),
    "date",
    ["2024-01-01", "2024-01-02"],
    { alpha: [1, 3], beta: [2, null] },
  ],
  ["x and y", lines("x,y", "1,10", "2,20"), "x", [1, 2], { y: [10, 20] }],
  ["times", lines("time,value", "0.5,3", "1.5,4"), "time", [0.5, 1.5], { value: [3, 4] }],
  ["hours", lines("at,load", "08:00,1", "09:30:15.5,2"), "at", ["08:00", "09:30:15.5"], { load: [1, 2] }],
]) {
  test(`a column per series is recognised if the first column has x values: ${what}`, () => {
    const model = readModel(text);
    assert.deepEqual([model.kind, model.xLabel, model.xs], ["wide", xLabel, xs]);
    assert.deepEqual(values(model), series);
  });
}

test("a row per series is recognised if the header has x values", () => {
  const model = readModel(lines("I/O size,4096,8192", "With journal,1,2"));
  assert.deepEqual([model.xs, values(model)], [[4096, 8192], { "With journal": [1, 2] }]);
});

test("a file that could be either is refused with the option's name, and read as rows or columns on request", () => {
  for (const text of [
    lines("month,alpha,beta", "January,1,2"),
    lines("x,1,2", "3,4,5"),
    lines(",a,b", "c,1,2"),
  ]) {
    const error = failure(text);
    assert.equal(error.kind, "ambiguous");
    assert.match(error.message, /option "orientation"/);
    for (const orientation of ["rows", "prefer-rows"])
      assert.equal(readModel(text, { orientation }).series.length, 1);
    assert.equal(readModel(text, { orientation: "columns" }).series.length, 2);
  }
  // It is a preference, not an order.
  assert.deepEqual(values(readModel(lines("x,y", "1,10"), { orientation: "prefer-rows" })), { y: [10] });
});

test("several values at one x are points", () => {
  const model = readModel(lines("clients,IOPS", "4,10", "1,3", "4,12"));
  assert.deepEqual([model.kind, model.xLabel, model.xs], ["long", "clients", [1, 4]]);
  assert.deepEqual(
    model.series[0].points.map(({ x, y }) => [x, y]),
    [
      [4, 10],
      [1, 3],
      [4, 12],
    ],
  );
});

for (const [what, text] of [
  ["semicolons and decimal commas", lines("x;a;b", "1;0,5;2", "2;1,25;NA")],
  ["tabs and decimal commas", lines("x\ta\tb", "1\t0,5\t2", "2\t1,25\t")],
  ["bars", lines("x|a|b", "1|0.5|2", "2|1.25|n/a").replace("n/a", "N/A")],
  ["blanks after commas", lines("x, a, b", "1, 0.5, 2", "2, 1.25, -")],
  [
    "comments and empty lines",
    lines("# measured by night", "", "x,a,b", "1,0.5,2", "# a pause", "2,1.25,null", ""),
  ],
  [
    "CRLF, quotes with blanks around them, a byte order mark",
    '\uFEFFx, "a" ,b\r\n# no, comment\r\n1,"0.5",2\r\n2,1.25,""\r\n',
  ],
]) {
  test(`${what} are read without an option`, () => {
    const model = readModel(text);
    assert.deepEqual([model.xs, values(model)], [[1, 2], { a: [0.5, 1.25], b: [2, null] }]);
  });
}

for (const [option, text, place, settled] of [
  ["delimiter", lines("x;y,z", "1;2,5"), 1, { delimiter: ";", orientation: "columns" }],
  ["decimal", lines("x;a", "1;1,234", "2;5,678"), 2, { decimal: "," }],
  ["decimal", lines("x;a;b", "1;1,5;2.5"), 2, { decimal: ".", missing: ["1,5"] }],
  ["comment", lines("x,1,2", "a,3,4", "#b,5,6"), 3, { comment: false }],
]) {
  test(`a text that could be read in two ways is refused, naming ${option}: ${JSON.stringify(text)}`, () => {
    const error = failure(text);
    assert.equal(error.kind, "ambiguous");
    assert.equal(error.row, place);
    assert.ok(error.message.includes(`option "${option}"`), error.message);
    assert.ok(readModel(text, settled).series.length > 0);
  });
}

test("an error names the row of the file, comments and empty lines included", () => {
  const error = failure(lines("# why", "", "x,a", "1,2", "# again", "2,many"));
  assert.deepEqual([error.row, error.column, error.kind], [6, 2, "number"]);
  assert.equal(failure(lines("# why", "x,a", "1,2,3")).row, 3);
});

test("unknown options are refused by name", () => {
  for (const options of [
    { orientation: "sideways" },
    { delimiter: "--" },
    { decimal: ";" },
    { comment: "" },
  ]) {
    const error = failure(lines("x,1", "a,2"), options);
    assert.equal(error.kind, "options");
    assert.match(error.message, new RegExp(`option ${Object.keys(options)[0]}`));
  }
});

test("a text written in a dialect is read back, or refused as ambiguous, and never altered", () => {
  const number = fc
    .double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 })
    .map((value) => Number(value.toPrecision(6)));
  const table = fc.integer({ min: 1, max: 4 }).chain((width) =>
    fc.array(fc.array(fc.option(number), { minLength: width, maxLength: width }), {
      minLength: 1,
      maxLength: 8,
    }),
  );
  const dialect = fc.record({
    delimiter: fc.constantFrom(",", ";", "\t", "|"),
    decimal: fc.constantFrom(".", ","),
    missing: fc.constantFrom("", "NA", "null"),
    end: fc.constantFrom("\n", "\r\n"),
    blank: fc.constantFrom("", " "),
    told: fc.boolean(),
  });
  fc.assert(
    fc.property(table, dialect, (body, { delimiter, decimal, missing, end, blank, told }) => {
      fc.pre(decimal !== delimiter);
      const write = (value) => (value === null ? missing : String(value).replace(".", decimal));
      const names = body[0].map((_, i) => `s${i}`);
      const rows = [["x", ...names], ...body.map((row, i) => [String(i + 1), ...row.map(write)])];
      const text = rows.map((row) => row.join(delimiter + blank)).join(end) + end;
      let model;
      try {
        model = readModel(text, told ? { delimiter, decimal } : {});
      } catch (error) {
        assert.equal(error.kind, "ambiguous");
        assert.equal(told, false);
        return;
      }
      assert.deepEqual(
        model.xs,
        body.map((_, i) => i + 1),
      );
      // A negative zero is written as 0.
      assert.deepEqual(
        values(model),
        Object.fromEntries(
          names.map((name, k) => [name, body.map((row) => (row[k] === null ? null : row[k] + 0))]),
        ),
      );
    }),
  );
});

test("quoted text fields stay as they are", () => {
  const { rows } = readRows('name;"a; b"\n" c ";1\n');
  assert.deepEqual(rows, [
    ["name", "a; b"],
    [" c ", "1"],
  ]);
});
