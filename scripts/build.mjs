#!/usr/bin/env node
/** Builds the talk as a static site: `npm run build`. */

import path from "node:path";

import { benchmarksRoot, indexOf, scanBenchmarks, whyUnknownDataSet } from "./deck/data-sets.js";
import { replaceFolder, whyNoSiteIn } from "./deck/out-dir.js";
import { build as program } from "./npm/declared.mjs";
import { optionsOf } from "./npm/program.mjs";
import { endWhenInterrupted, progress } from "./npm/progress.mjs";

const options = optionsOf(program);

const outDir = path.resolve(options.out);
const index = indexOf((await scanBenchmarks(benchmarksRoot())).files);
const problem =
  whyUnknownDataSet(index.data_sets, options.data ?? []) ?? (await whyNoSiteIn(outDir, options.out));
if (problem !== null) {
  console.error(problem);
  process.exit(2);
}

const shown = progress();
endWhenInterrupted(shown, `Stopped. The site was not built: ${options.out} is as it was.`);
let site;
try {
  shown.step("Reading the talk");
  const { buildSite } = await import("./deck/site.js");
  const wanted = {
    dataSets: options.data ?? null,
    preview: !options["no-preview"],
    altered: options.altered,
    say: shown.step,
  };
  site = await replaceFolder(outDir, (folder) => buildSite({ outDir: folder, ...wanted }));
  shown.end();
} catch (error) {
  shown.end();
  console.error(`The site was not built: ${error.message}`);
  process.exit(1);
}
console.log(site.sizes.join("\n"));
for (const remark of site.remarks) console.error(remark);
if (site.tooHeavy.length > 0) {
  console.error(`The site is too large to be published.\n${site.tooHeavy.join("\n")}`);
  process.exit(1);
}
const folder = path.relative(process.cwd(), outDir) || ".";
console.log(`Built ${folder}, with the data sets: ${site.published.join(", ") || "none"}.`);
