/**
 * `share`: what several have together, and what each waits for it. A column for each x, cut into x equal parts, of which one is
 * drawn full; the second series hangs below, hatched. Two files are the two series (`more`, `names`, `of`); `units` are theirs.
 */

import { csvOf } from "../plugin.js";
import { inOrder } from "../entries.js";
import { place } from "../figures.js";
import {
  KindController,
  isFlipped,
  laneScale,
  marksOf,
  seriesOfEachFile,
  tellPoint,
  tellSeries,
  themeOf,
  unitAt,
} from "./base.js";
import { boxOf } from "./mark.js";
import { hatch, strokeThrough } from "./pen.js";

/** The part of a column's place that it takes; how far down the longest wait reaches, of the height above the ground. */
const COLUMN = 0.5;
const DOWN = 0.7;
/** px between parts. */
const BETWEEN = 3;
const FIGURE = 1.2;
/** What is left for figures at both ends, of the height above the ground. */
const ROOM = 0.5;
/** More parts than this cannot be told apart. */
const MOST = 24;

class ShareController extends KindController {
  static id = "share";

  static key(chart) {
    const { entries } = csvOf(chart);
    const [finished, waited] = entries;
    return {
      title: null,
      items: [
        ...(finished
          ? [{ text: `upwards: ${finished.label}, one part in full colour`, style: "full", shape: "square" }]
          : []),
        ...(waited ? [{ text: `downwards, hatched: ${waited.label}` }] : []),
      ],
    };
  }

  static behind(chart) {
    const scale = chart.scales[isFlipped(chart) ? "x" : "y"];
    strokeThrough(chart, scale.getPixelForValue(0), { color: themeOf(chart).text, width: 2 });
  }

  /** The position of this series in its data set; the second hangs below. */
  get #position() {
    return this.csv.entries.filter(({ second }) => second === this.entry.second).indexOf(this.entry);
  }

  get #isBelow() {
    return this.#position > 0;
  }

  place({ x, y }) {
    if (y === null) return null;
    const { entries } = this.csv;
    const alike = entries.filter(({ name }) => name === this.entry.name);
    const most = Math.max(...alike.flatMap(({ points }) => points.map((point) => point.y ?? 0))) || 1;
    const share = (y / most) * (this.#isBelow ? -DOWN : 1);
    // The columns of two data sets stand side by side.
    const sets = entries.some(({ second }) => second) ? 2 : 1;
    const thick = (this.breadth * COLUMN) / sets;
    const along = this.laneAt(x) + (sets - 1) * thick * (this.entry.second ? 0.5 : -0.5);
    const [ground, end] = [this.across(0), this.across(share)];
    return { ...this.bar(along, [ground, end], thick), end, ground, at: along };
  }

  obstacles() {
    return marksOf(this).map(boxOf);
  }

  draw() {
    const ctx = this._ctx;
    const { text } = themeOf(this.chart);
    const { points } = this.entry ?? { points: [] };
    this._cachedMeta.data.forEach((mark, index) => {
      if (mark.skip) return;
      const thick = (this.isFlipped ? mark.height : mark.width) / 2;
      const whole = this.box([mark.at - thick, mark.ground], [mark.at + thick, mark.end]);
      ctx.save();
      if (this.#isBelow) {
        hatch(ctx, whole, text, 0.45);
        Object.assign(ctx, { strokeStyle: text, lineWidth: 2 });
        ctx.strokeRect(whole.left, whole.top, whole.right - whole.left, whole.bottom - whole.top);
      } else {
        const { x } = points[index];
        const parts = Number.isInteger(x) && x >= 1 && x <= MOST ? x : 1;
        const step = (mark.end - mark.ground) / parts;
        const gap = Math.sign(step) * Math.min(BETWEEN, Math.abs(step) / 3);
        ctx.fillStyle = this.color;
        for (let part = 0; part < parts; part += 1) {
          const from = mark.ground + part * step;
          const box = this.box(
            [mark.at - thick, from],
            [mark.at + thick, from + step - (parts > 1 ? gap : 0)],
          );
          ctx.globalAlpha = part === 0 ? 1 : 0.42;
          ctx.fillRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
        }
      }
      ctx.restore();
    });
  }

  labels() {
    const { settings, theme } = this.csv;
    return this.entry.points.flatMap((point, index) => {
      const mark = this._cachedMeta.data[index];
      if (mark.skip) return [];
      const isBelow = this.#isBelow;
      const text = this.short(point.y, unitAt(settings, this.#position));
      const look = { weight: 700, color: isBelow ? theme.ink : this.color };
      // Above or below its own bar only: beside it, it would be read as that of another.
      const upright = (width, height) => [
        { left: mark.x - width / 2, top: isBelow ? mark.end + 6 : mark.end - height - 6, align: "center" },
      ];
      return {
        lines: [{ text, size: FIGURE, ...look }],
        brief: [{ text: text.replace(/\s.*$/, ""), ...look }],
        ...(this.isFlipped ? { sides: [isBelow ? "left" : "right"] } : { places: upright }),
        at: { ...this.at(mark.at, mark.end), reach: 0 },
        importance: 1,
      };
    });
  }
}

/** The unit of a series: by where it stands as it is drawn, whichever are shown. */
function unitOfSeries(series, { series: shown, all = shown }, settings) {
  return unitAt(settings, inOrder(all, settings).indexOf(series));
}

export default {
  id: ShareController.id,
  controller: ShareController,
  join: seriesOfEachFile,
  defaults: () => ({ bands: false }),
  unitOf: (settings, { series }) => unitAt(settings, series),

  options(given) {
    const { model, settings } = given;
    const lanes = model.xs.map((x) => ({ text: String(place(x, settings.xUnit, settings)) }));
    const index = laneScale(given, lanes);
    index.title.text = settings.xTitle ?? model.xLabel;
    index.title.display = index.title.text !== "";
    // Beyond the ends is room for figures.
    return { index, value: { type: "linear", display: false, min: -DOWN - ROOM, max: 1 + ROOM } };
  },

  sentence: (model, say) =>
    tellSeries("Shares", model, say, (series) => {
      const unit = unitOfSeries(series, model, say.settings);
      return series.points
        .map((point) => `${tellPoint(point, say.in(unit))} at ${say.x(point.x)}`)
        .join(", ");
    }),

  table(chart, { rowTable, seriesOf, valueCell }) {
    const { model, axes, settings } = chart;
    const series = seriesOf(chart);
    const rows = model.xs.map((x, index) => ({
      title: String(place(x, axes.xUnit, axes)),
      series: { name: String(x), points: series.map(({ points }) => points[index]) },
    }));
    const columns = series.map((one, position) => ({
      title: one.name,
      cell: ({ points }) =>
        valueCell(points[position], {
          ...axes,
          yUnit: unitOfSeries(one, model, { ...settings, yUnit: axes.yUnit }),
        }),
    }));
    return rowTable(chart, columns, { rows, xLabel: model.xLabel });
  },
};
