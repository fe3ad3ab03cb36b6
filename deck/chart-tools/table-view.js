/**
 * The same data as a table in place of the chart: key `T`. Adjacent panels share one place, and charts with the same axis
 * share a table.
 */

import { drawTable, tablesOf } from "chartjs-plugin-csv";

import { unbroken } from "../data/format.js";
import { renewChildren } from "../page/in-place.js";
import { element, keepKeys } from "../page/elements.js";
import { describeCells } from "../text/stacked-tables.js";

const VIEW = "chart-table-view";
/** Parts of a slide that the table repeats, and that make room for it. */
const NEEDS_ROOM = "table-needs-room";
/** The line below a table that says how many rows do not fit. */
const REST = "chart-table-rest";
const SCROLLING = [
  "ArrowUp",
  "ArrowDown",
  "ArrowLeft",
  "ArrowRight",
  "PageUp",
  "PageDown",
  "Home",
  "End",
  " ",
];

/**
 * Shows or updates the tables of a slide's charts. A place without data is that of its charts again.
 * @param {Element} slide
 * @param {{canvas: HTMLCanvasElement, chart: import("chartjs-plugin-csv").ShownChart}[]} charts   those that have data
 * @param {{scrolls: boolean}} place   scrolls: people can scroll; if not, a table that is too wide leaves out the details
 *   of its cells
 */
export function showTables(slide, charts, { scrolls }) {
  const places = byPlace(charts);
  hideTables(slide, places);
  for (const [place, members] of places) {
    const page = place.ownerDocument;
    const view = viewIn(place) ?? added(place);
    view.setAttribute("aria-label", ["Data as a table", headings(members)].filter(Boolean).join(": "));
    const tables = tablesOf(members);
    const draw = (details) =>
      renewChildren(
        view,
        tables.map((table) => describeCells(unbrokenHeads(drawTable(table, { document: page, details })))),
      );
    draw(true);
    setCovered(place, true);
    if (!scrolls && view.scrollWidth > view.clientWidth) draw(false);
    makeRoom(view);
    endWithWholeRow(view);
    comeIntoSight(view);
  }
}

/** Removes a slide's tables, but those in the places to keep; the charts are as before. */
export function hideTables(slide, kept = new Map()) {
  for (const view of slide.querySelectorAll(`.${VIEW}`)) {
    const place = view.parentElement;
    if (kept.has(place)) continue;
    view.remove();
    setCovered(place, false);
  }
  if (!slide.querySelector(`.${VIEW}`)) slide.classList.remove(NEEDS_ROOM);
}

/** Lets no line of a heading end between a number and its unit. */
function unbrokenHeads(table) {
  for (const head of table.querySelectorAll("thead th")) head.textContent = unbroken(head.textContent);
  return table;
}

function byPlace(charts) {
  const places = new Map();
  for (const { canvas, chart } of charts) {
    const place = canvas.closest(".panels") ?? canvas.closest(".chart-figure");
    if (!place) continue;
    places.set(place, [...(places.get(place) ?? []), chart]);
  }
  return places;
}

function viewIn(place) {
  return place.querySelector(`:scope > .${VIEW}`);
}

function added(place) {
  const view = element(place.ownerDocument, "div", { class: VIEW, role: "region", tabindex: "0" });
  // While the table has the focus, these keys scroll it instead of changing the slide.
  keepKeys(view, SCROLLING);
  place.append(view);
  return view;
}

/** A table that does not fit also covers the lines that name the measure, which its caption repeats; then it scrolls. */
function makeRoom(view) {
  if (view.scrollHeight > view.clientHeight) view.closest("section")?.classList.add(NEEDS_ROOM);
}

/**
 * Ends a table that does not fit with a whole row, and says below it how many more there are. What the line says follows
 * the scrolling.
 */
function endWithWholeRow(view) {
  view.onscroll = null;
  if (view.scrollHeight <= view.clientHeight) return;
  const line = element(view.ownerDocument, "p", { class: REST });
  view.append(line);
  const rows = [...view.querySelectorAll("tbody tr")];
  const bottomOf = (part) => part.getBoundingClientRect().bottom;
  /** How many rows end above the line. */
  const inSight = () => {
    const edge = line.getBoundingClientRect().top + 1;
    const first = rows.findIndex((row) => bottomOf(row) > edge);
    return first === -1 ? rows.length : first;
  };
  const whole = rows[inSight() - 1];
  const scale = view.getBoundingClientRect().height / view.offsetHeight || 1;
  if (whole) line.style.height = `${(bottomOf(view) - bottomOf(whole)) / scale}px`;
  const count = () => {
    const more = rows.length - inSight();
    line.textContent = more === 0 ? "" : `${more} more ${more === 1 ? "row" : "rows"}`;
  };
  count();
  view.onscroll = count;
}

/** If slides flow one below another, a chart that is replaced by a lower table gives up its height. */
function comeIntoSight(view) {
  const { top } = view.getBoundingClientRect();
  if (top < 0 && getComputedStyle(view).position === "static") view.scrollIntoView();
}

/** Keeps what the table covers from being focused or read twice. */
function setCovered(place, covered) {
  for (const child of place.children) {
    if (!child.classList.contains(VIEW)) child.inert = covered;
  }
}

function headings(charts) {
  return charts
    .map(({ heading }) => heading)
    .filter(Boolean)
    .join(", ");
}
