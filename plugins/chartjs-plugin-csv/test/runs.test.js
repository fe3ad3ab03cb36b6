import assert from "node:assert/strict";
import { test } from "node:test";
import { readRuns } from "../src/runs.js";

const HEADER = "series,x,y,block,attempt\n";

test("runs come by series, with their block and attempt, a missing value as null", () => {
  const runs = readRuns(`${HEADER}A,4096,1.5,1,1\nB,4096,,1,1\nA,8192,2,2,3\n`);
  assert.deepEqual(
    [...runs],
    [
      [
        "A",
        [
          { x: 4096, y: 1.5, block: "1", attempt: "1" },
          { x: 8192, y: 2, block: "2", attempt: "3" },
        ],
      ],
      ["B", [{ x: 4096, y: null, block: "1", attempt: "1" }]],
    ],
  );
  assert.equal(readRuns(HEADER).size, 0);
  assert.equal(readRuns(`${HEADER}__proto__,osd.1,1,1,1\n`).get("__proto__")[0].x, "osd.1");
});

test("another header and a word for a number are errors that name their place", () => {
  assert.throws(() => readRuns("series,x,y\nA,1,2\n"), { name: "CsvError", row: 1, kind: "header" });
  assert.throws(() => readRuns(`${HEADER}A,1,2,1,1\nA,1,many,1,1\n`), {
    name: "CsvError",
    row: 3,
    column: 3,
    message: /"many" is not a number/,
  });
});
