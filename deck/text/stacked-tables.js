/**
 * Tables that a narrow screen lays out as cards, one a row (css/scroll-view.css): each cell carries its column's heading,
 * and roles are explicit, because browsers drop them with the table layout.
 */

import { element } from "../page/elements.js";
import { chosenText } from "./verdict-text.js";

/**
 * The heading of each column: what its cells of the head say, from the top down.
 * @param {{text: string, columns: number, rows: number}[][]} lines   the head's rows; of each cell its text, and how many
 *   columns and rows it spans
 * @returns {string[]}
 */
export function columnTitles(lines) {
  const parts = [];
  const taken = [];
  lines.forEach((cells, line) => {
    let column = 0;
    for (const { text, columns, rows } of cells) {
      while ((taken[column] ?? 0) > line) column += 1;
      for (let end = column + columns; column < end; column += 1) {
        taken[column] = line + rows;
        parts[column] = [...(parts[column] ?? []), text];
      }
    }
  });
  return parts.map((texts) => texts.filter(Boolean).join(", "));
}

/**
 * Prepares a table; call it again when its texts have changed. A heading that says more than a card has room for names itself
 * in `data-title`.
 * @returns {HTMLTableElement} the table
 */
export function describeCells(table) {
  const role = (name) => (part) => part.setAttribute("role", name);
  role("table")(table);
  table.querySelectorAll("thead, tbody").forEach(role("rowgroup"));
  table.querySelectorAll("tr").forEach(role("row"));
  const lines = [...table.querySelectorAll("thead tr")].map((row) => [...row.cells]);
  const titles = columnTitles(
    lines.map((cells) =>
      cells.map((cell) => ({
        text: cell.dataset.title ?? chosenText(cell),
        columns: cell.colSpan,
        rows: cell.rowSpan,
      })),
    ),
  );
  for (const heading of lines.flat()) {
    if (chosenText(heading) !== "") role("columnheader")(heading);
    // An empty heading is a cell.
    else if (heading.tagName === "TH")
      heading.replaceWith(element(table.ownerDocument, "td", { role: "cell" }));
  }
  for (const row of table.querySelectorAll("tbody tr")) {
    let column = 0;
    for (const cell of row.cells) {
      role(column === 0 ? "rowheader" : "cell")(cell);
      cell.dataset.title = titles[column] ?? "";
      column += cell.colSpan;
    }
  }
  return table;
}
