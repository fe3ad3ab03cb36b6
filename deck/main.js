/** Starts the deck: chapters, numbers, charts, and the news of changed data. */
/* global __REPLAY_HOMEPAGE__ -- the public address of the project, put in when the deck is bundled */

import { Chart } from "chart.js";
import { RevealChartCsv } from "chartjs-plugin-csv/reveal";
import Reveal from "reveal.js";
import RevealMarkdown from "reveal.js/plugin/markdown";
import RevealNotes from "reveal.js/plugin/notes";

import { makeReadable } from "./accessibility.js";
import { CeilingLines } from "./ceilings.js";
import { CHART_OPTIONS, SERIES_STYLES, optionsFor } from "./chart-styles.js";
import { writeClaims } from "./claims-table.js";
import { loadChapters } from "./chapters.js";
import { DataOnShow } from "./data-on-show.js";
import { partsOf } from "./data-set.js";
import { writeLabels } from "./labels.js";
import { chartFileOf, listen } from "./live.js";
import { showDataSetProblem } from "./notice.js";
import { chartEntry } from "./provenance.js";
import { drawQrCodes, qrTarget } from "./qr.js";
import { chooseSeries } from "./series-choice.js";
import { shareAxes } from "./shared-axis.js";
import { numbersFrom } from "./sources.js";
import { applyTheme, colorOf, onThemeChange } from "./theme.js";
import { chooseTexts } from "./verdict-text.js";

const root = document.querySelector(".reveal");
applyTheme();

const meta = (name) => document.querySelector(`meta[name="replay:${name}"]`)?.content ?? null;
const frozen = meta("frozen");
const data = new DataOnShow({ search: location.search, usual: meta("data-set"), frozen });
const fonts = Promise.all(["400", "700"].map((weight) => document.fonts.load(`${weight} 20px Inter`)));
await Promise.all([loadChapters(root), data.load(), fonts]);
if (data.problem) {
  const { problem, dataSet: shown, available } = data;
  showDataSetProblem({ problem, shown, available, frozen: frozen !== null });
}

const numbers = numbersFrom({ manifest: () => data.manifest, claims: () => data.claims });
/** The manifest of a chart's data set, or null. */
function manifestOf(src) {
  return data.manifestOf(partsOf(data.resolve(src))?.dataSet);
}

/** What that manifest says of the chart, or null. */
function entryOf(src) {
  return chartEntry(data.resolve(src), manifestOf(src));
}

const charts = RevealChartCsv({
  resolve: (src) => data.resolve(src),
  styles: SERIES_STYLES,
  options: CHART_OPTIONS,
  chartOptions: (kind, src) => optionsFor(kind, src, colorOf, src && entryOf(src)),
});
Chart.register(CeilingLines({ manifestOf, entryOf, colorOf }));
chooseSeries(root);
shareAxes(root);

/** Everything that depends on the data and is not a chart. */
function writeTexts() {
  numbers.bind(root, { shipped: data.shipped });
  chooseTexts(root, data.claims);
  writeClaims(root, data.claims);
  writeLabels(root, { resolve: (src) => data.resolve(src), manifestOf: (name) => data.manifestOf(name) });
}

const deck = new Reveal(root, {
  width: 1280,
  height: 720,
  margin: 0,
  minScale: 0.1,
  maxScale: 4,
  center: false,
  display: "flex",
  controls: false,
  progress: true,
  slideNumber: "c",
  hash: true,
  transition: "none",
  backgroundTransition: "none",
  // Each slide says how long it takes; the value given here only tells the speaker view to show the pace.
  defaultTiming: 60,
  pdfMaxPagesPerSlide: 1,
  pdfSeparateFragments: false,
  plugins: [RevealMarkdown, { id: "replay-texts", init: writeTexts }, RevealNotes, charts],
});
await deck.initialize();
const nameSlide = makeReadable(deck);
onThemeChange(() => charts.restyle());
drawQrCodes(root, qrTarget(__REPLAY_HOMEPAGE__, location));

/** Reads changed files again, in place. `files` are addresses; null stands for anything. */
async function follow(files) {
  if (files === null || files.some((file) => !file.endsWith(".csv"))) await data.load();
  else await data.loadList();
  writeTexts();
  nameSlide();
  const changed = files && new Set(files.map(chartFileOf));
  await charts.refresh((slot) => {
    if (data.moved(slot)) return false;
    return changed === null || changed.has(slot.url);
  });
  // The speaker view copies the notes of a slide when the deck tells it something.
  deck.dispatchEvent({ type: "resumed" });
}

/** One piece of news after the other, so that what was read later is not overwritten by what was read before. */
let latest = Promise.resolve();
function followInTurn(files) {
  latest = latest.finally(() => follow(files));
}

listen({
  onData: followInTurn,
  onMissed: () => followInTurn(null),
  onSource: () => location.reload(),
});

// For tests and for the console.
window.replay = { deck, charts, data, numbers };
document.documentElement.dataset.deckReady = "true";
