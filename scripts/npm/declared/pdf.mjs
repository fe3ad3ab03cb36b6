// The options of `npm run pdf`.

import { requireCount, requireDataSetName, requireOneOf } from "../program.mjs";

const HELP = `Prints the talk to a PDF file: a page for each slide, with its charts drawn and its fonts in the file.

Usage: npm run pdf -- [options]

  --cut MINUTES  the slides of this cut, such as 20 (the first in config/talk.yaml); the appendix is in every cut
  --notes        add a page with its notes after each slide
  --data NAME    use the data set benchmarks/NAME instead of the slides' own
  --theme NAME   light or dark (light)
  --out FILE     where to write it (talk.pdf); replaces what is there
  --incomplete   write the file even if some charts cannot be drawn; the page then says why
  --altered      print even data that are altered; each page that shows them then says so
  --help         show this text

Needs Chromium; CHROMIUM names another one. REPLAY_BENCHMARKS names another folder of data sets.`;

/** @type {import("../program.mjs").Program} */
export default {
  command: "npm run pdf --",
  help: HELP,
  options: {
    cut: { type: "string" },
    notes: { type: "boolean", default: false },
    data: { type: "string" },
    theme: { type: "string", default: "light" },
    out: { type: "string", default: "talk.pdf" },
    incomplete: { type: "boolean" },
    altered: { type: "boolean", default: false },
  },
  check({ cut, theme, out, data }) {
    if (cut !== undefined) requireCount("cut", cut);
    requireOneOf("theme", ["light", "dark"], theme);
    requireDataSetName("data", data);
    if (!out.endsWith(".pdf")) throw new Error(`--out wants a name that ends in .pdf, not '${out}'`);
  },
};
