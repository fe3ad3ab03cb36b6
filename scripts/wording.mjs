#!/usr/bin/env node
/** Shows which sentences of the talk another data set changes, or what is said in a cut: `npm run wording`. */

import { benchmarksRoot, talkRoot } from "./deck/data-sets.js";
import { counted, installPackages, optionsOf, requireCount, requireDataSetName } from "./npm/program.mjs";

const HELP = `Shows every sentence of the talk that changes with another data set, or all that is said, read against the clock.

Usage: npm run wording -- --data NAME [--against NAME] [--json]
       npm run wording -- --rehearse MINUTES [--data NAME] [--words-per-minute N]

  --data NAME           the data set benchmarks/NAME
  --against NAME        the data set to compare with (the shipped one)
  --json                print the differences as JSON
  --rehearse MINUTES    print what is said in that cut, such as 20, from which minute to which
  --words-per-minute N  how fast you speak (130)
  --talk NAME           the talk slides/NAME/ (the lead)
  --help                show this text`;

const options = optionsOf({
  command: "npm run wording --",
  help: HELP,
  options: {
    talk: { type: "string" },
    data: { type: "string" },
    against: { type: "string" },
    json: { type: "boolean" },
    rehearse: { type: "string" },
    "words-per-minute": { type: "string" },
  },
  check({ data, against, json, rehearse, "words-per-minute": rate }) {
    if (data === undefined && rehearse === undefined) throw new Error("--data is missing");
    if (rehearse !== undefined && (against !== undefined || json))
      throw new Error("--rehearse prints one text: leave out --against and --json");
    if (rate !== undefined && rehearse === undefined)
      throw new Error("--words-per-minute is for --rehearse MINUTES");
    requireCount("rehearse", rehearse);
    requireCount("words-per-minute", rate);
    requireDataSetName("data", data);
    requireDataSetName("against", against);
  },
});
installPackages();
const { lacking, readDataSet } = await import("./deck/text/data-set-words.js");
const { rehearsalOf, rehearsalText } = await import("./deck/text/rehearsal.js");
const { tellingOf } = await import("./deck/text/slide-words.js");
const { NotThere, openTalk, requireDataSets } = await import("./deck/text/talk.js");
const { wordingDifferences } = await import("./deck/text/wording.js");

try {
  await (options.rehearse ? rehearse(options) : report(options));
} catch (error) {
  console.error(error instanceof NotThere ? error.message : `The wording was not read: ${error.message}`);
  process.exitCode = error instanceof NotThere ? 2 : 1;
}

async function rehearse({ data: asked, rehearse: minutes, "words-per-minute": rate }) {
  const { stated, slides } = await openTalk(talkRoot());
  const cut = Number(minutes);
  const known = stated.cuts.map((length) => length.minutes);
  if (!known.includes(cut))
    throw new NotThere(`${stated.file} has no cut of ${cut} minutes; it has ${known.join(", ")}`);
  const data = asked ?? stated.dataSet;
  const [telling] = await tellingsOf(stated, [data]);
  const how = { cut, data, ...(rate ? { wordsPerMinute: Number(rate) } : {}) };
  const rows = rehearsalOf(slides, telling, how);
  process.stdout.write(rehearsalText(rows, how));
}

/** What the talk is told with, for each of these data sets. */
async function tellingsOf(stated, names) {
  const benchmarks = benchmarksRoot();
  await requireDataSets(benchmarks, names);
  const sets = await Promise.all(names.map((name) => readDataSet(benchmarks, name)));
  for (const lack of sets.flatMap(lacking)) console.error(`Note: ${lack}`);
  return Promise.all(sets.map((data) => tellingOf({ benchmarks, stated, data })));
}

async function report({ data, against, json }) {
  const { stated, slides } = await openTalk(talkRoot());
  const names = [against ?? stated.dataSet, data];
  const [before, after] = await tellingsOf(stated, names);
  const differences = wordingDifferences(slides, before, after);
  const count = {
    sentences: differences.length,
    slides: new Set(differences.map(({ slide }) => slide)).size,
  };
  if (json) {
    console.log(JSON.stringify({ data, against: names[0], ...count, differences }, null, 2));
    return;
  }
  for (const difference of differences) console.log(`${shown(difference)}\n`);
  console.log(
    count.sentences === 0
      ? `“${data}” and “${names[0]}” read alike.`
      : `“${data}” changes ${counted(count.sentences, "sentence")} on ${count.slides} of ${counted(slides.length, "slide")}, against “${names[0]}”.`,
  );
}

function shown({ file, line, slide, part, old, new: now }) {
  const lines = [`${file}:${line} #${slide ?? "?"} ${part}`];
  if (old !== null) lines.push(`- ${old}`);
  if (now !== null) lines.push(`+ ${now}`);
  return lines.join("\n");
}
