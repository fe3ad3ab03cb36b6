#!/usr/bin/env node
/** Builds the talk as a static site: `npm run build`. */

import path from "node:path";
import { parseArgs } from "node:util";

import { benchmarksRoot, indexOf, scanBenchmarks, whyUnknownDataSet } from "./deck/data-sets.js";
import { whyNoSiteIn } from "./deck/out-dir.js";
import { PRIVATE_DATA_SET, deckConfig } from "./deck/vite-config.js";

const HELP = `Builds the talk as a static site that works from any folder of any web server.

Usage: npm run build -- [options]

  --out DIR    where to write it (dist); what is there is replaced
  --data NAME  publish only this data set; may be given more than once
               (without it: all data sets but “${PRIVATE_DATA_SET}”, which is yours alone)
  --help       this text

The address that the QR code shows is REPLAY_HOMEPAGE, else package.json's homepage or repository,
else the address the page is read from.`;

let options;
try {
  options = parseArgs({
    options: {
      out: { type: "string", default: "dist" },
      data: { type: "string", multiple: true },
      help: { type: "boolean", short: "h" },
    },
  }).values;
} catch (error) {
  console.error(`${error.message}\nSee: npm run build -- --help`);
  process.exit(2);
}
if (options.help) {
  console.log(HELP);
  process.exit(0);
}

const outDir = path.resolve(options.out);
const index = indexOf((await scanBenchmarks(benchmarksRoot())).files);
const problem =
  whyUnknownDataSet(index.data_sets, options.data ?? []) ?? (await whyNoSiteIn(outDir, options.out));
if (problem !== null) {
  console.error(problem);
  process.exit(2);
}

const { build } = await import("vite");
try {
  await build({
    ...deckConfig({ outDir, dataSets: options.data ?? null }),
    configFile: false,
    logLevel: "warn",
  });
} catch (error) {
  console.error(`The site was not built: ${error.message}`);
  process.exit(1);
}
const published = options.data ?? index.data_sets.filter((name) => name !== PRIVATE_DATA_SET);
console.log(
  `Built ${path.relative(process.cwd(), outDir) || "."}, with the data sets: ${published.join(", ") || "none"}.`,
);
