/**
 * How the deck writes the manifest's values in sentences. Pure functions.
 *
 * Data files hold base units (bytes, seconds, ISO dates); only this module turns them into words.
 */

import { formatValue as formatMeasured } from "chartjs-plugin-csv";

const MONTHS = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];
/** Measured, and so said with two digits; other rates and seconds are limits or were set. */
const MEASURED_RATE = /^(?:median|low|high)_/;
const MEASURED_SECONDS = /^(?:median|min|max)_seconds$/;
const BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** 1073741824 → "1 GiB"; at most one decimal. */
export function formatBytes(bytes) {
  let value = Number(bytes);
  let step = 0;
  while (Math.abs(value) >= 1024 && step < BINARY.length - 1) {
    value /= 1024;
    step += 1;
  }
  return `${trimmed(value, 1)} ${BINARY[step]}`;
}

/**
 * 0.0042 → "4.2 ms"; 2.5 → "2.5 s"; 7200 → "2 h".
 * @param {number} seconds
 * @param {{digits?: number|null}} [options]   digits: significant ones, for what was measured; without, what was set is exact
 */
export function formatSeconds(seconds, { digits = null } = {}) {
  const value = digits === null ? Number(seconds) : Number(Number(seconds).toPrecision(digits));
  const size = Math.abs(value);
  const figure = (number) => (digits === null ? trimmed(number, 1) : formatShort(number, digits));
  if (size === 0) return "0 s";
  if (size < 1e-3) return `${figure(value * 1e6)} µs`;
  if (size < 1) return `${figure(value * 1e3)} ms`;
  if (size < 120) return `${figure(value)} s`;
  if (size < 7200) return `${figure(value / 60)} min`;
  return `${figure(value / 3600)} h`;
}

/** A number with so many significant digits, without an exponent: 18.797 → "19", 0.0314 → "0.031" with two. */
export function formatShort(value, digits = 2) {
  const rounded = Number(value.toPrecision(digits));
  if (rounded === 0) return "0";
  return trimmed(rounded, Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(rounded)))));
}

/** "2026-11-20" or "2026-11-20T18:15:00Z" → "20 November 2026"; with `short`, "20 Nov 2026". Dates are UTC. */
export function formatDate(text, { short = false } = {}) {
  const match = /^(\d{4})-(\d{2})-(\d{2})(?:T|$)/.exec(String(text));
  const month = match && MONTHS[Number(match[2]) - 1];
  if (!month) return String(text);
  return `${Number(match[3])} ${short ? month.slice(0, 3) : month} ${match[1]}`;
}

/** The period of a campaign: one date, "20–22 November 2026" or, with `short`, "20–22 Nov 2026", or both dates in full. */
export function formatPeriod(from, to, options) {
  const first = formatDate(from, options);
  const last = formatDate(to ?? from, options);
  if (first === last) return first;
  const [day, ...monthAndYear] = first.split(" ");
  return last.endsWith(` ${monthAndYear.join(" ")}`) ? `${day}–${last}` : `${first} – ${last}`;
}

/**
 * A ratio with two digits, as it is said on stage: 2.076 → "2.1×"; 15.63 → "16×"; 154 → "150×". Null unless it is a number.
 */
export function formatRatio(value) {
  if (!Number.isFinite(value)) return null;
  const rounded = Number(value.toPrecision(2));
  const text = rounded.toPrecision(2);
  return `${text.includes("e") ? String(rounded) : text}×`;
}

/** A ratio with three digits, for tables: 2.076 → "2.08×"; 1234 → "1230×". Null unless it is a number. */
export function formatExactRatio(value) {
  return Number.isFinite(value) ? formatMeasured(value, "ratio") : null;
}

/** A share as a percentage: 0.95 → "95 %"; below ten per cent with two digits: 0.045 → "4.5 %"; null for no number. */
export function formatPercent(share) {
  if (!Number.isFinite(share)) return null;
  const percent = share * 100;
  return `${Math.abs(percent) < 10 ? Number(percent.toPrecision(2)) : Math.round(percent)} %`;
}

const UNIT = "(?:[kKMGTP]?i?B(?:/s)?|[nµm]?s|min|h|%)";
const BEFORE_UNIT = new RegExp(`(\\d) (?=${UNIT}(?![\\p{L}\\d]))`, "gu");

/** "a 4 KiB write, 30 s" with no-break spaces before the units, so that a line never ends between number and unit. */
export function unbroken(text) {
  return text.replace(BEFORE_UNIT, "$1\u00a0");
}

/**
 * A manifest value as text, according to its type and to the unit or kind in its key.
 * @param {unknown} value
 * @param {string} key   e.g. "memory_bytes"
 * @returns {string|null} null when there is nothing to show: no value, an empty one, or an object
 */
export function formatValue(value, key = "") {
  if (value === null || value === undefined || value === "") return null;
  if (Array.isArray(value)) {
    const parts = value.map((item) => formatValue(item, key)).filter((item) => item !== null);
    return parts.length ? parts.join(", ") : null;
  }
  if (typeof value === "object") return null;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return null;
    const [rate] = /(?:bytes|operations)_per_second$/.exec(key) ?? [];
    if (rate) return formatMeasured(MEASURED_RATE.test(key) ? Number(value.toPrecision(2)) : value, rate);
    if (key.endsWith("_bytes")) return formatBytes(value);
    if (MEASURED_SECONDS.test(key)) return formatSeconds(value, { digits: 2 });
    if (key.endsWith("_seconds")) return formatSeconds(value);
    if (key === "share") return formatPercent(value);
    if (key === "geometric_mean") return formatRatio(value);
    return trimmed(value, 2);
  }
  const text = String(value);
  return /^\d{4}-\d{2}-\d{2}(T|$)/.test(text) ? formatDate(text) : text;
}

/** Fixed decimals without trailing zeros, with a thin space between thousands. */
function trimmed(value, decimals) {
  const [whole, fraction = ""] = value.toFixed(decimals).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
  const rest = fraction.replace(/0+$/, "");
  return rest ? `${grouped}.${rest}` : grouped;
}
