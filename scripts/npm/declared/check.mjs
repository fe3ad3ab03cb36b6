// The options of `npm run check`.

import { requireDataSetName } from "../program.mjs";

const HELP = `Checks the slides against the data that config/talk.yaml names, and adds up their time.

Usage: npm run check -- [options]

  --data NAME   hold the talk to the data set benchmarks/NAME instead: what it lacks, and which texts do not fit
  --fix         replace bound values that differ from the talk's data; change nothing else
  --help        show this text

Fails, naming file and line, if:
- a slide has no timing, no id, or not exactly one note;
- a chapter or a cut does not add up to its minutes, or a note is too long for its slide;
- a slide links to a slide that is not in its cut, or a link, chart or bound value has no target;
- a file has CR LF line ends;
- the text of a bound value differs from the data;
- a verdict would show no text, or two texts, of a group;
- a numeral comes neither from the data nor from a named source;
- no slide mentions a claim or draws its chart, or the title above a chart does not state a finding.

REPLAY_TALK names the folder of another talk, which holds config/talk.yaml, slides/ and benchmarks/.`;

/** @type {import("../program.mjs").Program} */
export default {
  command: "npm run check --",
  help: HELP,
  options: { data: { type: "string" }, fix: { type: "boolean" } },
  check({ data, fix }) {
    requireDataSetName("data", data);
    if (fix && data !== undefined)
      throw new Error(
        "--fix writes the figures of data_set in config/talk.yaml: change that line, and leave out --data",
      );
  },
};
