/**
 * `chain`: what is left after each step, and what the step lost. A bar for each series, in the order of the file; hatched is
 * what the bar above had more, with its factor. Further columns, or files (`more`, `names`, `at`), are cells beside the bars:
 * how busy each resource was (`units`). A cell at `full` or above is framed.
 */

import { csvOf } from "../plugin.js";
import { formatValue, short } from "../units.js";
import {
  KindController,
  ROWS,
  acrossScale,
  emOf,
  isFlipped,
  laneOfEach,
  laneScale,
  shownIn,
  tellPoint,
  tellSeries,
  textWidth,
  themeOf,
  titleAbove,
  valueOfEachFile,
} from "./base.js";
import { hatch } from "./pen.js";

/** The part of a lane that a bar takes; a cell's width and its distance from the next, in sizes of the chart's font. */
const BAR = 0.62;
const CELL = { width: 5, gap: 1 };
const FIGURE = 1.2;
/** Sizes of the font below which there is room for the bars alone. */
const NARROW = 40;
/** From this share on a resource counts as used up. */
const FULL = 0.9;

class ChainController extends KindController {
  static id = "chain";
  static overrides = { ...KindController.overrides, indexAxis: "y" };

  static key(chart) {
    return { title: titleAbove(chart), items: [{ text: "hatched: lost in this step" }] };
  }

  /** A narrow chart has no room for cells; its table has them. */
  static side(chart) {
    const hasRoom = isFlipped(chart) && chart.width > NARROW * emOf(chart);
    const cells = hasRoom ? csvOf(chart).model.xs.length - 1 : 0;
    return cells * (CELL.width + CELL.gap) * emOf(chart);
  }

  /** The names of the cells, above them. */
  static labels(chart) {
    if (ChainController.side(chart) === 0) return [];
    const { right, top } = chart.chartArea;
    const em = emOf(chart);
    return csvOf(chart)
      .model.xs.slice(1)
      .map((x, index) => ({
        lines: [{ text: String(x), weight: 400 }],
        isFixed: true,
        places: (width, height) => {
          const middle = right + (CELL.gap + CELL.width / 2 + index * (CELL.width + CELL.gap)) * em;
          return [
            {
              left: Math.min(middle - width / 2, chart.width - width - 2),
              top: Math.max(0, top - height),
              align: "center",
            },
          ];
        },
      }));
  }

  place({ y }, index) {
    if (y === null) return null;
    const thick = this.breadth * BAR;
    if (index > 0) {
      if (ChainController.side(this.chart) === 0) return null;
      const em = this.em;
      const x =
        this.chart.chartArea.right + (CELL.gap + CELL.width / 2 + (index - 1) * (CELL.width + CELL.gap)) * em;
      return { x, y: this.lane, width: CELL.width * em, height: Math.min(thick, 2.4 * em), style: "none" };
    }
    const end = this.across(y);
    return { ...this.bar(this.lane, [this.#start, end], thick), end };
  }

  /** Where bars begin, px across. */
  get #start() {
    const { left, bottom } = this.chart.chartArea;
    return this.isFlipped ? left : bottom;
  }

  /** The bar before this one, and by what factor this one is less; null if it is not less. */
  get lost() {
    // A second data set is a chain of its own.
    const controllers = shownIn(this.chart).filter(({ entry }) => entry.second === this.entry.second);
    const before = controllers[controllers.indexOf(this) - 1];
    const [own, former] = [this.entry.points[0]?.y, before?.entry.points[0]?.y];
    if (!(own > 0) || !(former > own)) return null;
    return { factor: former / own, end: this.across(former) };
  }

  get #isGreatestLoss() {
    const factors = shownIn(this.chart).map(({ lost }) => lost?.factor ?? 0);
    return this.lost !== null && this.lost.factor === Math.max(...factors);
  }

  get #lossBox() {
    const thick = (this.breadth * BAR) / 2;
    const { lost } = this;
    const end = this.across(this.entry.points[0].y);
    return lost && this.box([this.lane - thick, end], [this.lane + thick, lost.end]);
  }

  draw() {
    const ctx = this._ctx;
    const [bar, ...cells] = this._cachedMeta.data;
    const { lost: orange, text: muted, grid } = themeOf(this.chart);
    if (!bar || bar.skip) return;
    ctx.save();
    ctx.fillStyle = this.color;
    ctx.fillRect(bar.x - bar.width / 2, bar.y - bar.height / 2, bar.width, bar.height);
    if (this.lost)
      hatch(ctx, this.#lossBox, this.#isGreatestLoss ? orange : muted, this.#isGreatestLoss ? 0.7 : 0.35);
    const { settings } = this.csv;
    cells.forEach((cell, index) => {
      const { y } = this.entry.points[index + 1];
      if (cell.skip) return;
      const isFull = y >= (settings.full ?? FULL);
      const [left, top] = [cell.x - cell.width / 2, cell.y - cell.height / 2];
      if (isFull)
        hatch(ctx, { left, top, right: left + cell.width, bottom: top + cell.height }, orange, 0.35);
      ctx.strokeStyle = isFull ? orange : grid;
      ctx.lineWidth = isFull ? 3 : 2;
      ctx.beginPath();
      ctx.roundRect(left, top, cell.width, cell.height, 6);
      ctx.stroke();
    });
    ctx.restore();
  }

  labels() {
    const { settings, theme } = this.csv;
    const [bar, ...cells] = this._cachedMeta.data;
    const [value, ...shares] = this.entry.points;
    if (!bar || bar.skip) return [];
    const { isFlipped: flipped } = this;
    const text = this.short(value.y);
    const room = textWidth(this.chart, text, { size: FIGURE, weight: 700 }) + this.em;
    const isInside = bar.width > room && (flipped || bar.height > 2 * this.em);
    const look = { weight: 700, color: isInside ? theme.page : theme.ink };
    const figure = {
      lines: [{ text, size: FIGURE, ...look }],
      brief: [{ text: text.replace(/\s.*$/, ""), ...look }],
      halo: isInside ? this.color : theme.page,
      importance: 4,
      places: (width, height) => {
        if (isInside && flipped)
          return [{ left: bar.x - bar.width / 2 + this.em / 2, top: bar.y - height / 2 }];
        if (isInside) return [{ left: bar.x - width / 2, top: bar.end + 6, align: "center" }];
        if (!flipped)
          return [bar.end - height - 4, bar.end + 4].map((top) => ({
            left: bar.x - width / 2,
            top,
            align: "center",
          }));
        const after = Math.max(bar.end, this.lost && this.lost.end - bar.end < room ? this.lost.end : 0);
        return [bar.end, after].map((end) => ({ left: end + 8, top: bar.y - height / 2 }));
      },
    };
    const lossColor = this.#isGreatestLoss ? theme.lost : theme.ink;
    const loss = this.lost && {
      lines: [{ text: divided(this.lost.factor), size: FIGURE, weight: 700, color: lossColor }],
      importance: 3,
      places: (width, height) => {
        const { left, right, top, bottom } = this.#lossBox;
        const middle = {
          left: (left + right - width) / 2,
          top: (top + bottom - height) / 2,
          align: "center",
        };
        const beyond = { left: right + 8, top: (top + bottom - height) / 2, cost: 5 };
        return flipped && right - left < width + 8 ? [beyond, middle] : [middle, beyond];
      },
    };
    const cellLabels = cells.flatMap((cell, index) => {
      if (cell.skip) return [];
      const isFull = shares[index].y >= (settings.full ?? FULL);
      return {
        lines: [
          {
            text: this.short(shares[index].y, unitOf(settings, { at: index + 1 })),
            weight: isFull ? 700 : 400,
            ...(isFull ? { color: theme.ink } : {}),
          },
        ],
        importance: 3,
        places: (width, height) => [{ left: cell.x - width / 2, top: cell.y - height / 2, align: "center" }],
      };
    });
    return [figure, ...(loss ? [loss] : []), ...cellLabels];
  }
}

/** The unit of a bar, or of a cell. */
function unitOf({ units, yUnit }, { at }) {
  return at === 0 ? yUnit : (units?.[at] ?? "fraction");
}

/** "÷ 3.1" */
function divided(factor) {
  return `÷ ${short(factor, "ratio").replace("×", "")}`;
}

export default {
  id: ChainController.id,
  controller: ChainController,
  join: valueOfEachFile,
  defaults: () => ({ yScale: "logarithmic", bands: false, ...ROWS }),

  /** The cells have units of their own. */
  unitOf,

  measured: (points) => points.slice(0, 1),

  options(given) {
    const value = acrossScale(given);
    const least = Math.min(
      ...given.entries.flatMap(({ points: [first] }) => (first?.y > 0 ? [first.y] : [])),
    );
    // The least bar is to be seen, too: a logarithmic axis begins at the power of ten below it.
    if (value.type === "logarithmic" && Number.isFinite(least))
      value.min = 10 ** Math.floor(Math.log10(least / 2));
    return { index: laneScale(given, laneOfEach(given)), value };
  },

  sentence(model, say) {
    let before = null;
    return tellSeries("Chain", model, say, ({ points: [value, ...shares] }) => {
      const factor = before > 0 && value?.y > 0 && before > value.y ? `, ${divided(before / value.y)}` : "";
      before = value?.y ?? before;
      const cells = shares
        .filter(({ y }) => y !== null)
        .map(({ x, y }) => `${x} ${formatValue(y, unitOf(say.settings, { at: model.xs.indexOf(x) }))}`);
      return [`${tellPoint(value, say)}${factor}`, ...cells].join(", ");
    });
  },

  table(chart, { rowTable, seriesOf, textCell, valueColumns }) {
    const { axes, settings } = chart;
    const shown = seriesOf(chart);
    const [value, ...cells] = valueColumns(chart, (at) => unitOf({ ...settings, ...axes }, { at }));
    const lost = {
      title: "Lost in this step",
      cell: (series) => {
        const former = shown[shown.indexOf(series) - 1];
        const [own, before] = [series, former].map((one) => one?.points[0]?.y);
        return textCell(own > 0 && before > own ? divided(before / own) : "–");
      },
    };
    return rowTable(chart, [value, lost, ...cells]);
  },
};
