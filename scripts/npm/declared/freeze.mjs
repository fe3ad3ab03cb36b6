// The options of `npm run freeze`.

import { RECORD } from "../../deck/frozen-record.js";
import { requireDataSetName } from "../program.mjs";

const HELP = `Builds the talk as a static site that is pinned to one data set: its files only, and its wording.

Usage: npm run freeze -- --data NAME [--out DIR] [--no-preview]
       npm run freeze -- --verify DIR

  --data NAME   the data set benchmarks/NAME; its figures and verdicts are written into the slides
  --out DIR     where to write it (dist); what is there is replaced
  --no-preview  make no picture for messengers
  --verify DIR  compare a frozen site with the record that was written with it, ${RECORD}
  --help        this text

The page ignores ?data=. ${RECORD}, beside index.html, holds the commit and the digest of every data file and slide.`;

/** @type {import("../program.mjs").Program} */
export default {
  command: "npm run freeze --",
  help: HELP,
  options: {
    data: { type: "string" },
    out: { type: "string", default: "dist" },
    verify: { type: "string" },
    "no-preview": { type: "boolean" },
  },
  check({ data, verify }) {
    if ((data === undefined) === (verify === undefined))
      throw new Error("Name either a data set with --data, or a frozen site with --verify");
    requireDataSetName("data", data);
  },
};
