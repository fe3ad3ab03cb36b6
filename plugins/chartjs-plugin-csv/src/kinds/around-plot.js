/** What a kind has around its plot, as boxes for which Chart.js makes room: the key above it, and the room at its right. */

import { wrapLabel } from "../labels-layout.js";
import { csvOf } from "../plugin.js";
import { controllerOf, emOf, setFont, themeOf } from "./in-chart.js";
import { drawMark } from "./pen.js";

/** Of the key, in sizes of the font: a row, the room below all, a mark, the place of the text at it, the room between items. */
const KEY = { row: 1.45, below: 0.4, mark: 0.95, text: 1.5, apart: 1.6 };
/** px from the edge. */
const INDENT = 2;

/** What Chart.js asks of every box. */
class Box {
  options = { display: false };
  width = 0;
  height = 0;

  constructor(chart, position) {
    this.chart = chart;
    this.position = position;
  }

  isHorizontal() {
    return this.position === "top";
  }

  draw() {}
}

/** The strip above a plot: the name of the axis of values, and what full and hollow marks mean. */
export class KeyBox extends Box {
  #rows = [];

  update(width) {
    const { chart } = this;
    const { title = null, items = [] } = csvOf(chart)?.model ? controllerOf(chart).key(chart) : {};
    const em = emOf(chart);
    setFont(chart);
    this.#rows = title ? [[{ text: `↑ ${title}`, left: INDENT }]] : [];
    let left = Infinity;
    const widthOf = (text) => chart.ctx.measureText(text).width;
    for (const item of items) {
      const indent = item.style ? KEY.text * em : 0;
      const [first, ...rest] = wrapLabel(item.text, width - INDENT - indent, widthOf);
      const room = widthOf(first) + indent;
      if (left + room > width) {
        this.#rows.push([]);
        left = INDENT;
      }
      this.#rows.at(-1).push({ ...item, text: first, left });
      left += room + KEY.apart * em;
      for (const text of rest) {
        this.#rows.push([{ text, left: INDENT + indent }]);
        left = Infinity;
      }
    }
    this.width = width;
    this.height = this.#rows.length ? (this.#rows.length * KEY.row + KEY.below) * em : 0;
  }

  draw() {
    const { chart } = this;
    const { ctx } = chart;
    const { text: muted, page } = themeOf(chart);
    const em = emOf(chart);
    ctx.save();
    Object.assign(ctx, { textAlign: "left", textBaseline: "middle" });
    setFont(chart);
    this.#rows.forEach((row, line) => {
      const y = this.top + (line + 0.5) * KEY.row * em;
      for (const { text, style, color = muted, shape, left } of row) {
        const x = this.left + left;
        if (style) drawMark(ctx, { x: x + em / 2, y, size: em * KEY.mark, style, color, page, shape });
        ctx.fillStyle = muted;
        ctx.fillText(text, x + (style ? KEY.text * em : 0), y);
      }
    });
    ctx.restore();
  }
}

/** The room at the right of a plot. */
export class SideBox extends Box {
  update(_, height) {
    this.height = height;
    this.width = csvOf(this.chart)?.model ? controllerOf(this.chart).side(this.chart) : 0;
  }
}
