/**
 * `forest`: estimates with their intervals, a row each. Where a file has several x, each is a group, with a row for every
 * series; several files are several series (`more`, `names`, `of`). The thick line is the interval of the mean (`low` to
 * `high`), the thin one the prediction for a further campaign (`min` to `max`). A mark is full if its interval excludes the
 * line of no difference, or if the slide emphasises its series.
 */

import { csvOf } from "../plugin.js";
import { place } from "../figures.js";
import { pointOf } from "../table.js";
import {
  KindController,
  LINE,
  MARK,
  aboutIn,
  acrossScale,
  emOf,
  isEmphasised,
  isFlipped,
  marksOf,
  seriesOfEachFile,
  tellPoint,
  tellSeries,
  themeOf,
  titleAbove,
} from "./base.js";
import { labelsOfHeadings, layoutIn, rowScale } from "./forest-rows.js";
import { shapeOf, stroke, strokeThrough } from "./pen.js";

/** How many times further than its value a bound may be and still decide where the axis ends. */
const REACH = 8;
/** In sizes of a mark: the two lines, and the ends of the thin one. */
const INTERVAL = { width: 0.28, alpha: 0.45 };
const PREDICTION = { width: 0.1, end: 0.35 };
const FIGURE = { usual: 1.1, strong: 1.6, least: 0.8 };
/** The width of the figures, in sizes of the chart's font. */
const FIGURES = 4;
/** How strong the region is in which a claim would hold. */
const REGION = 0.14;

class ForestController extends KindController {
  static id = "forest";
  static drawsRuns = true;
  static overrides = { ...KindController.overrides, indexAxis: "y" };

  static key(chart) {
    const { entries } = csvOf(chart);
    const hasPrediction = entries.some(({ points }) =>
      points.some(({ min, max }) => Number.isFinite(min) && Number.isFinite(max)),
    );
    const names = layoutIn(chart).isBeside ? entries.map((entry, index) => keyOf(chart, entry, index)) : [];
    return {
      title: titleAbove(chart),
      items: [...names, ...(hasPrediction ? [{ text: "thick: the mean; thin: the next campaign" }] : [])],
    };
  }

  /** Room for the figures beyond the intervals. */
  static side(chart) {
    return isFlipped(chart) ? FIGURES * emOf(chart) : 0;
  }

  static behind(chart) {
    const line = lineOf(csvOf(chart).settings);
    const scale = chart.scales[isFlipped(chart) ? "x" : "y"];
    if (line === null || line < scale.min || line > scale.max) return;
    strokeThrough(chart, scale.getPixelForValue(line), { color: themeOf(chart).ink, width: 2 });
  }

  /** Headings that are sentences; short ones are among the names of the rows. */
  static labels = labelsOfHeadings;

  place({ x, y, low, high, min, max, region }) {
    const { settings, model } = this.csv;
    const lane = layoutIn(this.chart).laneOf(aboutIn(this.chart).indexOf(this.entry), model.xs.indexOf(x));
    const line = lineOf(settings);
    const interval = this.#ends(low, high);
    const isDecided = line === null || (interval !== null && (low > line || high < line));
    const isFull = settings.emphasis?.length ? isEmphasised(settings, this.entry.name) : isDecided;
    return {
      ...this.at(this.along(lane), this.across(y)),
      size: Math.min(MARK * this.em, 0.95 * this.breadth),
      style: isFull ? "full" : "hollow",
      interval,
      prediction: this.#ends(min, max),
      region: region ? this.#region(region) : null,
    };
  }

  /** The part of the axis in which a claim would hold, px across. */
  #region({ low, high }) {
    const { vScale } = this._cachedMeta;
    return this.#within([Number.isFinite(low) ? low : vScale.min, Number.isFinite(high) ? high : vScale.max]);
  }

  /** The size of a figure that is no higher than its row; one that nobody could read is no help either. */
  get #figure() {
    return this.isFlipped ? Math.max(FIGURE.least, this.breadth / (LINE * this.em)) : Infinity;
  }

  /** px across, as far as the axis goes; null without bounds. */
  #ends(low, high) {
    return Number.isFinite(low) && Number.isFinite(high) ? this.#within([low, high]) : null;
  }

  #within(values) {
    const { vScale } = this._cachedMeta;
    return values.map((value) => this.across(Math.max(vScale.min, Math.min(vScale.max, value))));
  }

  obstacles() {
    return marksOf(this).flatMap((mark) =>
      [mark.interval, mark.prediction].filter(Boolean).map(([low, high]) => {
        const along = this.alongOf(mark);
        return { ...this.box([along - 3, low], [along + 3, high]), cost: 5 };
      }),
    );
  }

  draw() {
    const ctx = this._ctx;
    for (const mark of marksOf(this)) {
      const along = this.alongOf(mark);
      const at = (across, off = 0) => this.at(along + off, across);
      const { size, color, interval, prediction, region } = mark;
      if (region) {
        const reach = Math.min(this.breadth * 0.4, size * 0.8);
        const { left, top, right, bottom } = this.box([along - reach, region[0]], [along + reach, region[1]]);
        ctx.save();
        Object.assign(ctx, { fillStyle: color, globalAlpha: REGION });
        ctx.fillRect(left, top, right - left, bottom - top);
        ctx.restore();
      }
      if (prediction) {
        const width = PREDICTION.width * size;
        const reach = PREDICTION.end * size;
        stroke(ctx, at(prediction[0]), at(prediction[1]), { color, width });
        for (const end of prediction) stroke(ctx, at(end, -reach), at(end, reach), { color, width });
      }
      if (interval) {
        const { width, alpha } = INTERVAL;
        stroke(ctx, at(interval[0]), at(interval[1]), { color, width: width * size, alpha });
      }
    }
    super.draw();
  }

  labels() {
    const { settings } = this.csv;
    const { name, points } = this.entry;
    const isStrong = isEmphasised(settings, name);
    return this._cachedMeta.data.flatMap((mark, index) => {
      if (mark.skip) return [];
      const ends = [...(mark.interval ?? []), ...(mark.prediction ?? [])];
      const far = this.isFlipped ? Math.max(mark.x, ...ends) : Math.min(mark.y, ...ends);
      const size = Math.min(isStrong ? FIGURE.strong : FIGURE.usual, this.#figure);
      return {
        lines: [
          {
            text: this.short(points[index].y),
            after: points[index].note,
            size,
            weight: 700,
            color: this.color,
          },
        ],
        sides: this.outwards,
        at: { ...this.at(this.alongOf(mark), far), reach: ends.length ? 3 : mark.size / 2 },
        importance: isStrong ? 2 : 1,
      };
    });
  }
}

/** Files with one value for each series: a series for each file, over the names of the series. Null for other files. */
function estimatesOfEachFile(models, names) {
  if (!models.every(({ xs, series }) => xs.length === 1 && series.length > 1)) return null;
  const xs = [...new Set(models.flatMap(({ series }) => series.map(({ name }) => name)))];
  const series = models.map((model, index) => ({
    name: names?.[index] ?? `${index + 1}`,
    points: xs.map((x) => ({ ...pointOf(x), ...model.series.find(({ name }) => name === x)?.points[0], x })),
  }));
  return { kind: "wide", xLabel: "", xs, series };
}

/** Where there is no difference: 1 of a ratio, unless the page says otherwise; null for none. */
function lineOf({ line, yUnit }) {
  if (line === false) return null;
  return line ?? (yUnit === "ratio" ? 1 : null);
}

/** A point with bounds no further from its value than REACH times. */
function withinReach(point) {
  const { y } = point;
  if (!(y > 0)) return point;
  const [from, to] = [y / REACH, y * REACH];
  const near = (value) => (Number.isFinite(value) ? Math.max(from, Math.min(to, value)) : value);
  return {
    ...point,
    low: near(point.low),
    high: near(point.high),
    min: near(point.min),
    max: near(point.max),
  };
}

/** A series in the key, with the form and the colour of its marks. */
function keyOf(chart, { label }, index) {
  const { csvColor, borderColor, pointStyle } = chart.data.datasets[index];
  return { text: label, style: "full", color: csvColor ?? borderColor, shape: shapeOf(pointStyle) };
}

export default {
  id: ForestController.id,
  controller: ForestController,
  join: (models, settings) =>
    estimatesOfEachFile(models, settings.names) ?? seriesOfEachFile(models, settings),
  /** Twice as much and half as much are equally far from no difference. */
  defaults: ({ yUnit }) => (yUnit === "ratio" ? { bands: "both", yScale: "log2" } : { bands: "auto" }),

  /** An interval that says hardly anything, such as one of two runs, does not decide where the axis ends. */
  measured: (points) => points.map(withinReach),

  options(given) {
    const { settings } = given;
    const value = acrossScale(given);
    // No further than what is drawn, and the line of no difference.
    if (value.type === "log2") {
      const line = lineOf(settings);
      Object.assign(value, {
        bounds: "data",
        ...(line > 0 ? { suggestedMin: line / 1.08, suggestedMax: line * 1.25 } : {}),
      });
    }
    const { lineName } = settings;
    if (lineName) {
      const { callback } = value.ticks;
      value.ticks.callback = function label(number) {
        return number === lineOf(settings) ? lineName : callback.call(this, number);
      };
    }
    return { index: rowScale(given), value };
  },

  sentence(model, say) {
    return tellSeries("Estimates", model, say, ({ points }) =>
      points
        .map((point) => `${tellPoint(point, say)}${model.xs.length > 1 ? ` at ${say.x(point.x)}` : ""}`)
        .join(", "),
    );
  },

  table(chart, { figureCell, rowTable, seriesOf, textCell, valueCell }) {
    const { model, axes } = chart;
    const named = (x) => place(x, axes.xUnit, axes);
    const rows = model.xs.flatMap((x, index) =>
      seriesOf(chart).map((series) => ({
        title: model.xs.length > 1 ? `${named(x)}: ${series.name}` : series.name,
        series: { ...series, points: [series.points[index]] },
      })),
    );
    const hasPrediction = rows.some(({ series }) => Number.isFinite(series.points[0]?.min));
    const end =
      (key) =>
      ({ points: [point] }) =>
        figureCell(point?.[key], axes);
    const columns = [
      { title: "Estimate", cell: ({ points }) => valueCell(points[0], axes) },
      ...(hasPrediction
        ? [
            { title: "Another campaign, from", cell: end("min") },
            { title: "to", cell: end("max") },
          ]
        : []),
      { title: "n", cell: ({ points: [{ n } = {}] }) => textCell(Number.isFinite(n) ? String(n) : "–") },
    ];
    return rowTable(chart, columns, { rows });
  },
};
