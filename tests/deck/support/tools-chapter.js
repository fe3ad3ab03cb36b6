/** A chapter for tests of the chart tools, independent of the talk. */

const FOLDER = "benchmarks/reference/rbd-journaling/aggregate";
const CHAPTER = `<!-- .slide: id="tools-panels" data-timing="10" -->
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

/** Puts the chapter in place of one of the talk's, also in the windows that the page opens. */
export function withToolsChapter(page) {
  return page
    .context()
    .route("**/slides/91-journal.md", (route) =>
      route.fulfill({ contentType: "text/markdown; charset=utf-8", body: CHAPTER }),
    );
}
