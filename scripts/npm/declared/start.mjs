// The options of `npm start`.

import { portOf } from "../program.mjs";

const HELP = `Sets up Replay, opens the deck, starts a sandbox, measures rbd-journaling at quick scale into benchmarks/local/,
shows charts and verdicts in the open deck as they arrive, and ends with what was found in a few sentences.
Ctrl-C stops everything; finished measurements are kept.

Usage: npm start -- [options]

  --port N         listen on this port, or on the next free one if it is busy
  --no-open        do not open a browser
  --keep-sandbox   leave the sandbox running at the end
  --once           exit after measuring instead of keeping the deck open
  --help           show this text`;

/** @type {import("../program.mjs").Program} */
export default {
  command: "npm start --",
  help: HELP,
  options: {
    port: { type: "string" },
    "no-open": { type: "boolean" },
    "keep-sandbox": { type: "boolean" },
    once: { type: "boolean" },
  },
  check: ({ port }) => portOf(port),
};
