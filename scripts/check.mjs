#!/usr/bin/env node
/** Checks the talk without opening it: `npm run check`. */

import { fixProblems } from "./deck/check/fix.js";
import { checkTalk } from "./deck/check/index.js";
import { benchmarksRoot, dataSetFolders, talkRoot, whyUnknownDataSet } from "./deck/data-sets.js";
import { check as program } from "./npm/declared.mjs";
import { optionsOf } from "./npm/program.mjs";

const options = optionsOf(program);

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
  if (options.accept) {
    const { as: kind, "rests-on": rests, scope } = options;
    const { accepted, undecided, unknown } = await outcome.accept(options.accept, { kind, rests, scope });
    for (const name of unknown) console.error(`--accept ${name}: no sentence and no slide has this id`);
    for (const { id, words } of undecided)
      console.error(`${id}: “${words}” is bound to no data: say what it is, --as definition, judgement or source`);
    console.log(`${accepted} ${accepted === 1 ? "sentence" : "sentences"} accepted as they stand.`);
    if (unknown.length || undecided.length) process.exit(1);
    outcome = await checkTalk(places);
  }
} catch (error) {
  console.error(`The talk was not checked: ${error.message}`);
  process.exit(1);
}
const { problems, times, cuts, keepsEvidence } = outcome;
if (!keepsEvidence)
  console.log("This talk keeps no evidence.yaml: its sentences are held to no reading (docs/wording.md#evidence).");
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
const unread = problems.filter(({ sentence }) => sentence);
if (unread.length)
  console.error(`Sentences that nobody has read as they stand: ${unread.length}. After reading: npm run check -- --accept ID`);
const stale = problems.filter(({ fix }) => fix).length;
if (stale) console.error(`Texts that differ from the data: ${stale}. To update them: npm run check -- --fix`);
if (problems.length) {
  console.error(`${problems.length} ${problems.length === 1 ? "problem" : "problems"}.`);
  process.exit(1);
}

function minutes(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
