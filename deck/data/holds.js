/** Whether a data set holds anything that a chart is to draw: it may have the file, and none of what the chart names. Pure. */

import { seriesNames } from "chartjs-plugin-csv";

import { waysOf } from "./answer.js";
import { wantedClaims } from "./claim-charts.js";
import { partsOf } from "./data-set.js";

/**
 * @param {string} src   address of the chart's file
 * @param {DOMStringMap} dataset   of its canvas
 * @param {{answer: object|null, claims: object|null}} documents   of the chart's data set, null if they could not be read
 * @returns {boolean} true as well for a file that only a chart can read
 */
export function holdsAnything(src, dataset, { answer, claims }) {
  const file = partsOf(src)?.document;
  if (file === "answer.csv" && answer !== null) return hasWay(dataset, answer);
  if (file === "claims.json" && claims !== null) return holdsClaim(wantedClaims(dataset), claims);
  return true;
}

/** Whether a verdict, or the reason for none, was found for one of the claims. */
export function holdsClaim(wanted, claims) {
  return wanted.some(({ id }) => (claims.claims?.[id]?.verdict ?? "not measured") !== "not measured");
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
