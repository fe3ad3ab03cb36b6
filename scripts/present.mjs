#!/usr/bin/env node
/** Presents the talk: `npm run present`. */

import { withQuery } from "./deck/addresses.js";
import { DEFAULT_PORT, startPresentServer } from "./deck/server.js";
import { openBrowser } from "./npm/browser.mjs";
import { optionsOf, portOf } from "./npm/program.mjs";

const HELP = `Presents the talk in a browser, from this machine, without a network.

Usage: npm run present -- [options]

  --data NAME       show the data set benchmarks/NAME instead of the one the slides name
  --meanwhile NAME  where --data has no such chart yet, show this data set's
  --port N          listen on this port (${DEFAULT_PORT}); when it is busy, the next free one is taken
  --no-open         do not open a browser
  --help            this text

Charts follow the files of benchmarks/ while the deck is open. REPLAY_BENCHMARKS names another folder.
In the deck: arrow keys or a clicker move, S opens the speaker view, F fills the screen, Shift+O is the overview,
? lists the keys. End with Ctrl-C.`;

const options = optionsOf({
  command: "npm run present --",
  help: HELP,
  options: {
    data: { type: "string" },
    meanwhile: { type: "string" },
    port: { type: "string" },
    "no-open": { type: "boolean" },
  },
  check: ({ port }) => portOf(port),
});

let server;
try {
  server = await startPresentServer({
    port: portOf(options.port),
    data: options.data ?? null,
    meanwhile: options.meanwhile ?? null,
    log: (line) => console.error(line),
  });
} catch (error) {
  console.error(`The deck cannot be presented: ${error.message}`);
  process.exit(1);
}
// Before the line that says Ctrl-C: from then on somebody may press it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, async () => {
    await server.close();
    process.exit(0);
  });
}

if (server.portWasBusy)
  console.log(`Port ${options.port ?? DEFAULT_PORT} is busy; using ${server.port} instead.`);
console.log(`The talk is at ${server.url}
  in 20 minutes           ${withQuery(server.url, "cut=20")}
  as it was measured      ${withQuery(server.url, "run")}
  with reader's controls  ${withQuery(server.url, "explore")}
S opens the speaker view, ? lists the keys. End with Ctrl-C.`);
if (!options["no-open"]) openBrowser(server.url);
