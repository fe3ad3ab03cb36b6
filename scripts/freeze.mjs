#!/usr/bin/env node
/** Builds the talk pinned to one data set and its wording: `npm run freeze`. */

import path from "node:path";

import { RECORD } from "./deck/constants.js";
import { benchmarksRoot } from "./deck/data-sets.js";
import { replaceFolder, whyNoSiteIn } from "./deck/out-dir.js";
import { installPackages, optionsOf, requireDataSetName } from "./npm/program.mjs";
import { endWhenInterrupted, progress } from "./npm/progress.mjs";

const HELP = `Builds the talk as a static site pinned to one data set: its wording, and only its files and those of data
sets that charts show beside it.

Usage: npm run freeze -- --data NAME [--out DIR] [--altered] [--no-preview] [--no-address]
       npm run freeze -- --verify DIR

  --data NAME   the data set benchmarks/NAME, whose figures and verdicts go into the slides
  --out DIR     where to write it (dist); replaces what is there
  --altered     publish even data that are altered; each slide that shows them then says so
  --no-preview  do not create a preview picture for messengers
  --no-address  publish a talk that names no address at which readers can clone it
  --verify DIR  compare a frozen site with its record, ${RECORD}
  --talk NAME   the talk slides/NAME/ (the lead)
  --help        show this text

The page ignores ?data=. ${RECORD}, next to index.html, holds the commit and a digest of every data file and slide.`;

const options = optionsOf({
  command: "npm run freeze --",
  help: HELP,
  options: {
    talk: { type: "string" },
    data: { type: "string" },
    out: { type: "string", default: "dist" },
    verify: { type: "string" },
    altered: { type: "boolean", default: false },
    "no-preview": { type: "boolean", default: false },
    "no-address": { type: "boolean", default: false },
  },
  check({ data, verify }) {
    if ((data === undefined) === (verify === undefined))
      throw new Error("Name either a data set with --data, or a frozen site with --verify");
    requireDataSetName("data", data);
  },
});
installPackages();
const { freezeSite, verifySite } = await import("./deck/freeze.js");
const { NotThere } = await import("./deck/text/talk.js");
const shown = progress();

try {
  process.exitCode = await (options.verify === undefined ? freeze(options) : verify(options.verify));
} catch (error) {
  shown.end();
  const failed = options.verify === undefined ? "The site was not frozen" : "The site was not compared";
  console.error(error instanceof NotThere ? error.message : `${failed}: ${error.message}`);
  process.exitCode = error instanceof NotThere ? 2 : 1;
}

async function freeze({ data: name, out, "no-preview": noPreview, "no-address": noAddress, altered }) {
  const outDir = path.resolve(out);
  const refusal = await whyNoSiteIn(outDir, out);
  if (refusal !== null) {
    console.error(refusal);
    return 2;
  }
  endWhenInterrupted(shown, `Stopped. Nothing was frozen: ${out} is as it was.`);
  shown.step("Reading the talk");
  const wanted = {
    ...{ benchmarks: benchmarksRoot(), name, addressed: !noAddress, altered },
    ...{ preview: !noPreview, say: shown.step },
  };
  const { record, undrawn, site } = await replaceFolder(outDir, (folder) =>
    freezeSite({ outDir: folder, ...wanted }),
  );
  shown.end();
  for (const remark of [...site.remarks, ...site.tooHeavy]) console.error(remark);
  for (const src of undrawn) console.error(`File missing, so its chart will show an error: ${src}`);
  if (record.git_dirty)
    console.error(
      "Files differ from the recorded commit, or are in none. Commit them, so that the record names exactly what is frozen.",
    );
  const count = Object.keys(record.files).length;
  console.log(
    `Froze “${name}” in ${path.relative(process.cwd(), outDir) || "."}: ${count} data files, ${RECORD}.`,
  );
  return site.tooHeavy.length > 0 ? 1 : 0;
}

async function verify(folder) {
  const { record, differences } = await verifySite(path.resolve(folder));
  for (const line of differences) console.error(line);
  if (differences.length) {
    console.error(`${folder} differs from what was frozen of “${record.data_set}”.`);
    return 1;
  }
  const count = Object.keys(record.files).length + Object.keys(record.slides).length;
  console.log(
    `The ${count} data files and slides in ${folder} are as they were frozen of “${record.data_set}”; pages and code are not compared.`,
  );
  return 0;
}
