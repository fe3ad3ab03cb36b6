#!/usr/bin/env node
/** Builds the talk as a static site: `npm run build`. */

import path from "node:path";

import { PRIVATE_DATA_SET } from "./deck/constants.js";
import { benchmarksRoot, indexOf, scanBenchmarks, whyUnknownDataSet } from "./deck/data-sets.js";
import { replaceFolder, whyNoSiteIn } from "./deck/out-dir.js";
import { installPackages, optionsOf, requireDataSetName } from "./npm/program.mjs";
import { endWhenInterrupted, progress } from "./npm/progress.mjs";

const HELP = `Builds the talk as a static site that works from any folder of any web server.

Usage: npm run build -- [options]

  --out DIR      where to write it (dist); replaces what is there
  --data NAME    publish only this data set; may be given more than once
                 (default: all but “${PRIVATE_DATA_SET}” and “${PRIVATE_DATA_SET}-…”, which are private)
  --altered      publish even data that are altered; each slide that shows them then says so
  --no-preview   do not create a preview picture for messengers (needs Chromium; CHROMIUM names another one)
  --talk NAME    the talk slides/NAME/ that opens first (the lead); the others open with ?talk=NAME
  --no-address   publish a talk that names no address at which readers can clone it
  --help         show this text

REPLAY_REPOSITORY, or \`repository\` in the talk's talk.yaml, is the address that readers clone and that the QR code leads to;
the build fails without one, unless told --no-address. REPLAY_HOMEPAGE, or package.json's homepage, is the site's address beside its preview
picture. REPLAY_TALK names the folder of another talk. The build fails if JavaScript or fonts exceed their size budget.`;

const options = optionsOf({
  command: "npm run build --",
  help: HELP,
  options: {
    talk: { type: "string" },
    out: { type: "string", default: "dist" },
    data: { type: "string", multiple: true },
    altered: { type: "boolean", default: false },
    "no-preview": { type: "boolean", default: false },
    "no-address": { type: "boolean", default: false },
  },
  check: ({ data }) => requireDataSetName("data", data),
});

const outDir = path.resolve(options.out);
const index = indexOf((await scanBenchmarks(benchmarksRoot())).files);
const problem =
  whyUnknownDataSet(index.data_sets, options.data ?? []) ?? (await whyNoSiteIn(outDir, options.out));
if (problem !== null) {
  console.error(problem);
  process.exit(2);
}
installPackages();

const shown = progress();
endWhenInterrupted(shown, `Stopped. The site was not built: ${options.out} is as it was.`);
let site;
try {
  shown.step("Reading the talk");
  const { buildSite } = await import("./deck/site.js");
  const wanted = {
    dataSets: options.data ?? null,
    preview: !options["no-preview"],
    addressed: !options["no-address"],
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
