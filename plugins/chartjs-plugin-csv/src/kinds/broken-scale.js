/** The axis of what is lost: logarithmic, with a place before it for nothing, and one behind it for everything. */

import { LogarithmicScale } from "chart.js";
import { decadeTicks } from "../axes.js";
import { stroke } from "./pen.js";

/** The shares of an axis that nothing and everything take. */
const END = { zero: 0.11, infinite: 0.15 };
/** An axis shorter than this, px, gives them more of itself. */
const SHORT = { length: 420, more: 1.5 };

/** Its types name one that Chart.js does not export. @type {any} */
const Logarithmic = LogarithmicScale;

/** Its option `ends: {zero, infinite}` says which of the two places it has. */
export class BrokenScale extends Logarithmic {
  static id = "broken";
  /** @type {any} */
  static defaults = LogarithmicScale.defaults;

  get #ends() {
    const { zero, infinite } = this.options.ends ?? {};
    const isShort = (this.isHorizontal() ? this.width : this.height) < SHORT.length;
    const more = isShort ? SHORT.more : 1;
    return { head: zero ? END.zero * more : 0, tail: infinite ? END.infinite * more : 0 };
  }

  getPixelForDecimal(decimal) {
    const { head, tail } = this.#ends;
    return super.getPixelForDecimal(head + decimal * (1 - head - tail));
  }

  getPixelForValue(value) {
    const { head, tail } = this.#ends;
    if (value === 0 && head > 0) return super.getPixelForDecimal(head / 2);
    if (value === Infinity) return tail > 0 ? super.getPixelForDecimal(1 - tail / 2) : NaN;
    return super.getPixelForValue(value);
  }

  getValueForPixel(pixel) {
    const { head, tail } = this.#ends;
    const decimal = this.getDecimalForPixel(pixel);
    if (decimal < head) return 0;
    if (decimal > 1 - tail) return Infinity;
    return 10 ** (this._startValue + ((decimal - head) / (1 - head - tail)) * this._valueRange);
  }

  /** Where the axis is broken, px. */
  get breaks() {
    const { head, tail } = this.#ends;
    return [...(head ? [head] : []), ...(tail ? [1 - tail] : [])].map((at) => super.getPixelForDecimal(at));
  }

  buildTicks() {
    const built = super.buildTicks().map(({ value }) => value);
    const within = (value) => value >= this.min * 0.999 && value <= this.max * 1.001;
    const known = (this.options.ticks.values ?? []).filter(within);
    const values = known.length > 1 ? known : decadeTicks(built);
    const { head, tail } = this.#ends;
    return [...(head ? [0] : []), ...values, ...(tail ? [Infinity] : [])].map((value) => ({ value }));
  }
}

/** Two strokes wherever an axis of a chart is broken. */
export function drawBreaks({ ctx, chartArea: { left, bottom }, scales }, color) {
  const look = { color, width: 2 };
  for (const scale of Object.values(scales)) {
    for (const at of (scale.breaks ?? []).flatMap((middle) => [middle - 4, middle + 5])) {
      if (scale.isHorizontal()) stroke(ctx, { x: at - 4, y: bottom + 7 }, { x: at + 4, y: bottom - 7 }, look);
      else stroke(ctx, { x: left - 7, y: at + 4 }, { x: left + 7, y: at - 4 }, look);
    }
  }
}
