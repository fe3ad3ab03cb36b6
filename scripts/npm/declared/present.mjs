// The options of `npm run present`.

import { DEFAULT_PORT } from "../../deck/constants.js";
import { portOf, requireDataSetName } from "../program.mjs";

const HELP = `Presents the talk in a browser, from this machine, without a network.

Usage: npm run present -- [options]

  --data NAME       show the data set benchmarks/NAME instead of the slides' own
  --meanwhile NAME  show this data set's chart while --data lacks it
  --port N          listen on this port (${DEFAULT_PORT}), or on the next free one if it is busy
  --no-open         do not open a browser
  --help            show this text

Charts are updated when files in benchmarks/ change. REPLAY_BENCHMARKS names another folder.
In the deck: arrow keys or a clicker change slides, S opens the speaker view, F is full screen, Shift+O is the overview,
? lists the keys. Press Ctrl-C here to stop.`;

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
