#!/usr/bin/env node
/** One command that measures a real Ceph cluster, derives and presents: `npm start`. */

import path from "node:path";

import { onInterrupt } from "./npm/processes.mjs";
import { installPackages, optionsOf, portOf, ROOT } from "./npm/program.mjs";
import { Session } from "./npm/session.mjs";

const HELP = `Sets up Replay, opens the deck, starts a sandbox, measures rbd-journaling at quick scale into benchmarks/local/,
shows charts and verdicts in the open deck as they arrive, and ends with what was found in a few sentences.
Ctrl-C stops everything; finished measurements are kept.

Usage: npm start -- [options]

  --port N         listen on this port, or on the next free one if it is busy
  --no-open        do not open a browser
  --keep-sandbox   leave the sandbox running at the end
  --once           exit after measuring instead of keeping the deck open
  --help           show this text

Measuring needs Linux; on other systems the deck shows the data that ship.`;

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
installPackages();
const { startPresentServer } = await import("./deck/server.js");
const { readTalkFile } = await import("./deck/talk-file.js");
let shipped;
try {
  shipped = readTalkFile(ROOT).dataSet;
} catch (error) {
  console.error(`The deck cannot be presented: ${error.message}`);
  process.exit(1);
}

const session = new Session({
  shipped,
  startServer: startPresentServer,
  benchmarks: path.resolve(process.env.REPLAY_BENCHMARKS || path.join(ROOT, "benchmarks")),
  logs: path.join(ROOT, ".cache/start"),
  port: portOf(options.port),
  open: !options["no-open"],
  keepSandbox: options["keep-sandbox"],
  once: options.once,
});
onInterrupt((signal) => session.interrupt(signal));
process.exit(await session.run());
