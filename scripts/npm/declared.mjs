// The options of each npm script, by its name. Imports nothing that has to be installed first.

import { DEFAULT_PORT, KINDS, PRIVATE_DATA_SET, RECORD } from "../deck/constants.js";
import { portOf, requireCount, requireDataSetName, requireOneOf } from "./program.mjs";

/** @type {import("./program.mjs").Program} */
export const start = {
  command: "npm start --",
  help: `Sets up Replay, opens the deck, starts a sandbox, measures rbd-journaling at quick scale into benchmarks/local/,
shows charts and verdicts in the open deck as they arrive, and ends with what was found in a few sentences.
Ctrl-C stops everything; finished measurements are kept.

Usage: npm start -- [options]

  --port N         listen on this port, or on the next free one if it is busy
  --no-open        do not open a browser
  --keep-sandbox   leave the sandbox running at the end
  --once           exit after measuring instead of keeping the deck open
  --help           show this text`,
  options: {
    port: { type: "string" },
    "no-open": { type: "boolean" },
    "keep-sandbox": { type: "boolean" },
    once: { type: "boolean" },
  },
  check: ({ port }) => portOf(port),
};

/** @type {import("./program.mjs").Program} */
export const present = {
  command: "npm run present --",
  help: `Presents the talk in a browser, from this machine, without a network.

Usage: npm run present -- [options]

  --data NAME       show the data set benchmarks/NAME instead of the slides' own
  --meanwhile NAME  show this data set's chart while --data lacks it
  --port N          listen on this port (${DEFAULT_PORT}), or on the next free one if it is busy
  --no-open         do not open a browser
  --help            show this text

Charts are updated when files in benchmarks/ change. REPLAY_BENCHMARKS names another folder.
In the deck: arrow keys or a clicker change slides, S opens the speaker view, F is full screen, Shift+O is the overview,
? lists the keys. Press Ctrl-C here to stop.`,
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

/** @type {import("./program.mjs").Program} */
export const build = {
  command: "npm run build --",
  help: `Builds the talk as a static site that works from any folder of any web server.

Usage: npm run build -- [options]

  --out DIR      where to write it (dist); replaces what is there
  --data NAME    publish only this data set; may be given more than once
                 (default: all data sets except “${PRIVATE_DATA_SET}”, which is private)
  --altered      publish even data that are altered; each slide that shows them then says so
  --no-preview   do not create a preview picture for messengers (needs Chromium; CHROMIUM names another one)
  --help         show this text

REPLAY_REPOSITORY, or \`repository\` in slides/<talk>/talk.yaml, is the address that readers clone and that the QR code leads to;
the build fails without one. REPLAY_HOMEPAGE, or package.json's homepage, is the site's address beside its preview
picture. REPLAY_TALK names the folder of another talk. The build fails if JavaScript or fonts exceed their size budget.`,
  options: {
    out: { type: "string", default: "dist" },
    data: { type: "string", multiple: true },
    altered: { type: "boolean", default: false },
    "no-preview": { type: "boolean" },
  },
  check: ({ data }) => requireDataSetName("data", data),
};

/** @type {import("./program.mjs").Program} */
export const freeze = {
  command: "npm run freeze --",
  help: `Builds the talk as a static site pinned to one data set: only its files, and its wording.

Usage: npm run freeze -- --data NAME [--out DIR] [--altered] [--no-preview]
       npm run freeze -- --verify DIR

  --data NAME   the data set benchmarks/NAME, whose figures and verdicts go into the slides
  --out DIR     where to write it (dist); replaces what is there
  --altered     publish even data that are altered; each slide that shows them then says so
  --no-preview  do not create a preview picture for messengers
  --verify DIR  compare a frozen site with its record, ${RECORD}
  --help        show this text

The page ignores ?data=. ${RECORD}, next to index.html, holds the commit and a digest of every data file and slide.`,
  options: {
    data: { type: "string" },
    out: { type: "string", default: "dist" },
    verify: { type: "string" },
    altered: { type: "boolean", default: false },
    "no-preview": { type: "boolean" },
  },
  check({ data, verify }) {
    if ((data === undefined) === (verify === undefined))
      throw new Error("Name either a data set with --data, or a frozen site with --verify");
    requireDataSetName("data", data);
  },
};

/** @type {import("./program.mjs").Program} */
export const pdf = {
  command: "npm run pdf --",
  help: `Prints the talk to a PDF file: a page for each slide, with its charts drawn and its fonts in the file.

Usage: npm run pdf -- [options]

  --cut MINUTES  the slides of this cut, such as 20 (the first in slides/<talk>/talk.yaml); the appendix is in every cut
  --notes        add a page with its notes after each slide
  --data NAME    use the data set benchmarks/NAME instead of the slides' own
  --theme NAME   light or dark (light)
  --out FILE     where to write it (talk.pdf); replaces what is there
  --incomplete   write the file even if some charts cannot be drawn; the page then says why
  --altered      print even data that are altered; each page that shows them then says so
  --help         show this text

Needs Chromium; CHROMIUM names another one. REPLAY_BENCHMARKS names another folder of data sets.`,
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

/** @type {import("./program.mjs").Program} */
export const check = {
  command: "npm run check --",
  help: `Checks the slides against the data that slides/<talk>/talk.yaml names, and adds up their time.

Usage: npm run check -- [options]

  --data NAME   hold the talk to the data set benchmarks/NAME instead: what it lacks, and which texts do not fit
  --fix         replace bound values that differ from the talk's data; change nothing else
  --accept ID   write into evidence.yaml that you have read this sentence, or all sentences of this slide, as they
                stand with their evidence; may be given more than once; "all" is every one
  --as KIND     with --accept: what they are: measured, source, definition or judgement
  --rests-on VALUE   with --accept: a value or claim that they rest on beside those that they show
  --scope TEXT  with --accept: of what it holds: "worst of 20, 100 writes a second"
  --help        show this text

Fails, naming file and line, if:
- a sentence or picture is new or edited, or what it rests on has moved, and nobody has accepted it;
- a slide has no timing, no id, or not exactly one note;
- a chapter or a cut does not add up to its minutes, or a note is too long for its slide;
- a slide links to a slide that is not in its cut, or a link, chart or bound value has no target;
- a file has CR LF line ends;
- the text of a bound value differs from the data;
- a verdict would show no text, or two texts, of a group;
- a numeral comes neither from the data nor from a named source;
- no slide mentions a claim or draws its chart, or the title above a chart does not state a finding.

REPLAY_TALK names the folder of another talk, which holds slides/<talk>/talk.yaml, slides/ and benchmarks/.`,
  options: {
    data: { type: "string" },
    fix: { type: "boolean" },
    accept: { type: "string", multiple: true },
    as: { type: "string" },
    "rests-on": { type: "string", multiple: true },
    scope: { type: "string" },
  },
  check({ data, fix, accept, as: kind }) {
    requireDataSetName("data", data);
    requireOneOf("as", KINDS, kind);
    if (accept !== undefined && data !== undefined)
      throw new Error("--accept is about the talk's own data set: leave out --data");
    if (fix && data !== undefined)
      throw new Error(
        "--fix writes the figures of data_set in slides/<talk>/talk.yaml: change that line, and leave out --data",
      );
  },
};

/** @type {import("./program.mjs").Program} */
export const wording = {
  command: "npm run wording --",
  help: `Shows every sentence of the talk that changes with another data set, or all that is said, read against the clock.

Usage: npm run wording -- --data NAME [--against NAME] [--json]
       npm run wording -- --rehearse MINUTES [--data NAME] [--words-per-minute N]

  --data NAME           the data set benchmarks/NAME
  --against NAME        the data set to compare with (the shipped one)
  --json                print the differences as JSON
  --rehearse MINUTES    print what is said in that cut, such as 20, from which minute to which
  --words-per-minute N  how fast you speak (130)
  --help                show this text`,
  options: {
    data: { type: "string" },
    against: { type: "string" },
    json: { type: "boolean" },
    rehearse: { type: "string" },
    "words-per-minute": { type: "string" },
  },
  check({ data, against, json, rehearse, "words-per-minute": rate }) {
    if (data === undefined && rehearse === undefined) throw new Error("--data is missing");
    if (rehearse !== undefined && (against !== undefined || json))
      throw new Error("--rehearse prints one text: leave out --against and --json");
    if (rate !== undefined && rehearse === undefined)
      throw new Error("--words-per-minute is for --rehearse MINUTES");
    if (rehearse !== undefined) requireCount("rehearse", rehearse);
    if (rate !== undefined) requireCount("words-per-minute", rate);
    requireDataSetName("data", data);
    requireDataSetName("against", against);
  },
};

/** @type {import("./program.mjs").Program} */
export const test = {
  command: "npm test --",
  help: `Runs the linters and all tests. Continues after a failure and lists all failures at the end.

Usage: npm test                  everything, including the sandbox
       npm run test:quick        linters and fast tests, without a cluster or a browser
       npm run test:releases     what depends on Ceph's release, on sandboxes of 18 and 20, which are fetched first
       npm run test:hosts        blocks in a container, and as jobs of Slurm; podman and Slurm are fetched first
       npm test -- --only TEXT   only the steps whose name contains TEXT (repeatable)`,
  options: {
    quick: { type: "boolean" },
    releases: { type: "boolean" },
    hosts: { type: "boolean" },
    only: { type: "string", multiple: true },
  },
};

/**
 * Also of `npm run format`, which is the same program with --fix.
 * @type {import("./program.mjs").Program}
 */
export const lint = {
  command: "npm run lint --",
  help: `Runs every linter of the project; npm run format also fixes what it can.

Usage: npm run lint
       npm run format`,
  options: { fix: { type: "boolean" } },
};

/** @type {import("./program.mjs").Program} */
export const perf = {
  command: "npm run perf --",
  help: `Measures the deck's speed in Chromium, side by side with the plain approach: every chart is created when the page
loads, from files that are fetched synchronously, without decimation. Both sides take turns in each round.

Usage: npm run perf -- [options]

  --rounds N     number of rounds (7), after one more round that warms up and does not count
  --charts N     charts in the talk with many charts (100)
  --points N     points in the chart with many points (100000)
  --changes N    slide changes in each round (60)
  --only TEXT    only scenarios whose title contains this text
  --json FILE    also write every figure to this file
  --help         show this text`,
  options: {
    rounds: { type: "string", default: "7" },
    charts: { type: "string", default: "100" },
    points: { type: "string", default: "100000" },
    changes: { type: "string", default: "60" },
    only: { type: "string", default: "" },
    json: { type: "string" },
  },
  check(values) {
    for (const name of ["rounds", "charts", "points", "changes"]) requireCount(name, values[name]);
  },
};

const numbered = (letter, count) => Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);

/** @type {import("./program.mjs").Program} */
export const drills = {
  command: "npm run drills --",
  help: `Causes faults on a sandbox of its own, such as a killed OSD, checks what Replay says and leaves of each, and prints
a table. Most drills take one to three minutes. Results are kept in .replay/drills/, so that drills can be run one by one.

Usage: npm run drills -- [options] [DRILL…]

  DRILL             only these, such as D4 D8
  --beside-tenants  those on clusters that Replay did not start, T1 to T10
  --release N       on a sandbox of this release of Ceph (the host's)
  --json FILE       also write every result to this file
  --help            show this text`,
  words: [...numbered("D", 17), ...numbered("T", 10)],
  options: {
    "beside-tenants": { type: "boolean" },
    release: { type: "string" },
    json: { type: "string" },
  },
};

/** @type {import("./program.mjs").Program} */
export const crashes = {
  command: "npm run crashes --",
  help: `Stops measure, clean and derive at each call that changes a file, by a kill, in the middle of a write, and by a power
cut, and checks that the next run completes and has lost nothing. Needs strace, but no Ceph: a scripted cluster answers.

Usage: npm run crashes -- [options] [COMMAND…]

  COMMAND      only these: measure, clean, derive
  --every N    try only every Nth point
  --json FILE  also write what was found to this file
  --help       show this text`,
  words: ["measure", "clean", "derive"],
  options: { every: { type: "string" }, json: { type: "string" } },
  check({ every }) {
    if (every !== undefined) requireCount("every", every);
  },
};
