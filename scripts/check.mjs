#!/usr/bin/env node
/** Checks the talk without opening it: `npm run check`. */

import { benchmarksRoot, dataSetFolders, talkRoot, whyUnknownDataSet } from "./deck/data-sets.js";
import { installPackages, optionsOf, requireDataSetName } from "./npm/program.mjs";

const HELP = `Checks the slides against the data that config/talk.yaml names, and adds up their time.

Usage: npm run check -- [options]

  --data NAME   hold the talk to the data set benchmarks/NAME instead: what it lacks, and which texts do not fit
  --fix         replace bound values that differ from the talk's data; change nothing else
  --help        show this text

Fails, naming file and line, if:
- a slide has no timing, no id, or not exactly one note;
- a chapter or a cut does not add up to its minutes, or a note is too long for its slide;
- a slide links to a slide that is not in its cut, or a link, chart or bound value has no target;
- a file has CR LF line ends;
- the text of a bound value differs from the data;
- a verdict would show no text, or two texts, of a group;
- a numeral comes neither from the data nor from a named source;
- no slide mentions a claim or draws its chart, or the title above a chart does not state a finding.

REPLAY_TALK names the folder of another talk, which holds config/talk.yaml, slides/ and benchmarks/.`;

const options = optionsOf({
  command: "npm run check --",
  help: HELP,
  options: { data: { type: "string" }, fix: { type: "boolean" } },
  check({ data, fix }) {
    requireDataSetName("data", data);
    if (fix && data !== undefined)
      throw new Error(
        "--fix writes the figures of data_set in config/talk.yaml: change that line, and leave out --data",
      );
  },
});
installPackages();
const { fixProblems } = await import("./deck/check/fix.js");
const { checkTalk } = await import("./deck/check/index.js");

const places = { root: talkRoot(), benchmarks: benchmarksRoot(), data: options.data ?? null };
const unknown = whyUnknownDataSet(await dataSetFolders(places.benchmarks), [options.data ?? []].flat());
if (unknown !== null) {
  console.error(unknown);
  process.exit(2);
}
let outcome;
try {
  outcome = await checkTalk(places);
  if (options.fix) {
    for (const { file, count } of await fixProblems(places.root, outcome.problems))
      console.log(`${file}: ${count} ${count === 1 ? "text" : "texts"} updated.`);
    outcome = await checkTalk(places);
  }
} catch (error) {
  console.error(`The talk was not checked: ${error.message}`);
  process.exit(1);
}
const { problems, times, cuts } = outcome;
for (const { file, line, message } of problems) console.error(`${file}:${line}: ${message}`);
const columns = (texts) => texts.map((text) => text.padStart(9)).join("");
console.log(`${"".padEnd(43)}${columns(cuts.map((cut) => `${cut} min`))}`);
for (const { file, slides, seconds, appendix } of times) {
  const shown = appendix ? [`(${minutes(appendix)})`] : cuts.map((cut) => minutes(seconds[cut]));
  console.log(`${file.padEnd(32)} ${String(slides).padStart(3)} slides${columns(shown)}`);
}
const total = (secondsOf) => times.reduce((sum, chapter) => sum + secondsOf(chapter), 0);
const lengths = cuts.map((cut, at) => {
  const length = minutes(total(({ seconds }) => seconds[cut]));
  return at === 0 ? length : `its ${cut}-minute cut ${length}`;
});
const appendix = total((chapter) => chapter.appendix);
console.log(
  `The talk takes ${lengths.join(", ")}${appendix ? `; the appendix would add ${minutes(appendix)}` : ""}.`,
);
const stale = problems.filter(({ fix }) => fix).length;
if (stale) console.error(`Texts that differ from the data: ${stale}. To update them: npm run check -- --fix`);
if (problems.length) {
  console.error(`${problems.length} ${problems.length === 1 ? "problem" : "problems"}.`);
  process.exit(1);
}

function minutes(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
