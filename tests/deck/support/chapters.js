/** Decks of a few of the talk's chapters, which open faster and are cheaper to inspect; and chapters for tests. */

import { readFile } from "node:fs/promises";
import path from "node:path";

import { PROJECT } from "../../../scripts/deck/data-sets.js";

const SECTION = /<section\s[^]*?data-markdown="([^"]*)"[^]*?><\/section>/g;

/** Leaves only these chapters, `slides/….md`, in the page and in the windows that it opens. */
export function onlyChapters(page, files) {
  return page.context().route(
    ({ pathname }) => pathname === "/",
    async (route) => {
      const response = await route.fetch();
      const html = await response.text();
      const body = html.replace(SECTION, (section, file) => (files.includes(file) ? section : ""));
      await route.fulfill({ response, body });
    },
  );
}

/** Puts Markdown in place of one of the talk's chapters, also in the windows that the page opens. */
export function replaceChapter(page, file, body) {
  return page
    .context()
    .route(`**/${file}`, (route) => route.fulfill({ contentType: "text/markdown; charset=utf-8", body }));
}

/** Makes Markdown, in place of the talk's last chapter, the whole talk but for the chapters `beside`. */
export async function onlyMarkdown(page, body, beside = []) {
  const last = "slides/rpo/92-mirror.md";
  await onlyChapters(page, [...beside, last]);
  await replaceChapter(page, last, body);
}

/** The files of the talk's chapters, in the order of the talk. @returns {Promise<string[]>} */
export async function chaptersOf(url) {
  const html = await (await fetch(url)).text();
  return [...html.matchAll(SECTION)].map(([, file]) => file);
}

const APPENDIX = "slides/rpo/90-appendix.md";
const WIDE = `

<!-- .slide: id="throughput-write-seq" data-visibility="uncounted" data-timing="10" -->
## Sequential writes

In bytes per second, by I/O size; higher is better <!-- .element: class="measure" -->

<canvas data-chart="line" data-chart-src="benchmarks/tentacle/rbd-journaling/aggregate/throughput-write-seq.csv" data-chart-series="Without journal | With journal | Journal mirrored | Snapshot mirrored"></canvas>

<!-- Note -->
Words.
`;

/** Adds to the appendix a slide with one chart of several series, whatever the talk draws. */
export async function withWideChart(page) {
  // Not from the server: a test that closes its windows while they load would fail by that request.
  const text = await readFile(path.join(PROJECT, APPENDIX), "utf8");
  await replaceChapter(page, APPENDIX, `${text.trimEnd()}\n${WIDE}`);
}

export const CLAIM = "journal-penalty-falls";
/** The chart to which the claim leads; a slide of the talk draws it. */
export const CHART = "rbd-journaling/iops-write-rand";
/** A chapter, independent of the talk, in which every kind of text depends on one claim. */
const VERDICTS = `<!-- .slide: id="verdicts" data-timing="10" -->
## <span data-when="${CLAIM} held">It falls: <data value="${CLAIM}.ratio">4711×</data></span><span data-when="${CLAIM} refuted">It does not: <data value="${CLAIM}.ratio">4711×</data></span><span data-when="${CLAIM} inconclusive not-testable-here not-measured">It is open</span>

Between <data value="${CLAIM}.ratio.interval">4710× to 4712×</data>, on <data value="manifest.setup.osds">4713</data> OSDs with <data value="design.rbd-journaling.io_threads">4714</data> threads, at <data value="method.confidence">4715 %</data>.

<svg viewBox="0 0 300 60" height="60"><text y="40" font-size="40" data-when="${CLAIM} held">drawn</text></svg>

<div data-when="${CLAIM} held">

- One step more <!-- .element: class="fragment" -->

</div>

<div data-claims="${CLAIM} journal-4k-seq-write snapshot-replay-faster"></div>

<!-- Note -->
Look at it.

<p data-when="${CLAIM} held">Say that it falls: <data value="${CLAIM}.ratio">4711×</data>.</p>
<p data-when="${CLAIM} refuted">Say that it does not: <data value="${CLAIM}.ratio">4711×</data>.</p>
<p data-when="${CLAIM} inconclusive not-testable-here not-measured">Say nothing of it.</p>


<!-- .slide: id="dots" data-timing="10" -->
## Trials

<canvas data-chart="scatter" data-chart-src="benchmarks/reference/failover/aggregate/seconds-to-first-write-planned.csv"></canvas>

<!-- Note -->
A dot is a trial.


<!-- .slide: id="waiting" data-timing="10" -->
## A chart of what may not be there

<div class="panels" data-when="${CLAIM} held refuted">
<div class="panel"><h3>IOPS</h3><canvas data-chart="line" data-chart-src="benchmarks/reference/client-sweep/aggregate/iops-randwrite-4096.csv"></canvas></div>
</div>
<p data-when="${CLAIM} inconclusive not-testable-here not-measured">Nothing to draw.</p>

<!-- Note -->
Wait for it.
`;
/** The literals of the chapter, which are nobody's figures. */
export const LITERALS = /471\d/;

/** The texts on the slide for a verdict, with the fixture's claims: two digits in sentences, three in the table. */
export const SAID = {
  held: {
    title: "It falls: 1.9×",
    between: "1.9× to 2.0×",
    found: "1.95×",
    note: "Say that it falls: 1.9×.",
  },
  refuted: {
    title: "It does not: 0.88×",
    between: "0.86× to 0.90×",
    found: "0.882×",
    note: "Say that it does not: 0.88×.",
  },
  "not measured": {
    title: "It is open",
    between: "not measured",
    found: "no block holds all of its cells",
    note: "Say nothing of it.",
  },
};

/** Puts the chapter of verdicts in place of one of the talk's. */
export function withChapter(page) {
  return replaceChapter(page, "slides/rpo/91-journal.md", VERDICTS);
}

/** Makes the chapter the whole talk. */
export function withChapterAlone(page) {
  return onlyMarkdown(page, VERDICTS);
}

const FOLDER = "benchmarks/reference/rbd-journaling/aggregate";
/** A chapter for tests of the chart tools, independent of the talk. */
const TOOLS = `<!-- .slide: id="tools-panels" data-timing="10" -->
## Panels that are read together

The slide's own measure <!-- .element: class="measure" -->

<div class="panels shared-y">
<div class="panel"><h3>Sequential writes<span data-view="ratio">: as a ratio</span></h3><canvas data-chart="line" data-chart-src="${FOLDER}/ratio-throughput-write-seq.csv" data-chart-series="With journal"></canvas></div>
<div class="panel"><h3>Random writes</h3><canvas data-chart="line" data-chart-src="${FOLDER}/ratio-throughput-write-rand.csv" data-chart-series="With journal"></canvas></div>
</div>

<!-- Note -->
Words.


<!-- .slide: id="tools-steps" data-timing="10" -->
## Line by line

<canvas data-chart="line" data-chart-src="${FOLDER}/throughput-write-seq.csv" data-chart-series="Without journal | With journal | Journal mirrored" data-chart-steps="With journal | Journal mirrored" data-chart-marks="S1, journal = 30000000" data-source="S1"></canvas>

<!-- Note -->
Words.


<!-- .slide: id="tools-wide" data-timing="10" -->
## Many lines

<canvas data-chart="line" data-chart-src="${FOLDER}/throughput-write-seq.csv"></canvas>

<!-- Note -->
Words.


<!-- .slide: id="tools-words" data-timing="10" -->
## A slide without charts

<!-- Note -->
Words.


<!-- .slide: id="tools-read" data-timing="10" -->
## Reads, with a margin

<canvas data-chart="line" data-chart-src="${FOLDER}/ratio-throughput-read-seq.csv" data-chart-series="With journal"></canvas>

<!-- Note -->
Words.


<!-- .slide: id="tools-clients" data-timing="10" -->
## Clients

<canvas data-chart="line" data-chart-src="benchmarks/reference/client-sweep/aggregate/iops-randwrite-4096.csv"></canvas>

<!-- Note -->
Words.
`;

/** Makes the chapter of the chart tools the whole talk. */
export function withToolsChapterAlone(page) {
  return onlyMarkdown(page, TOOLS);
}

const SWEEP = "benchmarks/tentacle/client-sweep/aggregate";
const CLIENTS = `<!-- .slide: id="clients" data-timing="10" -->
## Clients

<div class="panels">
${["iops", "latency-mean", "latency-p99"]
  .map(
    (name) =>
      `<div class="panel"><canvas data-chart="line" data-chart-src="${SWEEP}/${name}-randwrite-4096.csv"></canvas></div>`,
  )
  .join("\n")}
</div>
`;

const moving = (id, chart) => `<!-- .slide: id="${id}" data-auto-animate data-timing="10" -->
## Writes

<div class="panels">
<div class="panel"><canvas data-id="write-seq" data-chart="line" data-chart-src="${FOLDER}/${chart}-write-seq.csv"></canvas></div>
<div class="panel"><canvas data-id="write-rand" data-chart="line" data-chart-src="${FOLDER}/${chart}-write-rand.csv"></canvas></div>
</div>

<!-- Note -->
It moves.
`;
const STILL = `<!-- .slide: id="between" data-timing="10" -->
## Between

<!-- Note -->
Nothing moves.
`;

/** Two slides whose charts move on from each other, and one beside them. */
export function withMoving(page) {
  const slides = [moving("bytes", "throughput"), moving("operations", "iops"), STILL];
  return onlyMarkdown(page, slides.join("\n\n"));
}

const HALF_HIDDEN = `<!-- .slide: id="half-hidden" data-timing="10" -->
## Writes

<div class="panels">
<div class="panel"><canvas data-chart="line" data-chart-src="${FOLDER}/throughput-write-seq.csv"></canvas></div>
<div class="panel" data-when="${CLAIM} not-measured"><canvas data-chart="line" data-chart-src="${SWEEP}/iops-randwrite-4096.csv"></canvas></div>
</div>
`;

/** A slide that draws one experiment, and hides another by a verdict, before that other one. */
export function withHalfHidden(page) {
  return onlyMarkdown(page, [HALF_HIDDEN, CLIENTS].join("\n\n"));
}

/** One slide, with all series of charts whose axis is a count of clients, beside these chapters. */
export function withClients(page, beside = []) {
  return onlyMarkdown(page, CLIENTS, beside);
}
