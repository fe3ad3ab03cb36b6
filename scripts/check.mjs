#!/usr/bin/env node
/** Checks the talk: its text against its data, and in Chromium whether everything fits the stage: `npm run check`. */

import { benchmarksRoot, dataSetFolders, talkRoot, whyUnknownDataSet } from "./deck/data-sets.js";
import { chromiumPath } from "./deck/chromium.js";
import { KINDS } from "./deck/constants.js";
import { counted, installPackages, optionsOf, requireDataSetName, requireOneOf } from "./npm/program.mjs";

const HELP = `Checks the slides against the data that their talk.yaml names, and adds up their time.

Usage: npm run check -- [options]

  --data NAME   hold the talk to the data set benchmarks/NAME instead: what it lacks, and which texts do not fit
  --talk NAME   the talk slides/NAME/ (the lead)
  --no-layout   do not open the slides in Chromium, where there is one; --accept does not, either
  --fix         replace bound values that differ from the talk's data; change nothing else
  --accept ID   write into evidence.yaml that you have read this sentence, or all sentences of this slide, as they
                stand with their evidence; may be given more than once; "all" is every one
  --as KIND     with --accept: what they are: measured, source, definition or judgement
  --help        show this text

Fails, naming file and line, if:
- a sentence or picture is new or edited, or what it rests on has moved, and nobody has accepted it;
- a slide has no timing, no id, or not exactly one note;
- a chapter or a cut does not add up to its minutes, or a note is too long for its slide;
- a slide links to a slide that is not in its cut, or a link, chart or bound value has no target;
- nobody draws a chart of its kind, or a file of the talk's look is missing, unused or too large;
- a file has CR LF line ends;
- the text of a bound value differs from the data;
- a verdict would show no text, or two texts, of a group;
- a numeral comes neither from the data nor from a named source;
- no slide mentions a claim or draws its chart;
- on a slide, at any of its steps, something leaves the stage, is cut off, or is too small.

REPLAY_TALK names another folder that holds config/, slides/ and benchmarks/.`;

const options = optionsOf({
  command: "npm run check --",
  help: HELP,
  options: {
    data: { type: "string" },
    talk: { type: "string" },
    "no-layout": { type: "boolean" },
    fix: { type: "boolean" },
    accept: { type: "string", multiple: true },
    as: { type: "string" },
  },
  check({ data, fix, accept, as: kind }) {
    requireDataSetName("data", data);
    requireOneOf("as", KINDS, kind);
    if (accept !== undefined && data !== undefined)
      throw new Error("--accept is about the talk's own data set: leave out --data");
    if (fix && data !== undefined)
      throw new Error(
        "--fix writes the figures of data_set in talk.yaml: change that line, and leave out --data",
      );
  },
});
installPackages();
const { clockOf } = await import("./deck/check/cuts.js");
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
      console.log(`${file}: ${counted(count, "text")} updated.`);
    outcome = await checkTalk(places);
  }
  if (options.accept) {
    const { accepted, unread, unknown } = await outcome.accept(options.accept, { kind: options.as });
    for (const name of unknown) console.error(`--accept ${name}: no sentence and no slide has this id`);
    console.log(`${counted(accepted, "sentence")} accepted as they stand.`);
    if (unread)
      console.error(
        `${unread} of them do not tell what they are: write it into ${outcome.evidence} for “unread”.`,
      );
    if (unknown.length) process.exit(1);
    outcome = await checkTalk(places);
  }
} catch (error) {
  console.error(`The talk was not checked: ${error.message}`);
  process.exit(1);
}
const { times, cuts, keepsEvidence, unwritten } = outcome;
const problems = [...outcome.problems, ...(await layoutOf(outcome))];
if (!keepsEvidence)
  console.log(
    "This talk keeps no evidence.yaml: its sentences are held to no reading (docs/wording.md#evidence).",
  );
if (unwritten.length)
  console.log(
    `Write what only you can say, or take it out: “(yours: …)” in ${counted(unwritten.length, "note")}, the first at ${unwritten[0].file}:${unwritten[0].line}.`,
  );
for (const { file, line, message } of problems) console.error(`${file}:${line}: ${message}`);
const columns = (texts) => texts.map((text) => text.padStart(9)).join("");
console.log(`${"".padEnd(43)}${columns(cuts.map((cut) => `${cut} min`))}`);
for (const { file, slides, seconds, appendix } of times) {
  const shown = appendix ? [`(${clockOf(appendix)})`] : cuts.map((cut) => clockOf(seconds[cut]));
  console.log(`${file.padEnd(32)} ${String(slides).padStart(3)} slides${columns(shown)}`);
}
const total = (secondsOf) => times.reduce((sum, chapter) => sum + secondsOf(chapter), 0);
const lengths = cuts.map((cut, at) => {
  const length = clockOf(total(({ seconds }) => seconds[cut]));
  return at === 0 ? length : `its ${cut}-minute cut ${length}`;
});
const appendix = total((chapter) => chapter.appendix);
console.log(
  `The talk takes ${lengths.join(", ")}${appendix ? `; the appendix would add ${clockOf(appendix)}` : ""}.`,
);
const again = `npm run check --${options.talk === undefined ? "" : ` --talk ${options.talk}`}`;
const unread = problems.filter(({ sentence }) => sentence);
if (unread.length)
  console.error(
    `Sentences that nobody has read as they stand: ${unread.length}. After reading: ${again} --accept ID`,
  );
const stale = problems.filter(({ fix }) => fix).length;
if (stale) console.error(`Texts that differ from the data: ${stale}. To update them: ${again} --fix`);
if (problems.length) {
  console.error(`${counted(problems.length, "problem")}.`);
  process.exit(1);
}

/** What does not fit the stage, as problems of its slides. */
async function layoutOf({ cuts, slides, talkFile }) {
  // Whoever accepts sentences one by one has changed no slide.
  if (options["no-layout"] || options.accept) return [];
  if (chromiumPath() === null) {
    console.log(
      "There is no Chromium here (CHROMIUM names one): nobody looked whether the slides fit the stage.",
    );
    return [];
  }
  const { stageProblems } = await import("./deck/check/stage.js");
  try {
    const ofStage = await stageProblems({ cuts, data: options.data ?? null });
    return ofStage.map(({ id, message }) => {
      const { file, line } = slides.find((slide) => slide.id === id);
      return { file, line, message };
    });
  } catch (error) {
    const message = `the slides could not be opened to see whether they fit the stage: ${error.message}; mend that, or leave it out with --no-layout`;
    return [{ file: talkFile, line: 1, message }];
  }
}
