/**
 * Charts of what a data set says as a whole, `benchmarks/<data set>/answer.csv` and `claims.json`: how the plugin reads these
 * files, and the names of their axes.
 */

import { CsvError, seriesNames } from "chartjs-plugin-csv";

import { answerModel, parseAnswer, waysOf } from "../data/answer.js";
import { wantedClaims } from "../data/claim-charts.js";
import { partsOf } from "../data/data-set.js";
import { releaseTitle } from "../data/provenance.js";

/** Campaigns of one claim are one set; only their mean and the reader's own campaign differ. */
const CAMPAIGN_LOOK = { color: "var(--ink-muted)", dash: [], pointStyle: "rect" };
const MEAN_LOOK = { color: "var(--ink)", dash: [], pointStyle: "rectRot" };
const OWN_LOOK = { color: "var(--series-5)", dash: [], pointStyle: "circle" };

/**
 * Chart.js options of such a chart; none for any other.
 * @param {{src: string|null, kind: string, canvas: HTMLCanvasElement, data: import("../data/data-on-show.js").DataOnShow}} chart
 *   src: as resolved
 * @returns {Promise<object>}
 */
export async function optionsOfDocument({ src, kind, canvas, data }) {
  const parts = src === null ? null : partsOf(src);
  if (parts?.document === "answer.csv")
    return { plugins: { csv: answerOptions(kind, parts.dataSet, { data, canvas }) } };
  if (parts?.document === "claims.json") return { plugins: { csv: await claimOptions(src, canvas, data) } };
  return {};
}

/** `data-chart-seconds` and `data-chart-loss`: how many squares are drawn, and which loss. */
function answerOptions(kind, dataSet, { data, canvas }) {
  const { chartSeconds, chartLoss } = canvas.dataset;
  const { price } = waysOf(data.about(dataSet).answer);
  // Heights of different kinds cannot be compared: the answer of another data set beside this one is drawn with its price.
  const drawn = { price, loss: chartLoss, ...(chartSeconds && { seconds: Number(chartSeconds) }) };
  const read = reading(
    parseAnswer,
    (answer) => answerModel(kind, answer, drawn),
    "is no answer.csv; derive the data again",
  );
  if (kind === "squares") return { read, yUnit: "seconds", square: "one second of writes" };
  return {
    read,
    xUnit: "seconds",
    yUnit: price?.unit ?? null,
    xTitle: "Seconds of confirmed writes lost with the first site, worst trial →",
    yTitle: price?.title ?? "What a write pays",
    ends: { zero: "nothing", infinite: "everything" },
  };
}

async function claimOptions(src, canvas, data) {
  const { COMPARED, MEAN, claimsModel } = await import("../data/claims-model.js");
  const wanted = wantedClaims(canvas.dataset);
  const more = (seriesNames(canvas.dataset.chartMore) ?? []).map((one) => data.resolve(one, canvas));
  const read = reading(
    JSON.parse,
    (document) =>
      claimsModel(document, wanted, {
        byCampaign: more.length === 0,
        isJudged: canvas.dataset.chartJudged !== "false",
      }),
    "is no claims.json; derive the data again",
  );
  const names = await Promise.all(
    [src, ...more].map(async (one) => {
      const { dataSet: name } = partsOf(one);
      return releaseTitle({ name, manifest: data.manifestOf(name) ?? (await data.other(name)).manifest });
    }),
  );
  const options = { read, yUnit: "ratio" };
  if (more.length > 0) return { ...options, names };
  if (wanted.length > 1) return options;
  const own = COMPARED.map((ending) => [partsOf(src).dataSet + ending, OWN_LOOK]);
  return { ...options, palette: [CAMPAIGN_LOOK], styles: Object.fromEntries([[MEAN, MEAN_LOOK], ...own]) };
}

/** Reads a text, and says in one sentence that it is not what it should be. */
function reading(parse, modelOf, problem) {
  return (text, url) => {
    let content;
    try {
      content = parse(text);
    } catch (cause) {
      throw new CsvError(problem, { url, kind: "header", cause });
    }
    return modelOf(content);
  };
}
