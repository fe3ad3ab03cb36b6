// The options of `npm run present`.

import { DEFAULT_PORT } from "../../deck/default-port.js";
import { portOf, requireDataSetName } from "../program.mjs";

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

/** @type {import("../program.mjs").Program} */
export default {
  command: "npm run present --",
  help: HELP,
  options: {
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
};
