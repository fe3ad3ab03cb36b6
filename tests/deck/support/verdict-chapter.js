/** A chapter for tests, independent of the talk, in which every kind of text depends on one claim. */

import { onlyChapters } from "./chapters.js";

export const CLAIM = "journal-penalty-falls";
/** The chart to which the claim leads; a slide of the talk draws it. */
export const CHART = "rbd-journaling/iops-write-rand";
const CHAPTER = `<!-- .slide: id="verdicts" data-timing="10" -->
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


<!-- .slide: id="trials" data-timing="10" -->
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

/** The texts on the slide for a verdict, with the fixture's claims. */
export const SAID = {
  held: { title: "It falls: 1.9×", between: "1.9× to 2.0×", note: "Say that it falls: 1.9×." },
  refuted: {
    title: "It does not: 0.88×",
    between: "0.86× to 0.90×",
    note: "Say that it does not: 0.88×.",
  },
  "not measured": { title: "It is open", between: "not measured", note: "Say nothing of it." },
};

/** Puts the chapter in place of one of the talk's, also in the windows that the page opens. */
export function withChapter(page) {
  return page
    .context()
    .route("**/slides/91-journal.md", (route) =>
      route.fulfill({ contentType: "text/markdown; charset=utf-8", body: CHAPTER }),
    );
}

/** Makes the chapter the whole talk. */
export async function withChapterAlone(page) {
  await onlyChapters(page, ["slides/91-journal.md"]);
  await withChapter(page);
}
