/** A large file is read in slices, between which a page can draw and react, and the result is the same. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CsvError } from "../src/error.js";
import { finish, inSlices, visit } from "../src/slices.js";
import { readTable, readingTable } from "../src/table.js";

/** A clock on which every look takes longer than a slice. */
const slow = () => {
  let at = 0;
  return () => (at += 1000);
};

const ROWS = 5000;
const lines = (line) => Array.from({ length: ROWS }, (_, index) => line(index)).join("\n");
const FILES = {
  "a column for each series": `time,a,b\n${lines((i) => `${i},${i / 7},`)}\n`,
  "a row for each series": `size,${Array.from({ length: ROWS }, (_, i) => i).join()}\na,${Array(ROWS).fill(1).join()}\n`,
  points: `series,x,y,low,high,n\n${lines((i) => `a,${i},${i},,,3`)}\n`,
  "quoted fields": `time,"a ""b"""\n${lines((i) => `${i},"${i}"`)}\n`,
  "decimal commas": `time;a\n${lines((i) => `${i};${i},5`)}\n`,
};

for (const [what, text] of Object.entries(FILES)) {
  test(`${what}: the page gets its turns meanwhile, and the table is the same`, async () => {
    let turns = 0;
    let isOver = false;
    const work = inSlices(readingTable(text), { now: slow() }).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      turns += 1;
    }
    assert.deepEqual(await work, readTable(text));
    assert.ok(turns > 4, `${turns} turns`);
  });
}

test("what is wrong with a file is said as if it had been read at once", async () => {
  const text = `time,a\n${lines((i) => `${i},${i === 4321 ? "x" : i}`)}\n`;
  const failed = await inSlices(readingTable(text), { now: slow() }).catch((error) => error);
  assert.ok(failed instanceof CsvError);
  assert.throws(() => readTable(text), { message: failed.message, row: 4323 });
});

test("a page that needs the file no longer does not read it to its end", async () => {
  const controller = new AbortController();
  const work = readingTable(FILES["a column for each series"]);
  const reading = inSlices(work, { now: slow(), signal: controller.signal });
  controller.abort(new Error("gone"));
  await assert.rejects(reading, /gone/);
  assert.equal(work.next().done, false);
});

test("property: every item is visited once, in its order", () =>
  fc.assert(
    fc.property(fc.nat(3000), (count) => {
      const seen = [];
      finish(visit(Array.from({ length: count }), (_, index) => seen.push(index)));
      assert.deepEqual(seen, [...seen.keys()]);
      assert.equal(seen.length, count);
    }),
  ));

test("a page gets its turn before whoever waits for a longer file, and not for a short one", async () => {
  const lasting = (milliseconds) => {
    let at = -milliseconds;
    return () => (at += milliseconds);
  };
  const work = () => visit(["the only item"], () => {});
  /** Whether the result is there before anything else has had a turn. */
  const isThereAtOnce = async (milliseconds) => {
    let isThere = false;
    const reading = inSlices(work(), { now: lasting(milliseconds) }).then(() => {
      isThere = true;
    });
    for (let microtask = 0; microtask < 20; microtask += 1) await null;
    const atOnce = isThere;
    await reading;
    return atOnce;
  };
  assert.equal(await isThereAtOnce(1), true);
  assert.equal(await isThereAtOnce(8), false);
});
