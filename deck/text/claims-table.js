/**
 * The table of claims: what each says, what was found, and the verdict by word, sign and colour. A sentence leads to the
 * slide that draws its chart. The reason of a verdict is text of its row: where there is a figure it is shown while the
 * row is pointed at or has the focus, else it stands in the figure's place.
 */

import { claimRows, estimateText, isCount } from "../data/claims.js";
import { partsOf } from "../data/data-set.js";
import { drawForestPlot } from "./forest-plot.js";
import { unbroken } from "../data/format.js";
import { element } from "../page/elements.js";
import { renewChildren } from "../page/in-place.js";

/** A verdict is told by its word and its sign; colour only helps. */
const SIGNS = {
  held: "✓",
  refuted: "✗",
  inconclusive: "?",
  "not testable here": "–",
  "not measured": "·",
};

/**
 * Writes or brings up to date every `[data-claims]` below `root`.
 * @param {Element} root   the deck: charts are looked for in it
 * @param {object|null} claimsDocument   claims.json; the attribute lists the claims' ids, or none for all
 */
export function writeClaims(root, claimsDocument) {
  [...root.querySelectorAll("[data-claims]")].forEach((place, position) => {
    const ids = place.dataset.claims.split(/\s+/).filter(Boolean);
    const rows = claimRows(claimsDocument, ids).map((row) => ({
      ...row,
      slide: slideOfChart(root, row.chart, row.id),
      detailsId: `claims-${position}-${row.id}`,
    }));
    const page = place.ownerDocument;
    const content = rows.length ? tableOf(rows, Boolean(claimsDocument.altered), page) : absent(page);
    renewChildren(place, [content]);
  });
}

/**
 * The slide that draws a claim's chart: the first that also speaks of the claim, else the first.
 * @param {Element} root
 * @param {string|null} chart   `<experiment>/<name>`, as claims.json has it
 * @param {string} claim   its id
 * @returns {string|null} its id
 */
export function slideOfChart(root, chart, claim) {
  if (chart === null) return null;
  const slides = [...root.querySelectorAll("canvas[data-chart-src]")]
    .filter((one) => {
      const parts = partsOf(one.dataset.chartSrc);
      return parts !== null && `${parts.experiment}/${parts.chart}` === chart;
    })
    .map((one) => one.closest("section[id]"))
    .filter((slide) => slide !== null);
  const speaks = (slide) =>
    slide.querySelector(`[data-when^="${claim} "], data[value^="${claim}."]`) !== null;
  return (slides.find(speaks) ?? slides[0])?.id ?? null;
}

function absent(page) {
  return element(page, "p", {}, "This data set has no claims.json: derive it again.");
}

function tableOf(rows, altered, page) {
  const table = element(page, "table", { class: "claims" });
  if (altered) table.append(element(page, "caption", {}, "ALTERED DATA"));
  const head = element(page, "tr");
  for (const title of ["Claim", "Source", "Found", "Region", "Verdict"])
    head.append(element(page, "th", { scope: "col" }, title));
  table.append(
    element(page, "thead", {}, head),
    element(page, "tbody", {}, ...rows.map((row) => lineOf(row, page))),
  );
  return table;
}

function lineOf(row, page) {
  const make = (...given) => element(page, ...given);
  const described = { "aria-describedby": row.detailsId };
  const text = unbroken(row.sentence);
  const sentence = row.slide === null ? text : make("a", { href: `#/${row.slide}`, ...described }, text);
  const source = row.sourceTitle ? make("abbr", { title: row.sourceTitle }, row.source) : row.source;
  const verdict = make(
    "td",
    { class: `verdict ${row.verdict.replaceAll(" ", "-")}` },
    make("span", { "aria-hidden": "true" }, `${SIGNS[row.verdict] ?? ""} `),
    row.verdict,
  );
  const reason = unbroken(row.reason);
  const details = row.sourceTitle ? `${row.source}: ${row.sourceTitle}. ${reason}` : reason;
  const plot = row.condition && drawCondition(row.condition, page);
  const line = make("tr", {}, make("td", {}, sentence), make("td", {}, source));
  if (plot) {
    // Without a link the picture takes the focus, so that the reason can be had with the keyboard too.
    if (row.slide === null) plot.setAttribute("tabindex", "0");
    line.append(make("td", {}, estimateText(row.condition)), make("td", {}, plot));
    verdict.append(make("span", { class: "details", id: row.detailsId }, details));
  } else {
    line.append(make("td", { class: "reason", colspan: "2", id: row.detailsId }, reason));
  }
  line.append(verdict);
  return line;
}

/** What a condition needs and what was found: a picture of a ratio; of a count in words. Null without an estimate. */
function drawCondition(condition, page) {
  if (!isCount(condition)) return drawForestPlot(condition, page);
  if (!Number.isFinite(condition.estimate)) return null;
  return element(page, "span", {}, `exactly ${condition.region.low}`);
}
