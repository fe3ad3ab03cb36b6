/**
 * The label of each slide with charts, or with a claim's verdict or estimate in its text: data set, releases, n, date, limiter,
 * and whether a claim on the slide is exploratory. One line for each data set, below all charts of the slide.
 * Rewriting the line's text keeps anything that other modules have appended.
 */

import { seriesNames } from "chartjs-plugin-csv";

import { answerOrigin } from "../data/answer.js";
import { ceilingWords, ceilingsOf } from "../data/ceilings.js";
import { anyExploratory, EXPLORATORY } from "../data/claims.js";
import { wantedClaims } from "../data/claim-charts.js";
import { marginOf, marginWords } from "../data/margin.js";
import { canvasesOf } from "./canvases.js";
import { partsOf } from "../data/data-set.js";
import { isOwnFile, ownOrigin } from "../data/own-file.js";
import { element } from "../page/elements.js";
import { slidesIn } from "./slide-data.js";
import { chartEntry, provenance } from "../data/provenance.js";

const CLASS = "provenance";

/**
 * Writes or rewrites the labels at and below `root`.
 * @param {Element} root
 * @param {import("../data/data-on-show.js").DataOnShow} data
 * @param {{claims: object|null, answer: object|null}} documents   claims.json and answer.csv of their data set
 */
export function writeLabels(root, data, documents) {
  for (const slide of slidesIn(root)) labelSlide(slide, data, documents);
}

/**
 * Writes or rewrites the label of one slide, if it shows charts or says what became of claims. Charts that the current verdicts
 * hide do not count.
 */
export function labelSlide(slide, data, { claims, answer }) {
  const { resolve, manifestOf } = data;
  const canvases = canvasesOf(slide).filter((canvas) => canvas.dataset.chartSrc);
  const addresses = canvases.map((canvas) => shownSources(canvas, resolve)[0]);
  const sources = canvases.length
    ? [...new Set(canvases.flatMap((canvas, at) => sourcesOf(canvas, addresses[at], data, claims)))]
    : sourcesOfClaims(claimsOn(slide), claims, manifestOf);
  if (sources.length === 0) {
    slide.querySelector(`:scope > .${CLASS}`)?.remove();
    return;
  }
  const origin = originOf(sources, data, answer);
  const lines = canvases.flatMap((canvas, at) =>
    ceilingsOf(canvas.dataset.chartCeiling, manifestOf(partsOf(addresses[at])?.dataSet)),
  );
  const margins = canvases.map((canvas, at) => {
    const entry = chartEntry(addresses[at], manifestOf(partsOf(addresses[at])?.dataSet));
    return marginOf(entry, seriesNames(canvas.dataset.chartSeries));
  });
  const words = [...new Set(margins.filter(Boolean).map(marginWords))].map((text) => `shaded: ${text}`);
  const registered = anyExploratory(claims, claimsOn(slide)) ? `${EXPLORATORY} verdict` : null;
  writeOrigin(
    labelOf(slide),
    [origin, registered, ...words, ceilingWords(lines)].filter(Boolean).join(" · "),
  );
}

const isAnswer = (src) => partsOf(src)?.document === "answer.csv";

/**
 * Where charts come from, a part for each data set.
 * @param {string[]} sources   addresses
 * @param {import("../data/data-on-show.js").DataOnShow} data
 * @param {object|null} answer   answer.csv of the first one
 */
export function originOf(sources, { manifestOf, alterationsOf, digestOf }, answer) {
  const [first, ...others] = byDataSet(sources).map((group, at) => {
    if (isOwnFile(group[0])) return ownOrigin(group, digestOf);
    const name = partsOf(group[0])?.dataSet;
    const words = [
      provenance(group, manifestOf(name), alterationsOf(name)),
      // The answer is that of the chart's own data set, which is the first.
      at === 0 && group.some(isAnswer) && answerOrigin(answer),
    ];
    return words.filter(Boolean).join(" · ");
  });
  return [first, ...others.map((origin) => inShort(origin, first))].join("; ");
}

/** What a further data set has in common with the first one is not said again. */
function inShort(origin, first) {
  const [name, ...words] = origin.split(/: | · /);
  const said = first.split(/: | · /);
  const rest = words.filter((word) => !said.includes(word));
  return rest.length > 0 ? `${name}: ${rest.join(" · ")}` : name;
}

/** What a canvas shows: its files, or the charts from which the claims that it shows were judged. */
export function sourcesOf(canvas, address, { manifestOf, resolve }, claims) {
  const [, ...further] = shownSources(canvas, resolve);
  if (partsOf(address)?.document !== "claims.json") return [address, ...further];
  const ids = wantedClaims(canvas.dataset).map(({ id }) => id);
  const judged =
    claims?.data_set === partsOf(address).dataSet ? sourcesOfClaims(ids, claims, manifestOf) : [];
  return [...(judged.length ? judged : [address]), ...further];
}

/** The ids on a slide that may be those of claims: from everything that depends on one, except in the notes. */
function claimsOn(slide) {
  const names = [...slide.querySelectorAll("[data-when], data[value]")]
    .filter((part) => part.closest("aside.notes") === null)
    .map((part) => (part.dataset.when ?? part.getAttribute("value")).split(/[\s.]/)[0]);
  const drawn = canvasesOf(slide).flatMap(({ dataset }) => wantedClaims(dataset).map(({ id }) => id));
  return [...new Set([...names, ...drawn])];
}

/** The addresses of the charts from which claims were judged, as far as the manifest has them. */
function sourcesOfClaims(ids, document, manifestOf) {
  const set = document?.data_set;
  const charts = ids
    .map((id) => (Object.hasOwn(document?.claims ?? {}, id) ? document.claims[id] : null))
    .filter((claim) => claim?.chart && claim.verdict !== "not measured")
    .map(({ chart }) => `benchmarks/${set}/${chart.replace("/", "/aggregate/")}.csv`);
  return [...new Set(charts)].filter((src) => chartEntry(src, manifestOf(set)) !== null);
}

/** The addresses of the files that a canvas shows: its own, or the one that a reader chose, then those beside it. */
export function shownSources(canvas, resolve) {
  const { chartShown, chartSrc, chartMore } = canvas.dataset;
  return [chartShown ?? chartSrc, ...(seriesNames(chartMore) ?? [])].map((src) => resolve(src, canvas));
}

/** The line under a slide's charts; created if missing. */
export function labelOf(slide) {
  const present = slide.querySelector(`:scope > .${CLASS}`);
  if (present) return present;
  const label = element(slide.ownerDocument, "p", { class: CLASS });
  // Keep the notes as the slide's last element, where reveal put them.
  slide.insertBefore(label, slide.querySelector(":scope > aside.notes"));
  return label;
}

function writeOrigin(label, text) {
  const first = label.firstChild;
  if (first?.nodeType !== 3) label.prepend(text);
  else if (first.data !== text) first.data = text;
}

/** Addresses grouped by their data set, in order of appearance; files of the author's own are a group. */
export function byDataSet(sources) {
  const groups = new Map();
  for (const src of sources) {
    const name = isOwnFile(src) ? null : (partsOf(src)?.dataSet ?? "");
    groups.set(name, [...(groups.get(name) ?? []), src]);
  }
  return [...groups.values()];
}
