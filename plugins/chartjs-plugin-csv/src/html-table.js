import { describePoint, describeX } from "./tooltip.js";
import { formatValue } from "./units.js";

/**
 * A model as an accessible table: caption, a scope on every header cell, text only (a CSV's content never becomes
 * markup). Wide: a row per series, a column per x. Long: a row per point.
 *
 * @param {import("./table.js").Model} model
 * @param {{document?: Document, caption?: string, xUnit?: string, yUnit?: string, prefix?: string, maxRows?: number}} [options]
 *   `maxRows` bounds a long table; the caption says how many points are left out
 * @returns {HTMLTableElement}
 */
export function toHtmlTable(model, options = {}) {
  const { document = globalThis.document, caption = "", maxRows = 1000 } = options;
  const element = (tag, text, attributes = {}) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  const row = (cells) => {
    const tr = element("tr");
    for (const cell of cells) tr.appendChild(cell);
    return tr;
  };
  const { head, body, left } =
    model.kind === "wide" ? wideCells(model, options) : longCells(model, options, maxRows);
  const table = element("table", undefined, { class: "chart-table" });
  table.appendChild(
    element("caption", left ? `${caption} (${left} further points not shown)`.trim() : caption),
  );
  const thead = element("thead");
  thead.appendChild(row(head.map((text) => element("th", text, { scope: "col" }))));
  const tbody = element("tbody");
  for (const [name, ...cells] of body) {
    tbody.appendChild(
      row([element("th", name, { scope: "row" }), ...cells.map((text) => element("td", text))]),
    );
  }
  table.appendChild(thead);
  table.appendChild(tbody);
  return table;
}

function wideCells(model, options) {
  return {
    head: [model.xLabel, ...model.xs.map((x) => describeX(x, model, options))],
    body: model.series.map(({ name, points }) => [
      name,
      ...points.map((point) => describePoint(point, options)),
    ]),
    left: 0,
  };
}

function longCells(model, options, maxRows) {
  const format = (value) => formatValue(value, options.yUnit, options);
  const rows = [];
  let total = 0;
  for (const { name, points } of model.series) {
    total += points.length;
    for (const { x, y, low, high, n } of points) {
      if (rows.length >= maxRows) break;
      rows.push([name, describeX(x, model, options), format(y), format(low), format(high), formatValue(n)]);
    }
  }
  return {
    head: ["Series", options.xTitle ?? "x", "Value", "Low", "High", "n"],
    body: rows,
    left: total - rows.length,
  };
}
