/** The decision table: `<div data-answer-table>` shows what each way loses and pays, and what it is the one to pick for. */

import { adviceOf, decisionTable } from "../data/decisions.js";
import { element, makeScrollable } from "../page/elements.js";
import { renewChildren } from "../page/in-place.js";
import { describeCells } from "./stacked-tables.js";

/**
 * Writes or updates every decision table below `root`.
 * @param {Element} root
 * @param {object|null} answer   from `parseAnswer`
 */
export function writeDecisions(root, answer) {
  for (const place of root.querySelectorAll("[data-answer-table]")) {
    renewChildren(place, [tableOf(answer, place.ownerDocument)]);
    makeScrollable(place, "What each way loses, and what its writes pay");
  }
}

function tableOf(answer, page) {
  if (answer === null) return element(page, "p", {}, "This data set has no answer.csv. Derive it again.");
  const { ways, rows: figures } = decisionTable(answer);
  const columns = [...figures, { title: "Pick it for", cells: adviceOf(answer) }];
  const headings = ["Way", ...columns.map(({ title }) => title)];
  const lines = ways.map((way, position) =>
    element(
      page,
      "tr",
      {},
      element(page, "th", { scope: "row" }, way),
      ...columns.map(({ cells }) => element(page, "td", {}, cells[position])),
    ),
  );
  const head = headings.map((title) => element(page, "th", { scope: "col" }, title));
  return describeCells(
    element(
      page,
      "table",
      { class: "decision-figures" },
      element(page, "thead", {}, element(page, "tr", {}, ...head)),
      element(page, "tbody", {}, ...lines),
    ),
  );
}
