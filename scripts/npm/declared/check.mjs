// The options of `npm run check`.

const HELP = `Checks the slides against the shipped data, and adds up their time.

Usage: npm run check -- [options]

  --fix    replace bound values that differ from the shipped data; change nothing else
  --help   show this text

Fails, naming file and line, if:
- a slide has no timing, no id, or not exactly one note;
- a chapter or a cut does not add up to its minutes, or a note is too long for its slide;
- a slide links to a slide that is not in its cut, or a link, chart or bound value has no target;
- a file has CR LF line ends;
- the text of a bound value differs from the data;
- a verdict would show no text, or two texts, of a group;
- a numeral comes neither from the data nor from a named source;
- no slide mentions a claim or draws its chart, or the title above a chart does not state a finding.`;

/** @type {import("../program.mjs").Program} */
export default {
  command: "npm run check --",
  help: HELP,
  options: { fix: { type: "boolean" } },
};
