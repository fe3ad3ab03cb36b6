/**
 * Reading a chart point by point with the keyboard: Tab to the chart, then Left and Right along a line, Up and Down from
 * line to line, Home and End; Escape leaves. The tooltip shows each point, and the text of the tooltip is announced.
 */

import { element } from "../page/elements.js";

const HINT = "chart-keys-hint";
const STEPS = {
  ArrowLeft: { along: -1 },
  ArrowRight: { along: 1 },
  ArrowUp: { across: -1 },
  ArrowDown: { across: 1 },
  Home: { to: "first" },
  End: { to: "last" },
};

/**
 * Where a step leads. Pure.
 * @param {number[][]} lines   for each shown line, the positions of its measured points
 * @param {{line: number, at: number}|null} here   `at` is a position; null before the first step
 * @returns {{line: number, at: number}|null} null if there is no point at all
 */
export function stepFrom(lines, here, { along = 0, across = 0, to = null }) {
  const known = lines.map((_, line) => line).filter((line) => lines[line].length > 0);
  if (known.length === 0) return null;
  if (here === null || !known.includes(here.line)) return { line: known[0], at: lines[known[0]][0] };
  const line = known[bounded(known.indexOf(here.line) + across, known.length)];
  const points = lines[line];
  if (to === "first") return { line, at: points[0] };
  if (to === "last") return { line, at: points.at(-1) };
  if (across !== 0) return { line, at: nearest(points, here.at) };
  const index = points.indexOf(nearest(points, here.at));
  return { line, at: points[bounded(index + along, points.length)] };
}

function bounded(index, length) {
  return Math.min(length - 1, Math.max(0, index));
}

function nearest(points, at) {
  return points.reduce((best, point) => (Math.abs(point - at) < Math.abs(best - at) ? point : best));
}

/**
 * Lets every chart below `root` be focused and read.
 * @param {Element} root
 * @param {{slotOf: (canvas: Element) => object|undefined, announce: (text: string) => void}} given
 * @returns {{take: (canvas: HTMLCanvasElement) => void}} `take` adds one more chart
 */
export function readWithKeys(root, { slotOf, announce }) {
  const here = new WeakMap();
  addHint(root);
  const leave = (canvas) => {
    here.delete(canvas);
    const chart = slotOf(canvas)?.chart;
    if (!chart) return;
    pointAt(chart, null);
  };
  root.addEventListener("keydown", (event) => {
    const canvas = event.target;
    const slot = canvas.matches?.("canvas[data-chart]") ? slotOf(canvas) : undefined;
    if (!slot?.chart || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.key === "Escape") {
      canvas.blur();
    } else if (event.key in STEPS) {
      const next = stepFrom(measuredPoints(slot.chart), here.get(canvas) ?? null, STEPS[event.key]);
      if (next === null) return;
      here.set(canvas, next);
      announce(pointAt(slot.chart, next));
    } else {
      return;
    }
    // Otherwise the deck would change the slide or open the overview.
    event.preventDefault();
    event.stopPropagation();
  });
  root.addEventListener("focusout", ({ target }) => {
    if (target.matches?.("canvas[data-chart]")) leave(target);
  });
  return {
    take(canvas) {
      canvas.tabIndex = 0;
      canvas.setAttribute("aria-describedby", HINT);
    },
  };
}

function addHint(root) {
  const page = root.ownerDocument;
  if (page.getElementById(HINT)) return;
  const words = "Use the arrow keys to read the chart point by point, and Escape to leave it.";
  // An element used as a description may itself be hidden. Outside the slides, because it belongs to all of them.
  root.append(element(page, "p", { id: HINT, hidden: "" }, words));
}

function measuredPoints(chart) {
  return chart.data.datasets.map((_, index) => {
    if (!chart.isDatasetVisible(index)) return [];
    return chart
      .getDatasetMeta(index)
      .data.map(({ x, y, skip }, at) => (!skip && Number.isFinite(x) && Number.isFinite(y) ? at : -1))
      .filter((at) => at >= 0);
  });
}

/** Shows or hides the tooltip of a point; returns its text. */
function pointAt(chart, point) {
  const active = point === null ? [] : [{ datasetIndex: point.line, index: point.at }];
  const position = point === null ? { x: 0, y: 0 } : chart.getDatasetMeta(point.line).data[point.at];
  chart.setActiveElements(active);
  chart.tooltip?.setActiveElements(active, { x: position.x, y: position.y });
  chart.render();
  if (point === null || !chart.tooltip) return "";
  const { title, body } = chart.tooltip;
  return [...title, ...body.flatMap(({ lines }) => lines)].join(", ");
}
