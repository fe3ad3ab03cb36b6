// A data set's results as a short table for a terminal: the paired ratios that derive wrote, with their intervals.
// Nothing is computed here, so that terminal and charts always agree.

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { parse } from "csv-parse/sync";

const LEAD = /^ratio-(throughput-[^.]+)\.csv$/;
const UNITS = ["", "K", "M", "G"];

/** Returns the lines of the table for the data set in `folder`; none when there are no ratios yet. */
export function ratioSummary(folder) {
  const manifest = readJson(path.join(folder, "manifest.json"));
  return foldersIn(folder).flatMap((experiment) => {
    const aggregate = path.join(folder, experiment, "aggregate");
    const names = filesIn(aggregate).filter((name) => LEAD.test(name));
    if (names.length === 0) return [];
    const facts = manifest?.experiments?.[experiment] ?? {};
    const reference = facts.variants?.find((variant) => variant.reference)?.label ?? "the reference";
    const tables = names.map((name) => ratioTable(aggregate, name));
    const lines = [`${facts.title ?? experiment}: throughput of ${lowerFirst(reference)} ÷ throughput of …`];
    for (const table of tables) lines.push(...table.lines);
    if (tables.some((table) => table.lacksInterval))
      lines.push("  (no interval: it needs at least two blocks)");
    return lines;
  });
}

function ratioTable(folder, name) {
  const [header, ...rows] = readCsv(path.join(folder, name));
  const low = bySeries(path.join(folder, name.replace(/\.csv$/, ".low.csv")));
  const high = bySeries(path.join(folder, name.replace(/\.csv$/, ".high.csv")));
  let lacksInterval = false;
  const body = rows.map(([series, ...values]) => {
    const cells = values.map((value, at) => {
      if (value === "") return "–";
      const bounds = [low.get(series)?.[at], high.get(series)?.[at]];
      const known = bounds.every((bound) => bound !== undefined && bound !== "");
      lacksInterval ||= !known;
      return known ? `${short(value)} [${bounds.map(short).join(", ")}]` : short(value);
    });
    return [`    ${series}`, ...cells];
  });
  const title = `  ${LEAD.exec(name)[1].replace("throughput-", "").replaceAll("-", " ")}`;
  return { lines: aligned([[title, ...header.slice(1).map(size)], ...body]), lacksInterval };
}

/** Formats bytes as an I/O size: 4096 → 4K. Leaves anything else unchanged. */
export function size(text) {
  let value = Number(text);
  if (text === "" || !Number.isInteger(value)) return text;
  let unit = 0;
  while (value >= 1024 && value % 1024 === 0 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value}${UNITS[unit]}`;
}

const short = (text) => Number(text).toPrecision(3).replace(/e\+?/, "e");
const lowerFirst = (text) => text.charAt(0).toLowerCase() + text.slice(1);

function aligned(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join("   ")
      .trimEnd(),
  );
}

const readCsv = (file) => parse(readFileSync(file, "utf8"), { relax_column_count: true });

function bySeries(file) {
  try {
    return new Map(
      readCsv(file)
        .slice(1)
        .map(([series, ...values]) => [series, values]),
    );
  } catch (error) {
    if (error.code === "ENOENT") return new Map();
    throw error;
  }
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null; // Not derived yet.
  }
}

function entries(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
}

const foldersIn = (folder) =>
  entries(folder)
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
const filesIn = (folder) =>
  entries(folder)
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
