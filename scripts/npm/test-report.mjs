// Reads the report files of test runners: how many tests passed, failed and were skipped, and which.

import { readFileSync } from "node:fs";

/**
 * @typedef {object} Report
 * @property {number} passed
 * @property {number} failed
 * @property {string[]} failures  names of the tests that failed
 * @property {string[]} skipped  names of the tests that were skipped, with the reason they gave
 */

/** Reads a report; null if the runner wrote none, because it died or was killed. @returns {Report|null} */
export function readReport(kind, file) {
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
  return kind === "tap" ? fromTap(text) : fromJunit(text);
}

/** Reads the TAP output of Node's test runner; null if its closing count is missing. */
export function fromTap(text) {
  const count = (name) => Number(new RegExp(`^# ${name} (\\d+)$`, "m").exec(text)?.[1] ?? NaN);
  const failed = count("fail") + count("cancelled");
  if (Number.isNaN(failed)) return null;
  const lines = text.split("\n").map((line) => line.trim());
  return {
    passed: count("pass"),
    failed,
    failures: matches(lines, /^not ok \d+ - (.*?)(?: # .*)?$/),
    skipped: matches(lines, /^ok \d+ - (.* # (?:SKIP|TODO).*)$/),
  };
}

/** Reads pytest's JUnit XML; null if it contains no test suite. */
export function fromJunit(text) {
  const suite = /<testsuite\b[^>]*>/.exec(text)?.[0];
  if (!suite) return null;
  const count = (name) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(suite)?.[1] ?? 0);
  const failures = [];
  const skipped = [];
  for (const [, attributes, body] of text.matchAll(/<testcase\b([^>]*[^/>])>(.*?)<\/testcase>/gs)) {
    const name = unescape(/\bname="([^"]*)"/.exec(attributes)?.[1] ?? "?");
    const skip = /<skipped\b[^>]*\bmessage="([^"]*)"/.exec(body);
    if (skip) skipped.push(`${name} # ${unescape(skip[1])}`);
    else if (/<(?:failure|error)\b/.test(body)) failures.push(name);
  }
  const failed = count("failures") + count("errors");
  return { passed: count("tests") - failed - count("skipped"), failed, failures, skipped };
}

function matches(lines, pattern) {
  return lines.map((line) => pattern.exec(line)?.[1]).filter((name) => name !== undefined);
}

const ENTITIES = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&#10;": " ", "&amp;": "&" };
const unescape = (text) => text.replace(/&(?:lt|gt|quot|apos|#10|amp);/g, (entity) => ENTITIES[entity]);
