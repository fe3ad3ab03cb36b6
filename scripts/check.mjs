#!/usr/bin/env node
/** Checks the talk without opening it: `npm run check`. */

import { parseArgs } from "node:util";

import { checkTalk } from "./deck/check/index.js";
import { PROJECT, benchmarksRoot } from "./deck/data-sets.js";

const HELP = `Checks the slides, and adds up their time.

Usage: npm run check -- [--help]

Fails, naming file and line, where a slide has no timing, no id or not exactly one note; where a file has
CR LF line ends; where a link, a chart or a bound value leads nowhere.`;

let options;
try {
  options = parseArgs({ options: { help: { type: "boolean", short: "h" } } }).values;
} catch (error) {
  console.error(`${error.message}\nSee: npm run check -- --help`);
  process.exit(2);
}
if (options.help) {
  console.log(HELP);
  process.exit(0);
}

const { problems, times } = await checkTalk({ root: PROJECT, benchmarks: benchmarksRoot() });
for (const { file, line, message } of problems) console.error(`${file}:${line}: ${message}`);
for (const { file, slides, story, appendix } of times) {
  const shown = story ? minutes(story) : `(${minutes(appendix)})`;
  console.log(`${file.padEnd(32)} ${String(slides).padStart(3)} slides ${shown.padStart(9)}`);
}
const total = (key) => times.reduce((sum, chapter) => sum + chapter[key], 0);
console.log(
  `The talk takes ${minutes(total("story"))}; the appendix would add ${minutes(total("appendix"))}.`,
);
if (problems.length) {
  console.error(`${problems.length} ${problems.length === 1 ? "problem" : "problems"}.`);
  process.exit(1);
}

function minutes(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
