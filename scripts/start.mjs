#!/usr/bin/env node
/** One command that measures a real Ceph cluster, derives and presents: `npm start`. */

import path from "node:path";

import { onInterrupt, ROOT } from "./npm/processes.mjs";
import { start as program } from "./npm/declared.mjs";
import { optionsOf, portOf } from "./npm/program.mjs";
import { Session } from "./npm/session.mjs";

const options = optionsOf(program);

const session = new Session({
  // The deck's packages exist only after the set-up.
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
