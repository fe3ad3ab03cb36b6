// The options of `npm run perf`.

import { requireCount } from "../program.mjs";

const HELP = `Measures the deck's speed in Chromium, side by side with the plain approach: every chart is created when the page
loads, from files that are fetched synchronously, without decimation. Both sides take turns in each round.

Usage: npm run perf -- [options]

  --rounds N     number of rounds (7), after one more round that warms up and does not count
  --charts N     charts in the talk with many charts (100)
  --points N     points in the chart with many points (100000)
  --changes N    slide changes in each round (60)
  --only TEXT    only scenarios whose title contains this text
  --json FILE    also write every figure to this file
  --help         show this text`;

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
