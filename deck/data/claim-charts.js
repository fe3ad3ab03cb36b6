/** Claims as charts draw them: the estimates of claims.json with their intervals and regions. Pure. */

import { VERDICT_SIGNS, decidingName, isCount } from "./claims.js";
import { unbroken } from "./format.js";

/**
 * The claims that a chart asks for: `data-chart-claims="cache on = CLAIM.CONDITION | CLAIM"`, or with `data-release-claims` their
 * ids alone. Without a condition it is the one that decided the verdict; without a label, the claim's sentence.
 * @param {{chartClaims?: string, releaseClaims?: string}} dataset   of a canvas
 * @returns {{label: string|null, id: string, condition: string|null}[]}
 */
export function wantedClaims({ chartClaims, releaseClaims }) {
  const parts = chartClaims ? chartClaims.split("|") : (releaseClaims ?? "").split(/\s+/);
  return parts
    .map((part) => part.trim())
    .filter(Boolean)
    .map((part) => {
      const equals = part.lastIndexOf("=");
      const [id, condition = null] = part
        .slice(equals + 1)
        .trim()
        .split(".");
      return { label: equals < 0 ? null : part.slice(0, equals).trim(), id, condition };
    });
}

const X = "Estimate";

/**
 * A series for each claim with its estimate and, where several campaigns measured it, what another one may be expected to
 * find. A claim that the data lack has no value. A single claim of several campaigns has a series for each of these, and their
 * mean.
 * @param {object} document   claims.json
 * @param {ReturnType<typeof wantedClaims>} wanted
 * @param {{byCampaign?: boolean, isJudged?: boolean}} [options]   byCampaign: false for one estimate of a single claim, too;
 *   isJudged: with the region of the claim and its verdict
 * @returns {import("chartjs-plugin-csv").Model}
 */
export function claimsModel(document, wanted, { byCampaign = true, isJudged = true } = {}) {
  const series = wanted.map(({ label, id, condition }) => {
    const claim = document.claims?.[id];
    const found = claim?.conditions?.[condition ?? decidingName(claim)];
    const isShown = found && !isCount(found) && found.estimate > 0;
    const { region, ...estimated } = isShown ? found : {};
    const judged = isJudged ? { ...estimated, region } : estimated;
    const point = pointOf(judged, { ends: isShown ? found.prediction : null });
    if (isJudged) point.note = VERDICT_SIGNS[claim?.verdict] ?? "";
    return { name: label ?? unbroken(claim?.sentence ?? id), points: [point], found: isShown ? found : null };
  });
  const campaigns = byCampaign && series.length === 1 ? campaignsOf(series[0].found) : [];
  return {
    kind: "wide",
    xLabel: "Claim",
    xs: [X],
    series: campaigns.length ? campaigns : series.map(({ name, points }) => ({ name, points })),
  };
}

/** Each campaign's estimate and their mean; none if there is one campaign only. */
function campaignsOf(condition) {
  const { campaigns = [], mean = null, prediction = null, region } = condition ?? {};
  if (campaigns.length < 2) return [];
  const isName = (name) => campaigns.filter((one) => one.name === name).length === 1;
  return [
    ...campaigns.map((one) => ({
      name: isName(one.name) ? one.name : `${one.name}, ${one.host}`,
      points: [{ ...pointOf({ ...one, region }), note: VERDICT_SIGNS[one.verdict] ?? "" }],
    })),
    ...(mean ? [{ name: "Mean", points: [pointOf({ ...mean, region }, { ends: prediction })] }] : []),
  ];
}

function pointOf(
  { estimate = null, low = null, high = null, n = null, region = null },
  { ends = null } = {},
) {
  return { x: X, y: estimate, low, high, n, region, ...(ends ? { min: ends.low, max: ends.high } : {}) };
}
