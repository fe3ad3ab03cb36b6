// The options of `npm run check`.

const HELP = `Checks the slides against the data that ship with them, and adds up their time.

Usage: npm run check -- [options]

  --fix    write the texts of the shipped data into the bound values that differ from them; nothing else changes
  --help   this text

Fails, naming file and line, where a slide has no timing, no id or not exactly one note; where a chapter or a cut
does not take its minutes, a slide leads to one that its cut does not have, or a note is too long to be said; where a file has
CR LF line ends; where a link, a chart or a bound value leads nowhere; where the text of a bound value is not what the
data say; where a text depends on a verdict and another verdict would leave none, or two; where a numeral comes from
neither the data nor a source that is named; where a claim is not spoken of, or its chart not drawn; where the title
above a chart is no finding.`;

/** @type {import("../program.mjs").Program} */
export default {
  command: "npm run check --",
  help: HELP,
  options: { fix: { type: "boolean" } },
};
