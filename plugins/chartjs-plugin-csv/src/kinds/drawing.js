/** Draws, for charts of these kinds, what belongs to no single series: the key, the runs behind the points, the labels. */

import { layouts } from "chart.js";
import { groupBy } from "../group.js";
import { kindOf } from "../kinds.js";
import { csvOf } from "../plugin.js";
import { KeyBox, SideBox } from "./around-plot.js";
import { controllerOf, marksOf, shownIn } from "./in-chart.js";
import { drawLabels, placeLabels } from "./mark-labels.js";

/** Dots of single runs, px; so many side by side. */
const RUN = { radius: 3, apart: 4, columns: 5, alpha: 0.55 };

/** Chart → what is around its plot: the key, and the room at the right. */
const boxes = new WeakMap();
/** Chart → its labels, placed; null while its marks are moving. */
const placed = new WeakMap();

/** Chart.js plugin that draws, for charts of these kinds, what belongs to no single series. */
export const Drawing = {
  id: "csvKind",

  start(chart) {
    if (!kindOf(chart.config.type)) return;
    const own = [new KeyBox(chart, "top"), new SideBox(chart, "right")];
    boxes.set(chart, own);
    for (const box of own) {
      layouts.configure(chart, box, { position: box.position, weight: 400, fullSize: box.isHorizontal() });
      layouts.addBox(chart, box);
    }
  },

  stop(chart) {
    for (const box of boxes.get(chart) ?? []) layouts.removeBox(chart, box);
    boxes.delete(chart);
  },

  afterEvent(chart, { event, replay }) {
    if (!replay && event.type === "click" && isReady(chart)) controllerOf(chart).press(chart, event);
  },

  afterUpdate(chart) {
    if (isReady(chart)) place(chart);
  },

  beforeDatasetsDraw(chart) {
    if (isReady(chart)) controllerOf(chart).behind(chart);
  },

  afterDatasetsDraw(chart) {
    if (!isReady(chart)) return;
    drawRuns(chart);
    controllerOf(chart).above(chart);
    // Labels follow when their marks have arrived.
    if (!placed.get(chart)) place(chart);
    drawLabels(chart, placed.get(chart) ?? []);
  },
};

function isReady(chart) {
  return boxes.has(chart) && Boolean(csvOf(chart)?.model);
}

function place(chart) {
  const [key] = boxes.get(chart);
  placed.set(chart, isMoving(chart) ? null : placeLabels(chart, key.bottom));
}

/** Whether marks are on their way to another place. */
function isMoving(chart) {
  return shownIn(chart)
    .flatMap(marksOf)
    .some((mark) => {
      const { x, y } = mark.getProps(["x", "y"], true);
      return Math.hypot(x - mark.x, y - mark.y) > 0.5;
    });
}

/** The runs behind the points as faint dots, those of one point side by side. */
function drawRuns(chart) {
  const { runs } = csvOf(chart);
  if (!runs) return;
  const { ctx } = chart;
  ctx.save();
  ctx.globalAlpha = RUN.alpha;
  for (const controller of shownIn(chart).filter(({ entry }) => !entry.second)) {
    ctx.fillStyle = controller.color;
    // Runs at the same place, which in a chart of two measured quantities are rarely two.
    const byX = groupBy(runs.get(controller.entry.name) ?? [], ({ x }) => x);
    for (const together of byX.values()) {
      const columns = Math.min(RUN.columns, together.length);
      together.forEach((run, rank) => {
        const dot = run.y === null ? null : controller.place({ low: null, high: null, n: null, ...run }, 0);
        if (!dot) return;
        const off = ((rank % columns) - (columns - 1) / 2) * RUN.apart;
        const [x, y] = controller.isFlipped ? [dot.x, dot.y + off] : [dot.x + off, dot.y];
        ctx.beginPath();
        ctx.arc(x, y, RUN.radius, 0, 2 * Math.PI);
        ctx.fill();
      });
    }
  }
  ctx.restore();
}

/** Where the labels of a chart are: lines, left, top, width and height in px (for tests). */
export function placedLabelsOf(chart) {
  return (placed.get(chart) ?? []).map(({ lines, left, top, width, height }) => ({
    text: lines.map(({ text }) => text).join("\n"),
    ...{ left, top, width, height },
  }));
}
