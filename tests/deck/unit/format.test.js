import assert from "node:assert/strict";
import { test } from "node:test";

import {
  formatBytes,
  formatDate,
  formatPercent,
  formatPeriod,
  formatExactRatio,
  formatRatio,
  formatShort,
  formatSeconds,
  formatValue,
  unbroken,
} from "../../../deck/data/format.js";

test("bytes are written with binary prefixes and at most one decimal", () => {
  assert.equal(formatBytes(1073741824), "1 GiB");
  assert.equal(formatBytes(25276502016), "23.5 GiB");
  assert.equal(formatBytes(512), "512 B");
});

test("seconds take the unit that keeps them readable", () => {
  assert.equal(formatSeconds(0.0042), "4.2 ms");
  assert.equal(formatSeconds(0.00002), "20 µs");
  assert.equal(formatSeconds(3.04), "3 s");
  assert.equal(formatSeconds(1200), "20 min");
  assert.equal(formatSeconds(0), "0 s");
});

test("dates are written out, whatever time of day they carry", () => {
  assert.equal(formatDate("2026-11-20"), "20 November 2026");
  assert.equal(formatDate("2026-11-20T23:59:59.999Z", { short: true }), "20 Nov 2026");
  assert.equal(formatDate("soon"), "soon");
  assert.equal(formatDate("2026-13-01"), "2026-13-01");
});

test("a period names its month and year once if both ends share them", () => {
  assert.equal(formatPeriod("2026-11-20", "2026-11-22"), "20–22 November 2026");
  assert.equal(formatPeriod("2026-11-20T01:00:00Z", "2026-11-20T09:00:00Z"), "20 November 2026");
  assert.equal(formatPeriod("2026-11-30", "2026-12-01"), "30 November 2026 – 1 December 2026");
});

test("a value's unit is the last word of its key", () => {
  assert.equal(formatValue(1073741824, "memory_bytes"), "1 GiB");
  assert.equal(formatValue(0.5, "elapsed_seconds"), "500 ms");
  assert.equal(formatValue(3, "osds"), "3");
  assert.equal(formatValue(12345.678, "cells"), "12\u202f345.68");
  assert.equal(formatValue("16.2.15", "ceph_version"), "16.2.15");
  assert.equal(formatValue(["a", "b"]), "a, b");
});

test("what has no text is null, so that the slide keeps its own", () => {
  for (const value of [null, undefined, "", {}, [], NaN, Infinity])
    assert.equal(formatValue(value, "x"), null);
});

test("a ratio has two digits on stage and three in tables, whatever its size, and no exponent", () => {
  for (const [value, text] of [
    [15.64, ["16×", "15.6×"]],
    [1.90458, ["1.9×", "1.90×"]],
    [0.48213, ["0.48×", "0.482×"]],
    [1, ["1.0×", "1.00×"]],
    [12, ["12×", "12.0×"]],
    [154.3, ["150×", "154×"]],
    [999.9, ["1000×", "1000×"]],
    [1234, ["1200×", "1230×"]],
  ])
    assert.deepEqual([formatRatio(value), formatExactRatio(value)], text);
  for (const value of [null, undefined, NaN, Infinity, "2"])
    assert.deepEqual([formatRatio(value), formatExactRatio(value)], [null, null]);
});

test("what was measured has two digits, and what was set is exact", () => {
  assert.equal(formatValue(0.0804, "median_seconds"), "80 ms");
  assert.equal(formatValue(7.231, "max_seconds"), "7.2 s");
  assert.equal(formatValue(12.25, "target_seconds"), "12.3 s");
  for (const [value, text] of [
    [18.797, "19"],
    [0.0314, "0.031"],
    [9.73, "9.7"],
    [1540, "1\u202f500"],
    [0, "0"],
  ])
    assert.equal(formatShort(value), text);
});

test("a share is a whole percentage, below ten per cent with two digits", () => {
  for (const [value, text] of [
    [0.95, "95 %"],
    [0.481, "48 %"],
    [1.009, "101 %"],
    [0.1, "10 %"],
    [0.045, "4.5 %"],
    [0, "0 %"],
  ])
    assert.equal(formatPercent(value), text);
  for (const value of [null, undefined, NaN]) assert.equal(formatPercent(value), null);
});

test("the key says whether a value is a share or a mean of ratios", () => {
  assert.equal(formatValue(0.05, "share"), "5 %");
  assert.equal(formatValue(0.9943, "geometric_mean"), "0.99×");
});

test("a line never ends between a number and its unit", () => {
  for (const [text, shown] of [
    ["a 4 KiB write, 30 s", "a 4_KiB write, 30_s"],
    ["64 KiB, 4 MiB and 1 GiB", "64_KiB, 4_MiB and 1_GiB"],
    ["at 30.7 MB/s, 850 µs, 12 ms, 5 min", "at 30.7_MB/s, 850_µs, 12_ms, 5_min"],
    ["limited 100 % of 6 cells (95 %)", "limited 100_% of 6 cells (95_%)"],
    ["2 sources and 3 bytes, 4 minutes, 5 Bs", "2 sources and 3 bytes, 4 minutes, 5 Bs"],
    ["n = 6: inside 1.6 to 2.5", "n = 6: inside 1.6 to 2.5"],
    ["", ""],
  ])
    assert.equal(unbroken(text), shown.replaceAll("_", "\u00a0"));
});
