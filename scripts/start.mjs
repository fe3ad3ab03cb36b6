#!/usr/bin/env node
/** One command: measure a real Ceph cluster, derive, present. `npm start`. */

import path from "node:path";

import { onInterrupt, ROOT } from "./npm/processes.mjs";
import { optionsOf, portOf } from "./npm/program.mjs";
import { Session } from "./npm/session.mjs";

const HELP = `Sets Replay up, opens the deck, starts a sandbox, measures rbd-journaling in it at quick scale into
benchmarks/local/, and shows the results in the open deck as they land. Ctrl-C stops everything; what was measured is kept.

Usage: npm start -- [options]

  --port N         listen on this port; when it is busy, the next free one is taken
  --no-open        do not open a browser
  --keep-sandbox   leave the sandbox running at the end
  --once           end after measuring instead of going on to present
  --help           this text`;

const options = optionsOf({
  command: "npm start --",
  help: HELP,
  options: {
    port: { type: "string" },
    "no-open": { type: "boolean" },
    "keep-sandbox": { type: "boolean" },
    once: { type: "boolean" },
  },
  check: ({ port }) => portOf(port),
});

const session = new Session({
  // The deck's packages are there only after the set-up.
  startServer: async (wanted) => (await import("./deck/server.js")).startPresentServer(wanted),
  benchmarks: path.resolve(process.env.REPLAY_BENCHMARKS || path.join(ROOT, "benchmarks")),
  logs: path.join(ROOT, ".cache/start"),
  port: portOf(options.port),
  open: !options["no-open"],
  keepSandbox: options["keep-sandbox"],
  once: options.once,
});
onInterrupt((signal) => session.interrupt(signal));
process.exit(await session.run());
