// The options of `npm run perf`.

import { requireCount } from "../program.mjs";

const HELP = `Measures how fast the deck is, in Chromium, side by side with the plain approach: every chart made as soon as the page
loads, from files that are asked for synchronously, without decimation. Both sides take turns in each round.

Usage: npm run perf -- [options]

  --rounds N     how often all is measured (7); one more round before them warms up and is not counted
  --charts N     charts of the talk of many charts (100)
  --points N     points of the chart of many points (100000)
  --changes N    slide changes in each round (60)
  --only TEXT    only scenarios whose title contains this text
  --json FILE    write every single figure there, too
  --help         this text`;

/** @type {import("../program.mjs").Program} */
export default {
  command: "npm run perf --",
  help: HELP,
  options: {
    rounds: { type: "string", default: "7" },
    charts: { type: "string", default: "100" },
    points: { type: "string", default: "100000" },
    changes: { type: "string", default: "60" },
    only: { type: "string", default: "" },
    json: { type: "string" },
  },
  check(values) {
    for (const name of ["rounds", "charts", "points", "changes"]) requireCount(name, values[name]);
  },
};
