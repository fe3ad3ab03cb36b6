/** Tables on the page: those of an author, fit for a narrow screen, and those of the charts' figures, made on demand. */

import { drawTable, tablesOf } from "chartjs-plugin-csv";

import { chartedAs } from "../chart-tools/charted.js";
import { element } from "../page/elements.js";
import { renewChildren } from "../page/in-place.js";
import { chosenText } from "../text/verdict-text.js";

/**
 * Prepares a table for a screen on which its rows are laid out as blocks (css/front-page.css): each cell carries the heading of its
 * column, and the roles are written out, which browsers drop with the layout.
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
    // A heading that says nothing is a cell.
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
 * Fills each `<details data-figures>` below `page`, when it is opened, with what the charts of its section draw.
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

/** Charts as tables that can be scrolled sideways, and links to their files; what is not drawn says why. */
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
