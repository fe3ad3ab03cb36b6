/**
 * Text for values in base units. Pure.
 *
 * Units: `bytes`, `bytes_per_second`, `operations_per_second`, `seconds`, `ratio`, `fraction`, `count`; anything else
 * (or null) is a plain number. `prefix` chooses SI (`MB/s`, steps of 1000) or IEC (`MiB/s`, steps of 1024)
 * for bytes per second; bytes are always binary, operations always SI.
 */
const DIGITS = 3;
const SI = ["", "k", "M", "G", "T", "P"];
const BINARY = ["", "K", "M", "G", "T", "P"];

/** Three significant digits (four from 1000 on), no exponent, no trailing zeros: 15.6, 912, 0.0123. */
export function round(value, digits = Math.abs(value) >= 1000 ? DIGITS + 1 : DIGITS) {
  return Number(value.toPrecision(digits));
}

/** Divides by `base` until the *rounded* value is below it: 999.9 is 1 of the next prefix, never "1000". */
function scale(value, base, prefixes) {
  let step = 0;
  let scaled = value;
  while (Math.max(Math.abs(scaled), Math.abs(round(scaled))) >= base && step < prefixes.length - 1) {
    scaled /= base;
    step += 1;
  }
  return { scaled, prefix: prefixes[step] };
}

/** A ratio keeps its zeros, which show how exactly it is known: 2.00, 15.6, 1230. */
function threeDigits(value) {
  const text = value.toPrecision(DIGITS);
  return text.includes("e") ? String(Number(text)) : text;
}

function plain(value) {
  return String(Number.isInteger(value) && Math.abs(value) < 1e15 ? value : round(value, 4));
}

/** Binary size without a unit, for axes: 512, 4K, 1.5M, 4M. */
export function formatSize(bytes) {
  const { scaled, prefix } = scale(bytes, 1024, BINARY);
  return `${round(scaled)}${prefix}`;
}

/** A time in the unit of `of`, and that unit. */
function inTime(value, of = value) {
  const size = Math.abs(of);
  if (size === 0 || value === 0) return [0, " s"];
  if (round(size * 1e6) < 1) return [value * 1e9, " ns"];
  if (round(size * 1e3) < 1) return [value * 1e6, " µs"];
  if (round(size) < 1) return [value * 1e3, " ms"];
  return [value, " s"];
}

/** What is written of a value, not yet rounded, and its unit with the blank before it. */
function inUnit(value, unit, prefix) {
  const isBinary = unit === "bytes" || prefix === "iec";
  switch (unit) {
    case "bytes":
    case "bytes_per_second": {
      const { scaled, prefix: letter } = scale(value, isBinary ? 1024 : 1000, isBinary ? BINARY : SI);
      return [scaled, ` ${letter}${isBinary && letter ? "i" : ""}B${unit === "bytes" ? "" : "/s"}`];
    }
    case "operations_per_second": {
      const { scaled, prefix: letter } = scale(value, 1000, SI);
      return [scaled, `${letter} ops/s`];
    }
    case "seconds":
      return inTime(value);
    case "ratio":
      return [value, "×"];
    case "fraction":
      return [value * 100, " %"];
    default:
      return [value, ""];
  }
}

/**
 * A value with its unit, for tooltips, tables and sentences: `30.7 MB/s`, `4 KiB`, `1.2k ops/s`, `850 µs`, `15.6×`, `25 %`.
 * @param {number|null} value base units; null (not measured) gives an en dash
 */
export function formatValue(value, unit = null, { prefix = "si" } = {}) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return String(value);
  const [number, after] = inUnit(value, unit, prefix);
  if (unit === "ratio") return `${threeDigits(number)}${after}`;
  return `${after ? round(number) : plain(number)}${after}`;
}

/**
 * A value in as many digits as are read from afar: 61 s, 4.8 s, 152 ms, 2.0×, 16×.
 * @param {number|null} value
 */
export function short(value, unit = null, { prefix = "si" } = {}) {
  if (!Number.isFinite(value)) return formatValue(value, unit);
  const [number, after] = inUnit(value, unit, prefix);
  if (Math.abs(number) >= 10) return `${Math.round(number)}${after}`;
  const text = number.toPrecision(2);
  // What is rounded keeps its zero: 2.0×, 1.0k ops/s.
  return `${unit === "ratio" || /^\s?[kKMGTP]/.test(after) ? text : Number(text)}${after}`;
}

/**
 * A value as an axis tick: `4K` for bytes, `1.2k` for operations per second, else as `formatValue`. Zero is `0`; negative
 * values have a minus sign, not a hyphen. `of`: the greatest value of a linear axis, whose unit of time all have.
 */
export function formatTick(value, unit = null, format = {}) {
  return tick(value, unit, format).replace(/^-/, "\u2212");
}

function tick(value, unit, { prefix = "si", of } = {}) {
  if (value === 0) return "0";
  if (unit === "seconds" && of !== undefined) {
    const [number, after] = inTime(value, of);
    return `${round(number)}${after}`;
  }
  if (!Number.isFinite(value)) return String(value);
  if (unit === "bytes") return formatSize(value);
  if (unit === "operations_per_second" || (!unit && Math.abs(value) >= 10000)) {
    const { scaled, prefix: letter } = scale(value, 1000, SI);
    return `${round(scaled)}${letter}`;
  }
  // A tick is a round number; a ratio as a value keeps its zeros.
  return unit === "ratio" ? `${round(value)}×` : formatValue(value, unit, { prefix });
}

/**
 * A round step for about `ticks` ticks up to `span`, round in the prefix of `span`: 1, 2, 2.5 or 5 times a power of ten.
 * For counts it is a whole number. With binary prefixes a step below 1 is a half, a quarter, … (512 MiB, 1 GiB,
 * 1.5 GiB).
 */
export function niceStep(span, unit = null, { prefix = "si", ticks = 5 } = {}) {
  if (!(span > 0) || !Number.isFinite(span)) return 1;
  const binary = unit === "bytes" || (unit === "bytes_per_second" && prefix === "iec");
  const base = binary ? 1024 ** Math.max(0, Math.floor(Math.log(span) / Math.log(1024))) : 1;
  const rough = span / ticks / base;
  if (base > 1 && rough < 1) return base * 2 ** Math.ceil(Math.log2(rough) - 1e-9);
  const power = 10 ** Math.floor(Math.log10(rough));
  const factors = unit === "count" ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10];
  const step = (factors.find((factor) => factor * power >= rough * 0.999) ?? 10) * power * base;
  return unit === "count" ? Math.max(1, step) : step;
}

const BY_NAME = [
  [/^ratio-/, "ratio"],
  [/^(throughput|bandwidth)/, "bytes_per_second"],
  [/^(iops|operations)/, "operations_per_second"],
  [/(latency|seconds|duration|rto|rpo|lag|time)/, "seconds"],
];

/** The unit of y that a file's name suggests (`throughput-write-seq.csv` → bytes_per_second), or null. */
export function unitOfFile(url) {
  const name = (url ?? "").split(/[?#]/)[0].split("/").pop();
  return BY_NAME.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

/** The unit of x that an axis title suggests (`I/O size` → bytes, `Queue depth` → count), or null. */
export function unitOfAxis(title) {
  if (/\b(size|bytes|bs)\b/i.test(title)) return "bytes";
  if (/\b(seconds|time|interval|elapsed|age)\b/i.test(title)) return "seconds";
  if (/\b(depth|iodepth|jobs|numjobs|threads|clients|workers)\b/i.test(title)) return "count";
  return null;
}
