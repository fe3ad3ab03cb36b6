#!/usr/bin/env node
/** Builds the talk as a static site: `npm run build`. */

import path from "node:path";

import { benchmarksRoot, indexOf, scanBenchmarks, whyUnknownDataSet } from "./deck/data-sets.js";
import { whyNoSiteIn } from "./deck/out-dir.js";
import { PRIVATE_DATA_SET } from "./deck/private-data-set.js";
import { optionsOf } from "./npm/program.mjs";

const HELP = `Builds the talk as a static site that works from any folder of any web server.

Usage: npm run build -- [options]

  --out DIR      where to write it (dist); what is there is replaced
  --data NAME    publish only this data set; may be given more than once
                 (without it: all data sets but “${PRIVATE_DATA_SET}”, which is yours alone)
  --no-preview   make no picture for messengers (it takes a Chromium; CHROMIUM names another one)
  --help         this text

REPLAY_HOMEPAGE, else package.json's homepage, is the address of the site: its picture and its QR code name it.
Without it, the QR code leads to package.json's repository, else to where the page is read from. REPLAY_REPOSITORY,
else package.json's repository, is what readers are told to clone. Fails where JavaScript or fonts are too heavy.`;

const options = optionsOf({
  command: "npm run build --",
  help: HELP,
  options: {
    out: { type: "string", default: "dist" },
    data: { type: "string", multiple: true },
    "no-preview": { type: "boolean" },
  },
});

const outDir = path.resolve(options.out);
const index = indexOf((await scanBenchmarks(benchmarksRoot())).files);
const problem =
  whyUnknownDataSet(index.data_sets, options.data ?? []) ?? (await whyNoSiteIn(outDir, options.out));
if (problem !== null) {
  console.error(problem);
  process.exit(2);
}

let site;
try {
  const { buildSite } = await import("./deck/site.js");
  site = await buildSite({ outDir, dataSets: options.data ?? null, preview: !options["no-preview"] });
} catch (error) {
  console.error(`The site was not built: ${error.message}`);
  process.exit(1);
}
console.log(site.sizes.join("\n"));
for (const remark of site.remarks) console.error(remark);
if (site.tooHeavy.length > 0) {
  console.error(`The site is too heavy to be published.\n${site.tooHeavy.join("\n")}`);
  process.exit(1);
}
const folder = path.relative(process.cwd(), outDir) || ".";
console.log(`Built ${folder}, with the data sets: ${site.published.join(", ") || "none"}.`);
