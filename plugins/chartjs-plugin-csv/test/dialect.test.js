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
    lines("config,IOPS,latency", "libaio,900,1.1", "psync,200,5"),
    lines("x,1,2", "3,4,5"),
    lines(",a,b", "c,1,2"),
  ]) {
    const error = failure(text);
    assert.equal(error.kind, "ambiguous");
    assert.match(error.message, /option "orientation": "rows" or "columns"/);
    const [, first] = text.split("\n");
    assert.equal(readModel(text, { orientation: "rows" }).series[0].name, first.split(",")[0]);
    assert.equal(readModel(text, { orientation: "columns" }).series.length, 2);
  }
});

test("a file without a header is not drawn without its first row", () => {
  for (const text of [
    lines("500, 1234, 0, 4096", "1000, 1200, 0, 4096", "1500, 1300, 0, 4096"),
    lines("2024-01-01,5", "2024-01-02,6"),
    lines("4k,900", "64k,200"),
  ]) {
    const error = failure(text);
    assert.deepEqual([error.kind, error.row], ["ambiguous", 1]);
    assert.match(error.message, /could be data: put a row of names above it.*option "orientation"/);
  }
});

test("sizes beside or above numbers name series", () => {
  const rows = readModel(lines("Queue depth,1,2,4", "4K,9,13,18", "64K,7,11,17"));
  assert.deepEqual([rows.xs, values(rows)], [[1, 2, 4], { "4K": [9, 13, 18], "64K": [7, 11, 17] }]);
  const columns = readModel(lines("Queue depth,4K,64K", "1,9,7", "2,13,11"));
  assert.deepEqual([columns.xs, values(columns)], [[1, 2], { "4K": [9, 13], "64K": [7, 11] }]);
  assert.equal(failure(lines("bs,4k,64k", "1M,1,2")).kind, "ambiguous");
});

test("labels down the first column of a single series are its x values", () => {
  const model = readModel(lines("engine,IOPS", "libaio,900", "psync,200"));
  assert.deepEqual([model.xs, values(model)], [["libaio", "psync"], { IOPS: [900, 200] }]);
});

test("sizes are x values: bytes if the axis is titled so, else as written", () => {
  const down = readModel(lines("bs,IOPS", "4k,900", "64k,200", "1M,50"));
  assert.deepEqual([down.xs, down.xUnit], [[4096, 65536, 1048576], "bytes"]);
  assert.deepEqual(values(down), { IOPS: [900, 200, 50] });
  const along = readModel(lines("Block size,512,4KiB,1MB", "reads,1,2,3"));
  assert.deepEqual([along.xs, values(along)], [[512, 4096, 1048576], { reads: [1, 2, 3] }]);
  const untitled = readModel(lines("case,IOPS", "4k,900", "1M,50"));
  assert.deepEqual([untitled.xs, untitled.xUnit], [["4k", "1M"], undefined]);
});

for (const comment of ["# x,a", "#x, a", '# "x","a"']) {
  test(`a header behind a comment sign is one if data follow: ${comment}`, () => {
    const model = readModel(lines("# measured by night", comment, "1,2", "2,3", "3,4"));
    assert.deepEqual([model.xLabel, model.xs, values(model)], ["x", [1, 2, 3], { a: [2, 3, 4] }]);
  });
}

test("what could be a comment or the header is refused, and read on request", () => {
  for (const text of [
    lines("# by night, on node 3", "I/O size,4096", "With journal,5"),
    lines("# x,a", "# s,ms", "1,2", "2,3"),
  ]) {
    const error = failure(text);
    assert.equal(error.kind, "ambiguous");
    assert.match(error.message, /a comment or the header.*option "comment": "#" or false/);
  }
  const settled = { comment: "#", orientation: "rows" };
  assert.deepEqual(values(readModel(lines("# by night, on node 3", "I/O size,4096", "A,5"), settled)), {
    A: [5],
  });
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

for (const [what, text, expected] of [
  ["quoted, with a point elsewhere", lines("x,a", '1,"1,234"', "2,0.5"), [1234, 0.5]],
  ["quoted, in more than one group", lines("x,a", '1,"1,234,567"', '2,"9,876"'), [1234567, 9876]],
  ["quoted, with decimals", lines("x,a", '1,"1,234.5"', '2,"-12,000"'), [1234.5, -12000]],
  ["points, with decimal commas", lines("x;a", "1;1.234,5", "2;1.234"), [1234.5, 1234]],
  ["points, in more than one group", lines("x;a", "1;1.234.567", "2;1.234"), [1234567, 1234]],
  ["blanks", lines("x;a", "1;1 234", "2;12 345,5"), [1234, 12345.5]],
  ["narrow and fixed blanks", lines("x\ta", "1\t1\u202f234", "2\t1\u00a0234"), [1234, 1234]],
  ["apostrophes", lines("x,a", "1,1'234.5", "2,1’234’567"), [1234.5, 1234567]],
  ["none, and decimal commas in quotes", lines("x,a", '1,"0,5"', '2,"12,75"'), [0.5, 12.75]],
]) {
  test(`thousands are parted by ${what}`, () => {
    assert.deepEqual(values(readModel(text)), { a: expected });
  });
}

for (const [text, settled] of [
  [lines("x,a", '1,"1,234"', '2,"5,678"'), { ".": [1234, 5678], ",": [1.234, 5.678] }],
  [lines("x;a", "1;1.234", "2;5.678"), { ".": [1.234, 5.678], ",": [1234, 5678] }],
]) {
  test(`a mark that could part decimals or thousands is asked for: ${JSON.stringify(text)}`, () => {
    const error = failure(text);
    assert.deepEqual([error.kind, error.row], ["ambiguous", 2]);
    assert.match(error.message, /could part decimals or thousands.*option "decimal": "\." or ","/);
    for (const [decimal, expected] of Object.entries(settled))
      assert.deepEqual(values(readModel(text, { decimal })), { a: expected });
  });
}

for (const [what, text, unit, expected] of [
  ["per cent", lines("x,a", "1,57%", "2,12.5 %", "3,0"), "fraction", [0.57, 0.125, 0]],
  ["decimal commas before per cent", lines("x;a", "1;57,1%", "2;NA"), "fraction", [0.571, null]],
  ["times", lines("x,a", "1,850 µs", "2,1.5ms", "3,2s"), "seconds", [0.00085, 0.0015, 2]],
  ["rates", lines("x,a", "1,30.7 MB/s", "2,1 MiB/s"), "bytes_per_second", [30700000, 1048576]],
  ["sizes", lines("x,a", "1,4 KiB", "2,512 B"), "bytes", [4096, 512]],
  ["operations", lines("x,a", "1,1.2k ops/s", "2,900 IOPS"), "operations_per_second", [1200, 900]],
]) {
  test(`a unit after each value is read, and is the chart's: ${what}`, () => {
    const model = readModel(text);
    assert.deepEqual([model.yUnit, values(model)], [unit, { a: expected }]);
  });
}

test("values of different units are refused: a chart has one axis for them", () => {
  const error = failure(lines("clients,IOPS,cpu", "1,900,12%", "2,1700,20%"));
  assert.deepEqual([error.kind, error.row, error.column], ["number", 2, 3]);
  assert.match(error.message, /"12%" has another unit than "900" in row 2; .* write them in one unit/);
  assert.equal(failure(lines("x,a", "1,5 ms", "2,12%")).kind, "number");
  assert.match(failure(lines("x,a", "1,30 MB", "2,12 MB")).message, /"30 MB" is not a number/);
});

test("a bare k is 1000 of what is counted and 1024 of bytes; if nobody says which, it is refused", () => {
  const text = lines("x,a", "1,1.2k", "2,900", "3,2M");
  assert.deepEqual(values(readModel(text, { yUnit: "operations_per_second" })), { a: [1200, 900, 2e6] });
  assert.deepEqual(values(readModel(text, { yUnit: "bytes" })), { a: [1228.8, 900, 2097152] });
  const error = failure(text);
  assert.deepEqual([error.kind, error.row, error.column], ["ambiguous", 2, 2]);
  assert.match(error.message, /the k in "1.2k".*option "yUnit"/);
});

test("x values with one unit are numbers of it, with several they are labels", () => {
  const model = readModel(lines("wait,a", "1ms,1", "0.5 s,2"));
  assert.deepEqual([model.xs, model.xUnit], [[0.001, 0.5], "seconds"]);
  assert.deepEqual(readModel(lines("wait,a", "1ms,1", "50%,2")).xs, ["1ms", "50%"]);
});

for (const [what, text] of [
  ["a line that says what parts the fields", lines("sep=;", "x;a;b", "1;2;3", "2;4;5")],
  ["the same after a byte order mark, in quotes, with CRLF", '\uFEFF"sep=;"\r\nx;a;b\r\n1;2;3\r\n2;4;5\r\n'],
  ["empty rows", lines("x,a,b", "1,2,3", ",,", "2,4,5", ",,", ",,")],
  ["empty rows above the header", lines(",,", "x,a,b", "1,2,3", "2,4,5")],
  ["empty columns", lines("x,a,b,,", "1,2,3,,", "2,4,5,,")],
]) {
  test(`what a spreadsheet adds is left out: ${what}`, () => {
    const model = readModel(text);
    assert.deepEqual([model.xs, values(model)], [[1, 2], { a: [2, 4], b: [3, 5] }]);
  });
}

test("a line that says what parts the fields counts as a row, and an option is stronger", () => {
  assert.equal(failure(lines("sep=;", "x;a", "1;many")).row, 3);
  assert.deepEqual(values(readModel(lines("sep=;", "x,a", "1,2"), { delimiter: "," })), { a: [2] });
});

test("numbers as a spreadsheet formats them are read back, or refused as ambiguous, and never altered", () => {
  const written = (value, { thousands, decimal, places }) => {
    const [whole, rest] = Math.abs(value).toFixed(places).split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, thousands);
    return `${value < 0 ? "-" : ""}${grouped}${rest ? decimal + rest : ""}`;
  };
  const form = fc.constantFrom(
    ...[",", " ", "'", ""].map((thousands) => ({ thousands, decimal: "." })),
    ...[".", " ", "\u202f", ""].map((thousands) => ({ thousands, decimal: "," })),
  );
  const numbers = fc.array(fc.integer({ min: -1e9, max: 1e9 }), { minLength: 1, maxLength: 6 });
  const rest = [
    fc.integer({ min: 0, max: 3 }),
    fc.constantFrom(",", ";", "\t"),
    fc.constantFrom("", "%", " ms"),
  ];
  fc.assert(
    fc.property(numbers, form, ...rest, (whole, marks, places, delimiter, unit) => {
      // Elsewhere a point is a decimal point: see decimalOf.
      fc.pre(marks.thousands !== "." || delimiter === ";");
      const all = whole.map((value) => value / 10 ** places);
      const cells = all.map((value) => written(value, { ...marks, places }) + unit);
      const rows = cells.map(
        (cell, i) => `n${i}${delimiter}${cell.includes(delimiter) ? `"${cell}"` : cell}`,
      );
      const text = [`case${delimiter}a`, ...rows].join("\n");
      let model;
      try {
        model = readModel(text, { orientation: "columns" });
      } catch (error) {
        assert.equal(error.kind, "ambiguous", error.message);
        assert.match(error.message, /option "decimal"/);
        return;
      }
      const scale = { "": 1, "%": 0.01, " ms": 0.001 }[unit];
      model.series[0].points.forEach(({ y }, i) => {
        assert.ok(Math.abs(y - all[i] * scale) <= Math.abs(all[i]) * 1e-12, `${cells[i]} is read as ${y}`);
      });
    }),
  );
});
