// The options of `npm run freeze`.

import { RECORD } from "../../deck/constants.js";
import { requireDataSetName } from "../program.mjs";

const HELP = `Builds the talk as a static site pinned to one data set: only its files, and its wording.

Usage: npm run freeze -- --data NAME [--out DIR] [--altered] [--no-preview]
       npm run freeze -- --verify DIR

  --data NAME   the data set benchmarks/NAME, whose figures and verdicts go into the slides
  --out DIR     where to write it (dist); replaces what is there
  --altered     publish even data that are altered; each slide that shows them then says so
  --no-preview  do not create a preview picture for messengers
  --verify DIR  compare a frozen site with its record, ${RECORD}
  --help        show this text

The page ignores ?data=. ${RECORD}, next to index.html, holds the commit and a digest of every data file and slide.`;

/** @type {import("../program.mjs").Program} */
export default {
  command: "npm run freeze --",
  help: HELP,
  options: {
    data: { type: "string" },
    out: { type: "string", default: "dist" },
    verify: { type: "string" },
    altered: { type: "boolean", default: false },
    "no-preview": { type: "boolean" },
  },
  check({ data, verify }) {
    if ((data === undefined) === (verify === undefined))
      throw new Error("Name either a data set with --data, or a frozen site with --verify");
    requireDataSetName("data", data);
  },
};
