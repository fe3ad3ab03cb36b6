import { Scale } from "chart.js";

/** Steps between powers of two, for an axis with few of them. */
const BETWEEN = 1.5;
const FEW = 3;
const X_TICKS = 14;

/** Ticks of a log2 axis: the powers of two within [min, max], thinned evenly to at most `limit`. Pure. */
export function powersOfTwo(min, max, limit = X_TICKS) {
  const first = Math.ceil(Math.log2(min) - 1e-9);
  const last = Math.floor(Math.log2(max) + 1e-9);
  const stride = Math.max(1, Math.ceil((last - first + 1) / limit));
  const ticks = [];
  for (let power = first; power <= last; power += stride) ticks.push(2 ** power);
  return ticks;
}

/** The same; if they are few, also the values halfway between them: 0.75, 1, 1.5, 2. Pure. */
export function log2Ticks(min, max, limit = X_TICKS) {
  const powers = powersOfTwo(min, max, limit);
  if (powers.length >= FEW) return powers;
  const between = powersOfTwo(min / BETWEEN, max / BETWEEN, limit).map((value) => value * BETWEEN);
  return [...powers, ...between].sort((a, b) => a - b);
}

/**
 * A Chart.js scale of type `log2`: a value's place is linear in log2(value); ticks at powers of two, or at
 * `ticks.values` when given. `bounds: "ticks"` widens the ends to powers of two, unless they are set.
 * Values ≤ 0 are not drawn.
 */
export class Log2Scale extends Scale {
  static id = "log2";

  static defaults = {};

  parse(raw) {
    if (raw === null || raw === undefined || raw === "") return null;
    const value = Number(raw);
    return Number.isFinite(value) && value > 0 ? value : null;
  }

  determineDataLimits() {
    const { min, max } = this.getMinMax(true);
    this.min = Number.isFinite(min) && min > 0 ? min : 1;
    this.max = Number.isFinite(max) && max > 0 ? max : this.min * 2;
  }

  buildTicks() {
    if (this.options.bounds === "ticks") {
      const { minDefined, maxDefined } = this.getUserBounds();
      if (!minDefined) this.min = 2 ** Math.floor(Math.log2(this.min) + 1e-9);
      if (!maxDefined) this.max = 2 ** Math.ceil(Math.log2(this.max) - 1e-9);
    }
    if (this.min === this.max) {
      this.min /= 2;
      this.max *= 2;
    }
    const { values: given, maxTicksLimit } = this.options.ticks;
    const values = given?.length
      ? given.filter((v) => v >= this.min && v <= this.max)
      : this.isHorizontal() && !this.options.ticks.between
        ? powersOfTwo(this.min, this.max)
        : log2Ticks(this.min, this.max, maxTicksLimit);
    return values.map((value) => ({ value }));
  }

  configure() {
    super.configure();
    this.startPower = Math.log2(this.min);
    this.powers = Math.log2(this.max) - this.startPower;
  }

  getPixelForValue(value) {
    if (!(value > 0)) return NaN;
    return this.getPixelForDecimal((Math.log2(value) - this.startPower) / this.powers);
  }

  getValueForPixel(pixel) {
    return 2 ** (this.startPower + this.getDecimalForPixel(pixel) * this.powers);
  }
}
