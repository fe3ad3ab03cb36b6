// The options of `npm run build`.

import { PRIVATE_DATA_SET } from "../../deck/constants.js";
import { requireDataSetName } from "../program.mjs";

const HELP = `Builds the talk as a static site that works from any folder of any web server.

Usage: npm run build -- [options]

  --out DIR      where to write it (dist); replaces what is there
  --data NAME    publish only this data set; may be given more than once
                 (default: all data sets except “${PRIVATE_DATA_SET}”, which is private)
  --altered      publish even data that are altered; each slide that shows them then says so
  --no-preview   do not create a preview picture for messengers (needs Chromium; CHROMIUM names another one)
  --help         show this text

REPLAY_REPOSITORY, or \`repository\` in config/talk.yaml, is the address that readers clone and that the QR code leads to;
the build fails without one. REPLAY_HOMEPAGE, or package.json's homepage, is the site's address beside its preview
picture. REPLAY_TALK names the folder of another talk. The build fails if JavaScript or fonts exceed their size budget.`;

/** @type {import("../program.mjs").Program} */
export default {
  command: "npm run build --",
  help: HELP,
  options: {
    out: { type: "string", default: "dist" },
    data: { type: "string", multiple: true },
    altered: { type: "boolean", default: false },
    "no-preview": { type: "boolean" },
  },
  check: ({ data }) => requireDataSetName("data", data),
};
