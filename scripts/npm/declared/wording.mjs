// The options of `npm run wording`.

import { requireDataSetName } from "../program.mjs";

const HELP = `Shows every sentence of the talk that changes with another data set, so that you can rehearse it.

Usage: npm run wording -- --data NAME [options]

  --data NAME     the data set benchmarks/NAME
  --against NAME  the data set to compare with (the shipped one)
  --json          print the differences as JSON
  --help          show this text`;

/** @type {import("../program.mjs").Program} */
export default {
  command: "npm run wording --",
  help: HELP,
  options: {
    data: { type: "string" },
    against: { type: "string" },
    json: { type: "boolean" },
  },
  check({ data, against }) {
    if (data === undefined) throw new Error("--data is missing");
    requireDataSetName("data", data);
    requireDataSetName("against", against);
  },
};
