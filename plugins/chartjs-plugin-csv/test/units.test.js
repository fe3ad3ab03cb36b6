import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatSize, formatTick, formatValue, niceStep, unitOfAxis, unitOfFile } from "../src/units.js";

const K = 1024;

for (const [bytes, text] of [
  [512, "512"],
  [4 * K, "4K"],
  [1.5 * K, "1.5K"],
  [64 * K, "64K"],
  [K * K, "1M"],
  [4 * K * K, "4M"],
  [K ** 3, "1G"],
  [1023 * K, "1023K"],
]) {
  test(`${bytes} bytes stand on an axis as ${text}`, () => {
    assert.equal(formatSize(bytes), text);
    assert.equal(formatTick(bytes, "bytes"), text);
  });
}

for (const [value, unit, prefix, text] of [
  [30658995.65, "bytes_per_second", "si", "30.7 MB/s"],
  [30658995.65, "bytes_per_second", "iec", "29.2 MiB/s"],
  [512, "bytes_per_second", "iec", "512 B/s"],
  [100 * K, "bytes_per_second", "iec", "100 KiB/s"],
  [999_999, "bytes_per_second", "si", "1 MB/s"],
  [4096, "bytes", "si", "4 KiB"],
  [1200, "operations_per_second", "si", "1.2k ops/s"],
  [86, "operations_per_second", "si", "86 ops/s"],
  [0.00085, "seconds", "si", "850 µs"],
  [0.0123, "seconds", "si", "12.3 ms"],
  [0.9999, "seconds", "si", "1 s"],
  [0.0009999, "seconds", "si", "1 ms"],
  [42, "seconds", "si", "42 s"],
  [0, "seconds", "si", "0 s"],
  [2e-8, "seconds", "si", "20 ns"],
  [15.61, "ratio", "si", "15.6×"],
  [1, "ratio", "si", "1.00×"],
  [1234, "ratio", "si", "1230×"],
  [0.25, "fraction", "si", "25 %"],
  [0.1234567, "fraction", "si", "12.3 %"],
  [-1, "fraction", "si", "-100 %"],
  [1.5, "fraction", "si", "150 %"],
  [0, "fraction", "si", "0 %"],
  [12345, "count", "si", "12345"],
  [0.123456, null, "si", "0.1235"],
  [-1500, "operations_per_second", "si", "-1.5k ops/s"],
]) {
  test(`${value} ${unit ?? "without unit"} (${prefix}) reads ${text}`, () => {
    assert.equal(formatValue(value, unit, { prefix }), text);
  });
}

test("a missing value reads as a dash, not as zero", () => {
  assert.equal(formatValue(null, "seconds"), "–");
  assert.equal(formatValue(0, "bytes_per_second"), "0 B/s");
});

test("zero is a bare 0 on an axis", () => {
  assert.equal(formatTick(0, "bytes_per_second"), "0");
});

test("a fraction stands on an axis per cent", () => {
  assert.equal(formatTick(0.07, "fraction"), "7 %");
  assert.equal(formatTick(0, "fraction"), "0");
  assert.equal(niceStep(0.23, "fraction"), 0.05);
});

test("operations per second carry no unit on an axis", () => {
  assert.equal(formatTick(2500, "operations_per_second"), "2.5k");
});

test("steps are round in the unit that the axis is written in", () => {
  assert.equal(niceStep(1e9, "bytes_per_second", { prefix: "si", ticks: 5 }), 2e8);
  assert.equal(niceStep(1000 * K * K, "bytes_per_second", { prefix: "iec", ticks: 5 }), 200 * K * K);
  assert.equal(niceStep(2.2 * K ** 3, "bytes_per_second", { prefix: "iec", ticks: 5 }), K ** 3 / 2);
  assert.equal(niceStep(0.012, "seconds", { ticks: 5 }), 0.0025);
  assert.equal(niceStep(0, "seconds"), 1);
});

test("property: a step divides the span into at least a third of and at most as many ticks as asked", () => {
  const unit = fc.constantFrom("bytes", "bytes_per_second", "seconds", "ratio", null);
  fc.assert(
    fc.property(
      fc.double({ min: 1e-6, max: 1e14, noNaN: true }),
      unit,
      fc.constantFrom("si", "iec"),
      (span, u, prefix) => {
        const steps = span / niceStep(span, u, { prefix, ticks: 6 });
        assert.ok(steps >= 2 && steps <= 6.01, `${steps} steps`);
      },
    ),
  );
});

test("property: a formatted size is never four digits of 1024 or more", () => {
  fc.assert(
    fc.property(fc.double({ min: 1, max: 1e17, noNaN: true }), (bytes) => {
      assert.ok(Number.parseFloat(formatSize(bytes)) < 1024);
    }),
  );
});

test("a file's name suggests the unit of y, an axis title that of x", () => {
  assert.equal(unitOfFile("a/b/throughput-write-seq.csv?v=1"), "bytes_per_second");
  assert.equal(unitOfFile("ratio-throughput-write-seq.csv"), "ratio");
  assert.equal(unitOfFile("iops-read-rand.csv"), "operations_per_second");
  assert.equal(unitOfFile("latency-p99-write-rand.csv"), "seconds");
  assert.equal(unitOfFile("placement.csv"), null);
  assert.equal(unitOfFile(null), null);
  assert.equal(unitOfAxis("I/O size"), "bytes");
  assert.equal(unitOfAxis("bs"), "bytes");
  assert.equal(unitOfAxis("Queue depth"), "count");
  assert.equal(unitOfAxis("Clients"), "count");
  assert.equal(unitOfAxis("Trial"), null);
});

test("counts are stepped in whole numbers", () => {
  assert.equal(niceStep(3, "count", { ticks: 8 }), 1);
  assert.equal(niceStep(0.1, "count"), 1);
  assert.equal(niceStep(12, "count", { ticks: 5 }), 5);
  assert.equal(niceStep(250, "count", { ticks: 5 }), 50);
});

test("below zero an axis has a minus sign, as print has it", () => {
  assert.equal(formatTick(-0.1, "fraction"), "\u221210 %");
  assert.equal(formatTick(-2048, "bytes"), "\u22122K");
  assert.equal(formatTick(-1500, "operations_per_second"), "\u22121.5k");
});
