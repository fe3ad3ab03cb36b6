/** Tables of the figures of the page's charts, made on demand. */

import { drawTable, tablesOf } from "chartjs-plugin-csv";

import { chartedAs } from "../chart-tools/charted.js";
import { element } from "../page/elements.js";
import { renewChildren } from "../page/in-place.js";
import { describeCells } from "../text/stacked-tables.js";

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
      describeCells(drawTable(table, { document: page })),
    ),
  );
  const files = known
    .map(({ url }) => url)
    .filter(Boolean)
    .map((url) => element(page, "li", {}, element(page, "a", { href: url }, url.split("/").at(-1))));
  return [...tables, ...failed, ...(files.length ? [element(page, "ul", { class: "files" }, ...files)] : [])];
}
