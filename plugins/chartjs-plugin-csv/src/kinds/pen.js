/** What kinds draw with: marks whose form says what they are, hatching, lines, arrows. */

import { clipArea, unclipArea } from "chart.js/helpers";

/** Shares of a mark's side: its corners, the outline of a hollow one, the stroke of a cross. */
const CORNER = 0.18;
const OUTLINE = 0.17;
const CROSS = 0.2;
/** px between the lines of a hatching, and their width. */
const HATCH = { step: 10, width: 2 };

/** Forms by a series' point style; a form must have an inside, which is full or hollow. */
const SHAPES = { circle: "circle", rectRot: "diamond", triangle: "triangle" };

/** The form in which a series is drawn: `circle`, `diamond`, `triangle` or `square`. */
export function shapeOf(pointStyle) {
  return SHAPES[pointStyle] ?? "square";
}

function trace(ctx, shape, x, y, side) {
  const half = side / 2;
  ctx.beginPath();
  if (shape === "circle") ctx.arc(x, y, half, 0, 2 * Math.PI);
  else if (shape === "diamond" || shape === "triangle") {
    const corners =
      shape === "diamond"
        ? [
            [0, -1.2],
            [1.2, 0],
            [0, 1.2],
            [-1.2, 0],
          ]
        : [
            [0, -1.1],
            [1.15, 0.9],
            [-1.15, 0.9],
          ];
    for (const [dx, dy] of corners) ctx.lineTo(x + dx * half, y + dy * half);
    ctx.closePath();
  } else ctx.roundRect(x - half, y - half, side, side, Math.max(1, side * CORNER));
}

/**
 * Draws a mark.
 * @param {CanvasRenderingContext2D} ctx
 * @param {{x: number, y: number, size: number, style: "full"|"hollow"|"dashed"|"cross"|"dash"|"none", shape?: string,
 *          color: string, page: string}} mark   style: `full` is the typical and the confirmed, `hollow` the tail or what
 *   waited, `dashed` a guess or not measured, `cross` lost, `dash` less than one
 */
export function drawMark(ctx, { x, y, size, style, shape = "square", color, page }) {
  if (style === "none" || !(size > 0)) return;
  ctx.save();
  ctx.fillStyle = color;
  ctx.strokeStyle = color;
  if (style === "full") {
    trace(ctx, shape, x, y, size);
    ctx.fill();
  } else if (style === "dash") {
    ctx.fillRect(x - size / 2, y + size / 2 - Math.max(1, size / 5), size, Math.max(1, size / 5));
  } else if (style === "cross") {
    const half = size * 0.42;
    ctx.lineWidth = Math.max(1, size * CROSS);
    ctx.beginPath();
    for (const way of [1, -1]) {
      ctx.moveTo(x - half, y - half * way);
      ctx.lineTo(x + half, y + half * way);
    }
    ctx.stroke();
  } else {
    const width = Math.max(1, size * OUTLINE);
    ctx.lineWidth = style === "dashed" ? Math.max(1, width * 0.7) : width;
    trace(ctx, shape, x, y, size - width);
    ctx.fillStyle = page;
    if (style === "hollow") ctx.fill();
    if (style === "dashed") ctx.setLineDash([width * 1.1, width]);
    ctx.stroke();
  }
  ctx.restore();
}

/** Fills a box with lines at 45°: a limit, what is lost to it, what waits. */
export function hatch(ctx, box, color, alpha) {
  const { left, top, right, bottom } = box;
  if (!(right > left && bottom > top)) return;
  clipArea(ctx, box);
  Object.assign(ctx, { strokeStyle: color, globalAlpha: alpha, lineWidth: HATCH.width });
  ctx.beginPath();
  for (let from = left - (bottom - top); from < right; from += HATCH.step) {
    ctx.moveTo(from, bottom);
    ctx.lineTo(from + bottom - top, top);
  }
  ctx.stroke();
  unclipArea(ctx);
}

/** A straight line, as wide and as strong as said. */
export function stroke(ctx, from, to, { color, width, alpha = 1, dash = [] }) {
  ctx.save();
  Object.assign(ctx, { strokeStyle: color, lineWidth: width, globalAlpha: alpha });
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(from.x, from.y);
  ctx.lineTo(to.x, to.y);
  ctx.stroke();
  ctx.restore();
}

/** A line through the whole plot of a chart, at px of its axis of values. */
export function strokeThrough({ ctx, chartArea: { left, right, top, bottom }, options }, at, look) {
  if (options.indexAxis === "y") stroke(ctx, { x: at, y: top }, { x: at, y: bottom }, look);
  else stroke(ctx, { x: left, y: at }, { x: right, y: at }, look);
}

/** An arrow whose tip is at `to`. */
export function arrow(ctx, from, to, { color, width, page }) {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  const head = width * 4.5;
  const neck = { x: to.x - head * Math.cos(angle), y: to.y - head * Math.sin(angle) };
  // A margin of the page's colour, where it crosses what is drawn already.
  stroke(ctx, from, neck, { color: page, width: width * 2.4 });
  stroke(ctx, from, neck, { color, width });
  ctx.save();
  ctx.translate(to.x, to.y);
  ctx.rotate(angle);
  ctx.fillStyle = color;
  ctx.beginPath();
  ctx.moveTo(0, 0);
  ctx.lineTo(-head, -head / 2);
  ctx.lineTo(-head, head / 2);
  ctx.closePath();
  ctx.fill();
  ctx.restore();
}
