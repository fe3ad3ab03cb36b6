// The options of `npm start`.

import { portOf } from "../program.mjs";

const HELP = `Sets Replay up, opens the deck, starts a sandbox, measures rbd-journaling in it at quick scale into
benchmarks/local/, and shows the results in the open deck as they land. Ctrl-C stops everything; what was measured is kept.

Usage: npm start -- [options]

  --port N         listen on this port; when it is busy, the next free one is taken
  --no-open        do not open a browser
  --keep-sandbox   leave the sandbox running at the end
  --once           end after measuring instead of going on to present
  --help           this text`;

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
