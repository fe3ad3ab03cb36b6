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

/**
 * A series for each claim with its estimate. A claim that the data lack has no value.
 * @param {object} document   claims.json
 * @param {ReturnType<typeof wantedClaims>} wanted
 * @param {{isJudged?: boolean}} [shown]   isJudged: with the region of the claim and its verdict
 * @returns {import("chartjs-plugin-csv").Model}
 */
export function claimsModel(document, wanted, { isJudged = true } = {}) {
  const x = "Estimate";
  const series = wanted.map(({ label, id, condition }) => {
    const claim = document.claims?.[id];
    const found = claim?.conditions?.[condition ?? decidingName(claim)];
    const isShown = found && !isCount(found) && found.estimate > 0;
    const { estimate = null, low = null, high = null, n = null, region = null } = isShown ? found : {};
    const judged = isJudged ? { region, note: VERDICT_SIGNS[claim?.verdict] ?? "" } : {};
    const point = { x, y: estimate, low, high, n, ...judged };
    return { name: label ?? unbroken(claim?.sentence ?? id), points: [point] };
  });
  return { kind: "wide", xLabel: "Claim", xs: [x], series };
}
