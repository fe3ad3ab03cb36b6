/** Claims as charts draw them: the estimates of claims.json with their intervals and regions. Pure. */

import { VERDICT_SIGNS, decidingName, isCount } from "./claims.js";
import { unbroken } from "./format.js";

const X = "Estimate";
/** The name of the mean of campaigns, and the ends of the name of a data set that is compared with them. */
export const MEAN = "Mean";
export const COMPARED = [": no prediction", ": as expected", ": unexpected", ": not settled"];
const [UNKNOWN, EXPECTED, UNEXPECTED, UNSETTLED] = COMPARED;

/**
 * A series for each claim with its estimate and, where several campaigns measured it, what another one may be expected to
 * find. A claim that the data lack has no value. A single claim of several campaigns has a series for each of these, and their
 * mean.
 * @param {object} document   claims.json
 * @param {ReturnType<typeof import("./claim-charts.js").wantedClaims>} wanted
 * @param {{byCampaign?: boolean, isJudged?: boolean}} [options]   byCampaign: false for one estimate of a single claim, too;
 *   isJudged: with the region of the claim and its verdict
 * @returns {import("chartjs-plugin-csv").Model}
 */
export function claimsModel(document, wanted, { byCampaign = true, isJudged = true } = {}) {
  const series = wanted.map(({ label, id, condition, isInverse = false }) => {
    const claim = document.claims?.[id];
    const given = claim?.conditions?.[condition ?? decidingName(claim)];
    const isShown = given && !isCount(given) && given.estimate > 0;
    const found = isShown && isInverse ? inverseOf(given) : given;
    const { region, ...estimated } = isShown ? found : {};
    const judged = isJudged ? { ...estimated, region } : estimated;
    const point = pointOf(judged, { ends: isShown ? found.prediction : null });
    if (isJudged) point.note = VERDICT_SIGNS[claim?.verdict] ?? "";
    return { name: label ?? unbroken(claim?.sentence ?? id), points: [point], found: isShown ? found : null };
  });
  const campaigns = byCampaign && series.length === 1 ? campaignsOf(series[0].found, document.data_set) : [];
  return {
    kind: "wide",
    xLabel: "Claim",
    xs: [X],
    series: campaigns.length ? campaigns : series.map(({ name, points }) => ({ name, points })),
  };
}

/** A ratio the other way round; of a single campaign. */
function inverseOf({ estimate, n, region, prediction, ...ends }) {
  return {
    n,
    estimate: 1 / estimate,
    ...endsOfInverse(ends),
    region: region && endsOfInverse(region),
    prediction: prediction && endsOfInverse(prediction),
  };
}

/** An end that is open, or 0, stays open. */
function endsOfInverse({ low, high }) {
  return { low: high ? 1 / high : null, high: low ? 1 / low : null };
}

/**
 * Each campaign's estimate, that of a data set which is none of them and whether it is what they let expect, and their mean;
 * none if there is one campaign only.
 */
function campaignsOf(condition, dataSet) {
  const { campaigns = [], mean = null, prediction = null, region } = condition ?? {};
  if (campaigns.length < 2) return [];
  const nameOf = (one, at) => {
    const isSame = ({ name }) => name === one.name;
    // A bundle does not say which hosts they were.
    const host = one.host ?? `host ${campaigns.slice(0, at + 1).filter(isSame).length}`;
    // One that repeats a headline is told by its day.
    const name = one.name.replace(/^replicate-(?=\d)/, "");
    return campaigns.filter(isSame).length === 1 ? name : `${name}, ${host}`;
  };
  // A bundle adds its ending to the name of the data set that it holds.
  const isOwn = dataSet && campaigns.every(({ name }) => ![name, `${name}.bundle`].includes(dataSet));
  const own = { ...pointOf(condition), note: VERDICT_SIGNS[condition.verdict] ?? "" };
  return [
    ...campaigns.map((one, at) => ({
      name: nameOf(one, at),
      points: [{ ...pointOf({ ...one, region }), note: VERDICT_SIGNS[one.verdict] ?? "" }],
    })),
    ...(isOwn ? [{ name: `${dataSet}${comparedWith(prediction, condition)}`, points: [own] }] : []),
    ...(mean ? [{ name: MEAN, points: [pointOf({ ...mean, region }, { ends: prediction })] }] : []),
  ];
}

/**
 * Whether an estimate lies where the next campaign's true ratio is to be expected, as the end of its name. It has an error of its
 * own, so only an interval that lies wholly elsewhere is unexpected.
 */
function comparedWith(prediction, { estimate, low, high }) {
  if (!prediction) return UNKNOWN;
  if (prediction.low <= estimate && estimate <= prediction.high) return EXPECTED;
  const isElsewhere = Number.isFinite(low) && (low > prediction.high || high < prediction.low);
  return isElsewhere ? UNEXPECTED : UNSETTLED;
}

function pointOf(
  { estimate = null, low = null, high = null, n = null, region = null },
  { ends = null } = {},
) {
  return { x: X, y: estimate, low, high, n, region, ...(ends ? { min: ends.low, max: ends.high } : {}) };
}
