/** Dates and times along x: how they are read, and where an axis has ticks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { dateLabels, dateTicks } from "../src/date-scale.js";
import { momentsIn } from "../src/moments.js";
import { readModel } from "../src/table.js";

const HOUR = 3600 * 1000;
const DAY = 24 * HOUR;
const read = (...xs) => momentsIn(readModel(`at,a\n${xs.map((x) => `${x},1`).join("\n")}\n`));
const iso = (at) => new Date(at).toISOString();

for (const [what, xs, expected] of [
  ["days", ["2026-11-22", "2026-12-01"], ["2026-11-22T00:00:00.000Z", "2026-12-01T00:00:00.000Z"]],
  ["months", ["2026-02", "2026-11"], ["2026-02-01T00:00:00.000Z", "2026-11-01T00:00:00.000Z"]],
  [
    "times",
    ["2026-11-22 18:20", "2026-11-22T18:20:05.25"],
    ["2026-11-22T18:20:00.000Z", "2026-11-22T18:20:05.250Z"],
  ],
  ["day, month, year", ["1.2.2026", "03.02.2026"], ["2026-02-01T00:00:00.000Z", "2026-02-03T00:00:00.000Z"]],
  [
    "the same with times",
    ["1.2.2026 8:00", "1.2.2026 9:30"],
    ["2026-02-01T08:00:00.000Z", "2026-02-01T09:30:00.000Z"],
  ],
  [
    "slashes with a 13th day",
    ["11/12/2026", "11/13/2026"],
    ["2026-11-12T00:00:00.000Z", "2026-11-13T00:00:00.000Z"],
  ],
  [
    "slashes with a 13th month",
    ["12/11/2026", "13/11/2026"],
    ["2026-11-12T00:00:00.000Z", "2026-11-13T00:00:00.000Z"],
  ],
  [
    "zones",
    ["2026-03-29T01:30+01:00", "2026-03-29T03:30+02:00"],
    ["2026-03-29T00:30:00.000Z", "2026-03-29T01:30:00.000Z"],
  ],
]) {
  test(`dates are moments of one axis: ${what}`, () => {
    assert.deepEqual(xs.map(read(...xs).parse).map(iso), expected);
  });
}

test("where the file's clocks were ahead of UTC, the axis shows what they showed", () => {
  assert.equal(read("2026-03-29T01:30+01:00", "2026-03-29T03:30+02:00").zone, HOUR);
  assert.equal(read("2026-03-29", "2026-03-30").zone, 0);
});

for (const [what, xs] of [
  ["days and months that cannot be told apart", ["11/12/2026", "12/12/2026"]],
  ["a day that is on no calendar", ["2026-02-29", "2026-03-01"]],
  ["words among dates", ["2026-02-28", "later"]],
  ["dates among times", ["2026-02-28", "18:20"]],
  ["times with and without a zone", ["2026-02-28 10:00", "2026-02-28T11:00Z"]],
  ["years of two digits", ["22.11.26", "23.11.26"]],
  ["times that pass midnight", ["23:50", "00:10"]],
]) {
  test(`these stay labels: ${what}`, () => {
    assert.equal(
      momentsIn(readModel(`at,a\n${xs.map((x) => `${x},1`).join("\n")}\n`, { orientation: "columns" })),
      null,
    );
  });
}

test("the same day and month can be told apart in either way", () => {
  assert.equal(iso(read("11/11/2026", "12/12/2026").parse("12/12/2026")), "2026-12-12T00:00:00.000Z");
});

test("times of a day are moments if they go on", () => {
  const { parse, isClock } = read("08:00", "09:30:15.5");
  assert.deepEqual([parse("09:30:15.5") - parse("08:00"), isClock], [1.5 * HOUR + 15_500, true]);
});

test("ticks are round moments within the axis, at least one and not many, whatever its ends are", () => {
  const moment = fc.integer({ min: Date.UTC(1950, 0), max: Date.UTC(2100, 0) });
  const span = fc.integer({ min: 0, max: 42 }).map((power) => Math.round(2 ** power));
  fc.assert(
    fc.property(moment, span, fc.integer({ min: 5, max: 10 }), (min, length, most) => {
      const ticks = dateTicks(min, min + length, most);
      assert.ok(ticks.length <= most + 2, `${ticks.length} of ${most}`);
      if (length >= 10) assert.ok(ticks.length >= 1, `${iso(min)} and ${length} ms`);
      ticks.forEach((at, i) => {
        assert.ok(at >= min && at <= min + length && (i === 0 || at > ticks[i - 1]));
      });
      assert.equal(dateLabels(ticks).length, ticks.length);
    }),
  );
});

for (const [from, to, expected] of [
  ["2026-11-22T17:50Z", "2026-11-22T19:10Z", [["18:00", "22 Nov", "2026"], "18:30", "19:00"]],
  [
    "2026-12-30T20:00Z",
    "2027-01-01T14:00Z",
    [["00:00", "31 Dec", "2026"], "12:00", ["00:00", "1 Jan", "2027"], "12:00"],
  ],
  ["2026-10-29T00:00Z", "2026-11-01T00:00Z", [["29 Oct", "2026"], "30 Oct", "31 Oct", "1 Nov"]],
  ["2026-11-15T00:00Z", "2027-02-15T00:00Z", [["Dec", "2026"], ["Jan", "2027"], "Feb"]],
  ["2020-06-01T00:00Z", "2024-06-01T00:00Z", ["2021", "2022", "2023", "2024"]],
]) {
  test(`labels say what changes: ${from} to ${to}`, () => {
    const ticks = dateTicks(Date.parse(from), Date.parse(to), 5);
    assert.deepEqual(dateLabels(ticks), expected);
  });
}

test("of times without a date, labels are times alone", () => {
  assert.deepEqual(dateLabels([8 * HOUR, 9 * HOUR], true), ["08:00", "09:00"]);
  assert.deepEqual(dateLabels([DAY - 500, DAY], true), ["23:59:59.500", "00:00:00.000"]);
});
