/** The quick reader of plain long files reads what the careful one reads, and leaves the rest to it. */
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { MISSING } from "../src/dialect.js";
import { readingPlainLong } from "../src/plain-long.js";
import { finish } from "../src/slices.js";
import { readModel } from "../src/table.js";

const HEAD = "series,x,y,low,high,n\n";
const quick = (text, options = {}) => finish(readingPlainLong(text, options));
/** Line ends of this kind are left to the careful reader. */
const carefully = (text) => text.replaceAll("\n", "\r\n");

/** A model, or the kind and place of what is wrong. */
function outcome(read) {
  try {
    return read();
  } catch (error) {
    return [error.kind, error.row, error.column, error.message];
  }
}

test("plain files are read by the quick reader, in any of their forms", () => {
  const texts = [
    "a,1,2,,,\n",
    "a,1,2,1,3,6",
    "a,1,2,,,\nb,1,-2.5,,,\na,2,.5,,,\n",
    "Replay lag,0.1,3.0001,,,\nReplay lag,0.05,+3.,,,\n",
    "a,1,1e-3,,,\na,2,12345678901234567890,,,\na,3,0.1234567890123456789,,,\na,-0,00.10,,,\n",
  ];
  for (const text of texts) {
    const model = quick(HEAD + text);
    assert.notEqual(model, null, text);
    assert.deepEqual(model, readModel(carefully(HEAD + text)), text);
  }
});

test("options matter only if they change how a plain file is read", () => {
  const text = `${HEAD}a,1,2,,,\n`;
  // Chart.js copies the options of plugins.
  assert.notEqual(quick(text, { missing: [...MISSING] }), null);
  const read = [
    { missing: [...MISSING] },
    { missing: ["?"] },
    { delimiter: ",", decimal: ".", comment: false },
  ];
  for (const options of read) {
    const model = quick(text, options);
    assert.notEqual(model, null, JSON.stringify(options));
    assert.deepEqual(model, readModel(carefully(text), options));
  }
});

test("whatever is not plain is left to the careful reader, which says what is wrong", () => {
  const texts = [
    "",
    '"a",1,2,,,\n',
    "a,1,2,,,\r\n",
    "a,1,2,,\n",
    "a,1,2,,,,\n",
    "a,1,two,,,\n",
    "a,x,2,,,\n",
    "a,,2,,,\n",
    ",1,2,,,\n",
    " a,1,2,,,\n",
    "a,1, 2,,,\n",
    "a,1,NA,,,\n",
    "a,1,-,,,\n",
    "a,1,.,,,\n",
    "a,1,1e999,,,\n",
    "a,1,2,3,1,\n",
    "#a,1,2,,,\n",
    "a,1,2,,,\n\nb,1,2,,,\n",
    "a,1,2,,,\nb",
    `${"n".repeat(201)},1,2,,,\n`,
    Array.from({ length: 101 }, (_, at) => `s${at},1,2,,,\n`).join(""),
  ];
  for (const text of texts) assert.equal(quick(HEAD + text), null, text.slice(0, 40));
  assert.equal(quick(`x,y\n1,2\n`), null);
  for (const options of [
    { delimiter: ";" },
    { decimal: "," },
    { comment: "a" },
    { missing: ["2"] },
    { missing: ["-1"] },
  ])
    assert.equal(quick(`${HEAD}a,1,2,,,\n`, options), null, JSON.stringify(options));
  assert.equal(readModel(`${HEAD}a,1,2,,,\n`, { missing: ["2"] }).series[0].points[0].y, null);
});

test("any file is read, or refused, as the careful reader does", () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.integer().map(String),
    fc.stringMatching(/^[+-]?\d{0,18}\.?\d{0,9}(e-?\d)?$/),
  );
  const field = fc.oneof(
    { weight: 12, arbitrary: number },
    { weight: 4, arbitrary: fc.constant("") },
    { weight: 1, arbitrary: fc.constantFrom("NA", "-", " 1", "1 ", "1,2", "x", "∞") },
  );
  const name = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom("a", "With journal", "ab", "é") },
    { weight: 1, arbitrary: fc.constantFrom("", "#a", " a", "a\nb", "NA") },
  );
  const row = fc.tuple(name, number, field, field, field, field).map((fields) => fields.join(","));
  fc.assert(
    fc.property(fc.array(row, { maxLength: 8 }), fc.constantFrom("", "\n", "\n\n"), (rows, end) => {
      const text = HEAD + rows.join("\n") + end;
      assert.deepEqual(
        outcome(() => readModel(text)),
        outcome(() => readModel(carefully(text))),
      );
    }),
    { numRuns: 2000 },
  );
});

test("the work can be interrupted", () => {
  const rows = Array.from({ length: 5000 }, (_, at) => `a,${at},${at % 7},,,`).join("\n");
  const work = readingPlainLong(HEAD + rows, {});
  let pauses = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) pauses += 1;
  assert.equal(pauses, 5);
  assert.equal(step.value.series[0].points.length, 5000);
});
