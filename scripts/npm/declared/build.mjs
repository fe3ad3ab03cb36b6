// The options of `npm run build`.

import { PRIVATE_DATA_SET } from "../../deck/private-data-set.js";
import { requireDataSetName } from "../program.mjs";

const HELP = `Builds the talk as a static site that works from any folder of any web server.

Usage: npm run build -- [options]

  --out DIR      where to write it (dist); what is there is replaced
  --data NAME    publish only this data set; may be given more than once
                 (without it: all data sets but “${PRIVATE_DATA_SET}”, which is yours alone)
  --no-preview   make no picture for messengers (it takes a Chromium; CHROMIUM names another one)
  --help         this text

REPLAY_HOMEPAGE, else package.json's homepage, is the address of the site: its picture and its QR code name it.
Without it, the QR code leads to package.json's repository, else to where the page is read from. REPLAY_REPOSITORY,
else package.json's repository, is what readers are told to clone. Fails where JavaScript or fonts are too heavy.`;

/** @type {import("../program.mjs").Program} */
export default {
  command: "npm run build --",
  help: HELP,
  options: {
    out: { type: "string", default: "dist" },
    data: { type: "string", multiple: true },
    "no-preview": { type: "boolean" },
  },
  check: ({ data }) => requireDataSetName("data", data),
};
