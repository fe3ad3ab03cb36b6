#!/usr/bin/env node
/** Prints the talk to a PDF file: `npm run pdf`. */

import { existsSync, statSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import path from "node:path";

import { chromiumPath } from "./deck/chromium.js";
import { benchmarksRoot, indexOf, scanBenchmarks, talkRoot, whyUnknownDataSet } from "./deck/data-sets.js";
import {
  installPackages,
  optionsOf,
  requireCount,
  requireDataSetName,
  requireOneOf,
} from "./npm/program.mjs";
import { endWhenInterrupted, progress } from "./npm/progress.mjs";

const HELP = `Prints the talk to a PDF file: a page for each slide, with its charts drawn and its fonts in the file.

Usage: npm run pdf -- [options]

  --cut MINUTES  the slides of this cut, such as 20 (the first in talk.yaml)
  --appendix     the appendix, too
  --notes        add a page with its notes after each slide
  --data NAME    use the data set benchmarks/NAME instead of the slides' own
  --theme NAME   light or dark (light)
  --out FILE     where to write it (talk.pdf); replaces what is there
  --incomplete   write the file even if some charts cannot be drawn; the page then says why
  --altered      print even data that are altered; each page that shows them then says so
  --talk NAME    the talk slides/NAME/ (the lead)
  --help         show this text

Needs Chromium; CHROMIUM names another one. REPLAY_BENCHMARKS names another folder of data sets.`;
const NO_BROWSER = "Printing needs Chromium, and none was found. Install it, or name it in CHROMIUM.";

const options = optionsOf({
  command: "npm run pdf --",
  help: HELP,
  options: {
    talk: { type: "string" },
    cut: { type: "string" },
    appendix: { type: "boolean", default: false },
    notes: { type: "boolean", default: false },
    data: { type: "string" },
    theme: { type: "string", default: "light" },
    out: { type: "string", default: "talk.pdf" },
    incomplete: { type: "boolean", default: false },
    altered: { type: "boolean", default: false },
  },
  check({ cut, theme, out, data }) {
    requireCount("cut", cut);
    requireOneOf("theme", ["light", "dark"], theme);
    requireDataSetName("data", data);
    if (!out.endsWith(".pdf")) throw new Error(`--out wants a name that ends in .pdf, not '${out}'`);
  },
});
installPackages();
const { requireUnaltered } = await import("./deck/alterations.js");
const { openTalk } = await import("./deck/text/talk.js");

process.exitCode = await print(options);

async function print({ cut = null, appendix, notes, data, theme, out, incomplete, altered }) {
  const index = indexOf((await scanBenchmarks(benchmarksRoot())).files);
  const unknown = whyUnknownDataSet(index.data_sets, data === undefined ? [] : [data]);
  const problem = unknown ?? whyNoFileAt(out) ?? (chromiumPath() === null ? NO_BROWSER : null);
  if (problem !== null) {
    console.error(problem);
    return 2;
  }
  const shown = progress();
  const restore = endWhenInterrupted(shown, `Stopped. ${out} was not written.`);
  let outcome;
  try {
    const { stated, slides } = await openTalk(talkRoot());
    const minutes = stated.cuts.map((length) => String(length.minutes));
    if (cut !== null && !minutes.includes(cut)) {
      console.error(
        `There is no ${cut}-minute cut of the talk. Its cuts, in minutes: ${minutes.join(", ")}.`,
      );
      return 2;
    }
    // Single slides show these beside the talk's own, and charts may show them beside any.
    const compared = slides.flatMap(({ compares }) => compares);
    const sets = [data ?? stated.dataSet, ...stated.otherDataSets, ...compared];
    await requireUnaltered(benchmarksRoot(), sets, { allowed: altered });
    outcome = await printed(data ?? null, { cut, appendix, notes, theme, incomplete, say: shown.step });
    shown.end();
  } catch (error) {
    shown.end();
    console.error(`The talk was not printed: ${error.message}`);
    return 1;
  }
  const { pdf, count, fonts, charts, problems } = outcome;
  for (const sentence of [...charts, ...problems]) console.error(sentence);
  if (problems.length > 0 || (charts.length > 0 && !incomplete)) {
    const way = problems.length === 0 ? " Measure them, or print the talk as it is with --incomplete." : "";
    console.error(`${out} was not written.${way}`);
    return 1;
  }
  restore();
  const file = path.resolve(out);
  // Written beside its place, then renamed, so that nobody opens half a file.
  await writeFile(`${file}.part`, pdf);
  await rename(`${file}.part`, file);
  const noted = notes ? ` and ${count.notes} pages of notes` : "";
  console.log(
    `Wrote ${out}: ${count.slides} slides${noted}, ${(pdf.length / 1024 ** 2).toFixed(1)} MB, with the fonts ${fonts.join(", ")}.`,
  );
  return 0;
}

/** Starts a server to print from, so that neither a running talk nor a built site is needed. */
async function printed(data, wanted) {
  const [{ startPresentServer }, { printDeck }] = await Promise.all([
    import("./deck/server.js"),
    import("./deck/pdf.js"),
  ]);
  wanted.say("Bundling the deck");
  const server = await startPresentServer({ port: 0, data, followSources: false });
  try {
    return await printDeck(server.url, wanted);
  } finally {
    await server.close();
  }
}

/** Why the file cannot be written there, in a sentence; or null. */
function whyNoFileAt(out) {
  const isFolder = (name) => existsSync(name) && statSync(name).isDirectory();
  const folder = path.dirname(out);
  if (isFolder(out)) return `${out} is a folder; name a file with --out.`;
  return isFolder(folder) ? null : `There is no folder ${folder}; make it, or name another one with --out.`;
}
