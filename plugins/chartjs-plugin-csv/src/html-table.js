import { xUnitOf } from "./axes.js";
import { tablesOf } from "./tables.js";

/**
 * A model as an accessible table: caption, a scope on every header cell, text only (a CSV's content never becomes
 * markup). It has a row for each x and a column for each series, or of many points the lowest, the median and the highest.
 *
 * @param {import("./table.js").Model} model
 * @param {{document?: Document, type?: string, caption?: string, xTitle?: string, xUnit?: string, yUnit?: string,
 *          prefix?: string, details?: boolean}} [options]   type: of the chart
 * @returns {HTMLTableElement}
 */
export function toHtmlTable(model, options = {}) {
  const { type = "line", caption = null, xTitle = null, yUnit = model.yUnit ?? null, prefix } = options;
  const axes = { xLabel: xTitle, xUnit: xUnitOf(model, options), yUnit, prefix };
  const shown = model.series.map(({ name }) => name);
  const [table] = tablesOf([
    { kind: type, heading: null, quantity: caption, model, shown, axes, settings: options },
  ]);
  return drawTable(table, options);
}

/**
 * A table of `tablesOf` as an element.
 * @param {import("./tables.js").Table} table
 * @param {{document?: Document, details?: boolean}} [options]   details: the bounds and counts of its values, too
 */
export function drawTable(table, { document = globalThis.document, details = true } = {}) {
  const { caption, valuesCaption, groups, xLabel, rows } = table;
  const make = (...given) => element(document, ...given);
  const titled = groups.some(({ title }) => title !== "");
  const corner = make("th", { scope: "col", ...(titled ? { rowspan: "2" } : {}) }, xLabel);
  const names = groups.flatMap(({ columns }) => columns.map((name) => make("th", { scope: "col" }, name)));
  const head = make("thead", {});
  if (titled) {
    const spans = groups
      .filter(({ columns }) => columns.length > 0)
      .map(({ title, columns }) => make("th", { scope: "colgroup", colspan: String(columns.length) }, title));
    head.append(make("tr", {}, corner, ...spans), make("tr", {}, ...names));
  } else {
    head.append(make("tr", {}, corner, ...names));
  }
  const body = make("tbody", {});
  for (const { title, cells } of rows) {
    const fields = cells.map((cell) => field(cell, document, details));
    body.append(make("tr", {}, make("th", { scope: "row" }, title), ...fields));
  }
  const says = make("caption", {}, details ? caption : valuesCaption);
  return make("table", { class: "chart-data" }, says, head, body);
}

function field({ value, text, detail }, document, details) {
  const cell = element(document, "td", value === null ? {} : { "data-figure": value }, text);
  if (details && detail !== null) cell.append(" ", element(document, "span", { class: "detail" }, detail));
  return cell;
}

function element(document, name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
