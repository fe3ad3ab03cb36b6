#!/usr/bin/env node
/** Presents the talk: `npm run present`. */

import { withQuery } from "./deck/addresses.js";
import { DEFAULT_PORT } from "./deck/constants.js";
import { benchmarksRoot, dataSetFolders, talkRoot, whyUnknownDataSet } from "./deck/data-sets.js";
import { installPackages, openBrowser, optionsOf, portOf, requireDataSetName } from "./npm/program.mjs";

const HELP = `Presents the talk in a browser, from this machine, without a network.

Usage: npm run present -- [options]

  --data NAME       show the data set benchmarks/NAME instead of the slides' own
  --meanwhile NAME  show this data set's chart while --data lacks it
  --port N          listen on this port (${DEFAULT_PORT}), or on the next free one if it is busy
  --no-open         do not open a browser
  --talk NAME       the talk slides/NAME/ (the lead)
  --help            show this text

Charts are updated when files in benchmarks/ change. REPLAY_BENCHMARKS names another folder.
In the deck: arrow keys or a clicker change slides, S opens the speaker view, F is full screen, Shift+O is the overview,
? lists the keys. Press Ctrl-C here to stop.`;

const options = optionsOf({
  command: "npm run present --",
  help: HELP,
  options: {
    talk: { type: "string" },
    data: { type: "string" },
    meanwhile: { type: "string" },
    port: { type: "string" },
    "no-open": { type: "boolean" },
  },
  check({ port, data, meanwhile }) {
    portOf(port);
    requireDataSetName("data", data);
    requireDataSetName("meanwhile", meanwhile);
  },
});

// A data set that is being measured has a folder before it has anything to show.
const wanted = [options.data, options.meanwhile].filter((name) => name !== undefined);
const problem = whyUnknownDataSet(await dataSetFolders(benchmarksRoot()), wanted);
if (problem !== null) {
  console.error(problem);
  process.exit(2);
}
installPackages();

let server;
try {
  const { startPresentServer } = await import("./deck/server.js");
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
// Before the line that mentions Ctrl-C: from then on somebody may press it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, async () => {
    await server.close();
    process.exit(0);
  });
}

if (server.portWasBusy)
  console.log(`Port ${options.port ?? DEFAULT_PORT} is busy; using ${server.port} instead.`);
const { readTalkFile } = await import("./deck/talk-file.js");
const others = readTalkFile(talkRoot()).cuts.slice(1);
const cuts = others.map(
  ({ minutes }) => `\n  ${`in ${minutes} minutes`.padEnd(24)}${withQuery(server.url, `cut=${minutes}`)}`,
);
console.log(`The talk is at ${server.url}${cuts.join("")}
  as it was measured      ${withQuery(server.url, "run")}
  with reader's controls  ${withQuery(server.url, "explore")}
S opens the speaker view, ? lists the keys. End with Ctrl-C.`);
if (!options["no-open"]) openBrowser(server.url);
