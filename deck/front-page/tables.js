/** Tables on the page: the author's tables, adapted to narrow screens, and tables of the charts' figures, made on demand. */

import { drawTable, tablesOf } from "chartjs-plugin-csv";

import { chartedAs } from "../chart-tools/charted.js";
import { element } from "../page/elements.js";
import { renewChildren } from "../page/in-place.js";
import { chosenText } from "../text/verdict-text.js";

/**
 * Prepares a table for screens that lay out its rows as blocks (css/front-page.css): each cell carries its column's heading,
 * and roles are explicit, because browsers drop them with the table layout.
 */
export function describeCells(table) {
  const headings = [...table.querySelectorAll("thead th, thead td")];
  const titles = headings.map(chosenText);
  const role = (name) => (part) => part.setAttribute("role", name);
  role("table")(table);
  table.querySelectorAll("thead, tbody").forEach(role("rowgroup"));
  table.querySelectorAll("tr").forEach(role("row"));
  headings.forEach((heading, at) => {
    if (titles[at] !== "") role("columnheader")(heading);
    // An empty heading is a cell.
    else if (heading.tagName === "TH")
      heading.replaceWith(element(table.ownerDocument, "td", { role: "cell" }));
  });
  for (const row of table.querySelectorAll("tbody tr")) {
    [...row.cells].forEach((cell, at) => {
      role(at === 0 ? "rowheader" : "cell")(cell);
      if (at > 0) cell.dataset.title = titles[at] ?? "";
    });
  }
}

/**
 * Fills each `<details data-figures>` below `page`, when opened, with the figures of its section's charts.
 * @param {Element} page
 * @param {{slots: Map<HTMLCanvasElement, object>, data: object}} given   slots: the chart plugin's charts; data: the data on show
 */
export function offerFigures(page, { slots, data }) {
  for (const details of page.querySelectorAll("details[data-figures]")) {
    const section = details.closest("section");
    const body = element(page.ownerDocument, "div");
    details.append(body);
    const fill = () => {
      if (!details.open) return;
      const charts = [...section.querySelectorAll("canvas[data-chart]")].map((canvas) => slots.get(canvas));
      renewChildren(body, figuresOf(charts.filter(Boolean), data, page.ownerDocument));
    };
    details.addEventListener("toggle", fill);
    for (const type of ["ready", "updated", "error"]) section.addEventListener(`chart-csv:${type}`, fill);
  }
}

/** Charts as tables that scroll sideways, with links to their files, and the reasons for charts that are not drawn. */
function figuresOf(slots, data, page) {
  const known = slots.filter(({ model }) => model);
  const failed = slots
    .filter(({ model, error }) => !model && error)
    .map(({ error }) => element(page, "p", {}, error.message));
  const tables = tablesOf(known.map((slot) => chartedAs(slot, data))).map((table) =>
    element(
      page,
      "div",
      { class: "scrolled", tabindex: "0", role: "region", "aria-label": table.caption },
      drawTable(table, { document: page }),
    ),
  );
  const files = known
    .map(({ url }) => url)
    .filter(Boolean)
    .map((url) => element(page, "li", {}, element(page, "a", { href: url }, url.split("/").at(-1))));
  return [...tables, ...failed, ...(files.length ? [element(page, "ul", { class: "files" }, ...files)] : [])];
}
