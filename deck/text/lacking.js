/** Which slides the data on show have nothing for: a data set may have the file of a chart, and none of what the chart names. */

import { seriesNames } from "chartjs-plugin-csv";

import { waysOf } from "../data/answer.js";
import { wantedClaims } from "../data/claim-charts.js";
import { partsOf } from "../data/data-set.js";
import { chartEntry } from "../data/provenance.js";
import { canvasesOf } from "./canvases.js";
import { verdictOf } from "./verdict-text.js";

/**
 * Whether a slide of the talk has charts or claims, and the data on show have none of them. Where verdicts hide all charts,
 * one without data is why. The appendix takes no time, and says what was not measured when it is asked. The slide with the
 * talk's address stays with any data.
 * @param {Element} slide   its texts are chosen
 * @param {import("../data/data-on-show.js").DataOnShow} data
 */
export function lacksData(slide, data) {
  if (slide.closest('[data-visibility="uncounted"]') || slide.querySelector("[data-qr]")) return false;
  const lacks = (canvas) => {
    const src = data.resolve(canvas.dataset.chartSrc, canvas);
    const parts = partsOf(src);
    if (parts === null) return false;
    return data.has(src) === false || !holdsAnything(src, canvas.dataset, data.about(parts.dataSet));
  };
  const charts = [...slide.querySelectorAll("canvas[data-chart-src]")];
  const drawn = canvasesOf(slide).filter(({ dataset }) => dataset.chartSrc);
  if (charts.length > 0) return drawn.length > 0 ? drawn.every(lacks) : charts.some(lacks);
  const releaseClaims = slide.querySelector("[data-claims]")?.dataset.claims;
  const { claims } = data.about();
  if (releaseClaims === undefined || claims === null) return false;
  return !holdsClaim(wantedClaims({ releaseClaims }), claims);
}

/**
 * Whether a data set holds anything that a chart is to draw. Pure.
 * @param {string} src   address of the chart's file
 * @param {DOMStringMap} dataset   of its canvas
 * @param {{answer: object|null, claims: object|null, manifest: object|null}} documents   of the chart's data set, null if
 *   they could not be read
 * @returns {boolean} true as well for a file that only a chart can read
 */
export function holdsAnything(src, dataset, { answer, claims, manifest }) {
  const file = partsOf(src)?.document;
  if (file === "answer.csv" && answer !== null) return hasWay(dataset, answer);
  if (file === "claims.json" && claims !== null) return holdsClaim(wantedClaims(dataset), claims);
  const names = seriesNames(dataset.chartSeries);
  const series = chartEntry(src, manifest)?.series;
  return names === null || !series || names.some((name) => series.includes(name));
}

/** Whether a verdict, or the reason for none, was found for one of the claims. */
export function holdsClaim(wanted, claims) {
  return wanted.some(({ id }) => verdictOf(id, claims) !== "not-measured");
}

/** A chart of losses needs a way of which the loss is known; no mirroring loses everything, which nobody measured. */
function hasWay({ chart, chartLoss = "worst", chartSeries }, answer) {
  const names = seriesNames(chartSeries);
  const ways = waysOf(answer).modes.filter(({ label }) => names === null || names.includes(label));
  const hasLoss = (way) => typeof way[chartLoss] === "number";
  if (chart === "squares") return ways.some(hasLoss);
  if (chart === "forest") return ways.some(({ price }) => price !== null);
  return ways.some((way) => hasLoss(way) && way.price !== null);
}
