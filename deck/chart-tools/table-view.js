/**
 * The same data as a table, in the place of the chart: `T`. Panels that stand together share one place, and their charts
 * share a table where they share an axis.
 */

import { drawTable, tablesOf } from "chartjs-plugin-csv";

import { renewChildren } from "../page/in-place.js";
import { element, keepKeys } from "../page/elements.js";

const VIEW = "chart-table-view";
/** On a slide: what its table repeats anyway gives way to it. */
const NEEDS_ROOM = "table-needs-room";
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
 * Shows or renews the tables of a slide's charts.
 * @param {{canvas: HTMLCanvasElement, chart: import("chartjs-plugin-csv").ShownChart}[]} charts   those that have data
 * @param {{scrolls: boolean}} place   scrolls: who looks at it can scroll; else a table that is too wide leaves out the
 *   details of its cells
 */
export function showTables(charts, { scrolls }) {
  for (const [place, members] of byPlace(charts)) {
    const page = place.ownerDocument;
    const view = viewIn(place) ?? added(place);
    view.setAttribute("aria-label", ["Data as a table", headings(members)].filter(Boolean).join(": "));
    const tables = tablesOf(members);
    const draw = (details) =>
      renewChildren(
        view,
        tables.map((table) => drawTable(table, { document: page, details })),
      );
    draw(true);
    setCovered(place, true);
    if (!scrolls && view.scrollWidth > view.clientWidth) draw(false);
    makeRoom(view);
    comeIntoSight(view);
  }
}

/** Takes a slide's tables away; the charts are as they were. */
export function hideTables(slide) {
  for (const view of slide.querySelectorAll(`.${VIEW}`)) {
    const place = view.parentElement;
    view.remove();
    setCovered(place, false);
    slide.classList.remove(NEEDS_ROOM);
  }
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
  // With the focus in it, these keys scroll the table instead of turning the slide.
  keepKeys(view, SCROLLING);
  place.append(view);
  return view;
}

/** A table that does not fit takes the lines of measure too, which its caption repeats; beyond that it scrolls. */
function makeRoom(view) {
  if (view.scrollHeight > view.clientHeight) view.closest("section")?.classList.add(NEEDS_ROOM);
}

/** Where slides flow below each other, charts that give way to a lower table take the page's place along. */
function comeIntoSight(view) {
  const { top } = view.getBoundingClientRect();
  if (getComputedStyle(view).position === "static" && top < 0) view.scrollIntoView();
}

/** What the table lies over can neither be focused nor read twice. */
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
