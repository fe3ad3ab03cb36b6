/**
 * Labels at marks, which never lie on each other: each takes a place where it covers little, is made shorter, or is left out.
 *
 * A label is `{lines: {text, after?, size?, weight?, color?}[], at: {x, y, reach}, sides?, places?, brief?, importance?}`: `size` in
 * sizes of the chart's font; `after` follows in muted ink; `places(width, height)` instead of those around `at`; `brief` are the
 * lines that are left where there is no room for all of them; `isFixed` for names beside the plot, which stand at their first
 * place; `halo` is the colour around the text, by default the page's.
 */

import { placeBoxes, placesAround } from "../place.js";
import { controllerOf, emOf, marksOf, setFont, shownIn, themeOf } from "./in-chart.js";
import { HIDING, boxAround, boxOf } from "./mark.js";

/** A line of text, in sizes of its font. */
export const LINE = 1.2;
/** px of the page's colour around a text. */
const HALO = 6;
/** px beside a mark where a label of another would look like its own; less than the gap to its own. */
const NEAR = 5;
/** The distance of what follows a text in muted ink, in sizes of the chart's font. */
const AFTER = 0.4;

/**
 * Finds a place for each label, in px.
 * @param {any} chart
 * @param {number} top   px below which they stay
 */
export function placeLabels(chart, top) {
  const em = emOf(chart);
  const controllers = shownIn(chart);
  const all = [
    ...controllerOf(chart).labels(chart),
    ...controllers.flatMap((controller) => controller.labels()),
  ];
  const fixed = all
    .filter(({ isFixed }) => isFixed)
    .map((label) => {
      const sized = measured(chart, label);
      return { ...sized, ...sized.places[0] };
    });
  const labels = all
    .filter(({ isFixed }) => !isFixed)
    .sort((a, b) => (b.importance ?? 0) - (a.importance ?? 0));
  const obstacles = [
    ...fixed.map(({ left, top: upper, width, height }) => ({
      ...{ left, top: upper, right: left + width, bottom: upper + height, cost: HIDING },
    })),
    ...controllerOf(chart).obstacles(chart),
    ...controllers.flatMap((controller) => [
      ...marksOf(controller)
        .filter(({ style }) => style !== "none")
        .map(boxOf)
        .map((box) => ({ ...box, left: box.left - NEAR, right: box.right + NEAR })),
      ...controller.obstacles(),
    ]),
  ].map((box) => ({ ...box, cost: box.cost * em }));
  const { left, bottom } = chart.chartArea;
  const area = { left: left + 1, right: chart.width - 2, top, bottom: bottom - 1 };
  let wanted = labels.map((label) => measured(chart, label));
  let boxes = placeBoxes(wanted, { area, obstacles });
  // A label that has no place, or only one where it hides something, is made shorter.
  const isPoor = ({ brief }, index) => brief && !(boxes[index]?.cost < HIDING * em);
  if (labels.some(isPoor)) {
    wanted = labels.map((label, index) =>
      isPoor(label, index) ? measured(chart, label, label.brief) : wanted[index],
    );
    boxes = placeBoxes(wanted, { area, obstacles });
  }
  return [
    ...fixed,
    ...wanted.flatMap((label, index) => (boxes[index] ? [{ ...label, ...boxes[index] }] : [])),
  ];
}

/** A label with its size, px, and the places that it may have. */
function measured(chart, label, lines = label.lines) {
  const em = emOf(chart);
  const sized = lines.map((line) => {
    const { size = 1, weight = 600 } = line;
    setFont(chart, { size: size * em, weight });
    const own = chart.ctx.measureText(line.text).width;
    setFont(chart);
    const rest = line.after ? chart.ctx.measureText(line.after).width + AFTER * em : 0;
    return { ...line, size: size * em, weight, own, width: own + rest };
  });
  const width = Math.max(...sized.map((line) => line.width));
  const height = sized.length === 1 ? sized[0].size : heightOf(sized);
  const places = label.places?.(width, height) ?? placesAround(label.at, { width, height }, label);
  return { lines: sized, width, height, places, at: label.at, halo: label.halo };
}

function heightOf(lines) {
  return lines.reduce((sum, { size }) => sum + size * LINE, 0);
}

/** Draws labels where `placeLabels` placed them. */
export function drawLabels(chart, labels) {
  const { ctx } = chart;
  const { text: muted, page } = themeOf(chart);
  ctx.save();
  Object.assign(ctx, { textBaseline: "middle", lineJoin: "round", lineWidth: HALO });
  const write = (text, x, y, color, halo) => {
    ctx.strokeStyle = halo;
    ctx.strokeText(text, x, y);
    ctx.fillStyle = color;
    ctx.fillText(text, x, y);
  };
  const em = emOf(chart);
  for (const { lines, left, top, width, height, align = "left", halo = page } of labels) {
    let y = top + (height - heightOf(lines)) / 2;
    for (const { text, after, size, weight, color = muted, own, width: length } of lines) {
      const x = left + { left: 0, right: width - length, center: (width - length) / 2 }[align];
      const middle = y + (size * LINE) / 2;
      setFont(chart, { size, weight });
      write(text, x, middle, color, halo);
      if (after) {
        setFont(chart);
        write(after, x + own + AFTER * em, middle, muted, halo);
      }
      y += size * LINE;
    }
  }
  ctx.restore();
}

/** A straight line as boxes that labels had better not cover; cost: of each, in heights of a line. */
export function boxesAlong(from, to, cost) {
  const steps = Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / 12));
  return Array.from({ length: steps + 1 }, (_, step) => {
    const [x, y] = [from.x + ((to.x - from.x) * step) / steps, from.y + ((to.y - from.y) * step) / steps];
    return { ...boxAround([{ x, y }], 3), cost };
  });
}
