#!/usr/bin/env node
/** Checks the talk without opening it: `npm run check`. */

import { CUTS } from "../deck/page/mode.js";
import { fixProblems } from "./deck/check/fix.js";
import { checkTalk } from "./deck/check/index.js";
import { PROJECT, benchmarksRoot } from "./deck/data-sets.js";
import { optionsOf } from "./npm/program.mjs";

const HELP = `Checks the slides against the data that ship with them, and adds up their time.

Usage: npm run check -- [options]

  --fix    write the texts of the shipped data into the bound values that differ from them; nothing else changes
  --help   this text

Fails, naming file and line, where a slide has no timing, no id or not exactly one note; where a chapter or a cut
does not take its minutes, a slide leads to one that its cut does not have, or a note is too long to be said; where a file has
CR LF line ends; where a link, a chart or a bound value leads nowhere; where the text of a bound value is not what the
data say; where a text depends on a verdict and another verdict would leave none, or two; where a numeral comes from
neither the data nor a source that is named; where a claim is not spoken of, or its chart not drawn; where the title
above a chart is no finding.`;

const options = optionsOf({
  command: "npm run check --",
  help: HELP,
  options: { fix: { type: "boolean" } },
});

const places = { root: PROJECT, benchmarks: benchmarksRoot() };
let outcome;
try {
  outcome = await checkTalk(places);
  if (options.fix) {
    for (const { file, count } of await fixProblems(PROJECT, outcome.problems))
      console.log(`${file}: ${count} ${count === 1 ? "text" : "texts"} written anew.`);
    outcome = await checkTalk(places);
  }
} catch (error) {
  console.error(`The talk was not checked: ${error.message}`);
  process.exit(1);
}
const { problems, times } = outcome;
for (const { file, line, message } of problems) console.error(`${file}:${line}: ${message}`);
const cuts = CUTS.toReversed();
const columns = (texts) => texts.map((text) => text.padStart(9)).join("");
console.log(`${"".padEnd(43)}${columns(cuts.map((cut) => `${cut} min`))}`);
for (const { file, slides, seconds, appendix } of times) {
  const shown = appendix ? [`(${minutes(appendix)})`] : cuts.map((cut) => minutes(seconds[cut]));
  console.log(`${file.padEnd(32)} ${String(slides).padStart(3)} slides${columns(shown)}`);
}
const total = (secondsOf) => times.reduce((sum, chapter) => sum + secondsOf(chapter), 0);
const lengths = cuts.map((cut) => minutes(total(({ seconds }) => seconds[cut]))).join(", the short cut ");
console.log(
  `The talk takes ${lengths}; the appendix would add ${minutes(total(({ appendix }) => appendix))}.`,
);
const stale = problems.filter(({ fix }) => fix).length;
if (stale)
  console.error(`Texts that differ from the data: ${stale}; npm run check -- --fix writes them anew.`);
if (problems.length) {
  console.error(`${problems.length} ${problems.length === 1 ? "problem" : "problems"}.`);
  process.exit(1);
}

function minutes(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
