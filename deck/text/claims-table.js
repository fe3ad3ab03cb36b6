/**
 * The table of claims: each sentence, the finding, and the verdict by word, sign and colour. A sentence links to the slide
 * that draws its chart. The reason for a verdict is part of its row: if there is a figure, the reason appears on hover or
 * focus, else it takes the figure's place.
 */

import { claimRows, isSetupCheck } from "../data/claim-rows.js";
import { EXPLORATORY, VERDICT_SIGNS, estimateText, regionText } from "../data/claims.js";
import { partsOf } from "../data/data-set.js";
import { unbroken } from "../data/format.js";
import { element } from "../page/elements.js";
import { renewChildren } from "../page/in-place.js";
import { describeCells } from "./stacked-tables.js";

const EXPLORATORY_SIGN = "†";

const SETUP_CHECKS = "Checks of the set-up: they say nothing about storage";

/**
 * Writes or updates every `[data-claims]` below `root`.
 * @param {Element} root
 * @param {object|null} claimsDocument   claims.json; the attribute lists the claims' ids, or none for all
 * @param {object|null} manifest   of the same data set
 * @param {Element} page   in which charts are looked for
 */
export function writeClaims(root, claimsDocument, manifest = null, page = root) {
  [...root.querySelectorAll("[data-claims]")].forEach((place, position) => {
    const ids = place.dataset.claims.split(/\s+/).filter(Boolean);
    const rows = claimRows(claimsDocument, ids, manifest).map((row) => ({
      ...row,
      slide: slideOfChart(page, row.chart, row.id),
      detailsId: `claims-${homeOf(place)}-${position}-${row.id}`,
    }));
    const { ownerDocument } = place;
    const content = rows.length
      ? tableOf(rows, Boolean(claimsDocument.altered), ownerDocument)
      : absent(claimsDocument, ownerDocument);
    renewChildren(place, [content]);
  });
}

/** Tells tables of different slides apart. */
function homeOf(place) {
  return place.closest?.("section[id]")?.id ?? "page";
}

/**
 * The slide that draws a claim's chart: the first one that draws it in either view, as ratios or not, and mentions
 * the claim, else the first one that draws it.
 * @param {Element} root
 * @param {string|null} chart   `<experiment>/<name>`, as claims.json has it
 * @param {string} claim   its id
 * @returns {string|null} its id
 */
export function slideOfChart(root, chart, claim) {
  if (chart === null) return null;
  const inAnyView = (name) => name.replace("/ratio-", "/");
  const drawn = [...root.querySelectorAll("canvas[data-chart-src]")]
    .map((canvas) => ({ parts: partsOf(canvas.dataset.chartSrc), slide: canvas.closest("section[id]") }))
    .filter(({ parts, slide }) => parts !== null && slide !== null)
    .map(({ parts, slide }) => ({ name: `${parts.experiment}/${parts.chart}`, slide }))
    .filter(({ name }) => inAnyView(name) === inAnyView(chart));
  const speaks = ({ slide }) =>
    slide.querySelector(`[data-when^="${claim} "], data[value^="${claim}."]`) !== null;
  return (drawn.find(speaks) ?? drawn.find(({ name }) => name === chart))?.slide.id ?? null;
}

function absent(claimsDocument, page) {
  const words = claimsDocument
    ? "This data set says nothing about these claims."
    : "This data set has no claims.json. Derive it again.";
  return element(page, "p", {}, words);
}

function tableOf(rows, altered, page) {
  const table = element(page, "table", { class: "claims" });
  if (altered) table.append(element(page, "caption", {}, "ALTERED DATA"));
  const head = element(page, "tr");
  for (const title of ["Claim", "Source", "Found", "Region", "Verdict"])
    head.append(element(page, "th", { scope: "col", "data-title": title }, title));
  // Rows show only the sign, so that they stay short; each also has the word for people who cannot see the sign.
  if (rows.some((row) => row.exploratory !== null)) {
    const key = { class: EXPLORATORY, "aria-hidden": "true" };
    head.lastElementChild.append(element(page, "small", key, `${EXPLORATORY_SIGN} ${EXPLORATORY}`));
  }
  table.append(
    element(page, "thead", {}, head),
    element(page, "tbody", {}, ...rows.filter((row) => !isSetupCheck(row)).map((row) => lineOf(row, page))),
  );
  const checks = rows.filter(isSetupCheck);
  if (checks.length > 0) {
    const title = element(page, "th", { scope: "colgroup", colspan: "5" }, SETUP_CHECKS);
    const lines = checks.map((row) => lineOf(row, page));
    table.append(element(page, "tbody", { class: "setup-checks" }, element(page, "tr", {}, title), ...lines));
  }
  return describeCells(table);
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
    make("span", { "aria-hidden": "true" }, `${VERDICT_SIGNS[row.verdict] ?? ""} `),
    row.verdict,
  );
  if (row.exploratory !== null) {
    verdict.append(
      make(
        "span",
        { class: EXPLORATORY, title: row.exploratory },
        make("span", { "aria-hidden": "true" }, `\u00a0${EXPLORATORY_SIGN}`),
        make("span", { class: "visually-hidden" }, ` (${EXPLORATORY})`),
      ),
    );
  }
  // Any other verdict speaks for this campaign alone.
  if (row.over_campaigns === row.verdict)
    verdict.append(make("span", { class: "of-blocks" }, "over campaigns"));
  const reason = unbroken(row.reason);
  const details = row.sourceTitle ? `${row.source}: ${row.sourceTitle}. ${reason}` : reason;
  const line = make("tr", {}, make("td", {}, sentence), make("td", {}, source));
  if (row.condition && estimateText(row.condition) !== null) {
    const estimate = make("td", {}, estimateText(row.condition));
    const blocks = [row.soFar, row.hosts].filter(Boolean).join(" · ");
    if (blocks) estimate.append(make("span", { class: "of-blocks" }, blocks));
    // Without a link the region takes the focus, so that the reason is available by keyboard.
    const focus = row.slide === null ? { tabindex: "0" } : {};
    line.append(estimate, make("td", {}, make("span", focus, regionText(row.condition))));
    verdict.append(make("span", { class: "details", id: row.detailsId }, details));
  } else {
    line.append(make("td", { class: "reason", colspan: "2", id: row.detailsId }, reason));
  }
  line.append(verdict);
  return line;
}
