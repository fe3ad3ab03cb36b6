/** A point as it is drawn, and where a pointer finds it. */

import { Element } from "chart.js";
import { drawMark } from "./pen.js";

/** The size of a mark, in sizes of the chart's font. */
export const MARK = 1.15;
/** What it costs a label to lie on a mark, in heights of a line: as much as being that far away. */
export const HIDING = 100;
/** px around the middle of a mark in which a pointer finds it: half of what WCAG 2.2 wants of a target. */
const REACH = 12;

/**
 * A point as it is drawn: `x`, `y`, `size` (px), `style`, `color`; `skip` where there is nothing to draw, `inert` where there
 * is nothing to point at.
 * @extends {Element<Record<string, any>, Record<string, any>>}
 */
export class Mark extends Element {
  static id = "csvMark";
  static defaults = { pointStyle: "rectRounded", borderWidth: 2, rotation: 0 };
  static defaultRoutes = { backgroundColor: "backgroundColor", borderColor: "borderColor" };

  inRange(x, y, final) {
    return !this.inert && this.inXRange(x, final) && this.inYRange(y, final);
  }

  inXRange(x, final) {
    return Math.abs(this.getProps(["x"], final).x - x) <= Math.max(REACH, (this.width ?? this.size) / 2);
  }

  inYRange(y, final) {
    return Math.abs(this.getProps(["y"], final).y - y) <= Math.max(REACH, (this.height ?? this.size) / 2);
  }

  getCenterPoint(final) {
    const { x, y } = this.getProps(["x", "y"], final);
    return { x, y };
  }

  draw(ctx) {
    if (!this.skip) drawMark(ctx, this);
  }
}

/** The box around places of a chart, with so much room on each side, px. */
export function boxAround(places, room = 0) {
  const [xs, ys] = [places.map(({ x }) => x), places.map(({ y }) => y)];
  return {
    left: Math.min(...xs) - room,
    right: Math.max(...xs) + room,
    top: Math.min(...ys) - room,
    bottom: Math.max(...ys) + room,
  };
}

/** The box of a mark, as one that labels had better not cover. */
export function boxOf({ x, y, size, width, height }) {
  const [across, down] = [(width ?? size) / 2, (height ?? size) / 2];
  return { left: x - across, right: x + across, top: y - down, bottom: y + down, cost: HIDING };
}
