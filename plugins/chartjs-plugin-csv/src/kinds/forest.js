/**
 * `forest`: estimates with their intervals, a row each. Where a file has several x, each is a group, with a row for every
 * series; several files are several series (`more`, `names`, `of`). The thick line is the interval of the mean (`low` to
 * `high`), the thin one the prediction for a further campaign (`min` to `max`). A mark is full if its interval excludes the
 * line of no difference, or if the slide emphasises its series.
 */

import { csvOf } from "../plugin.js";
import { place } from "../figures.js";
import { wrapLabel } from "../labels-layout.js";
import { rowTable, seriesOf, textCell, valueCell } from "../tables.js";
import {
  KindController,
  aboutIn,
  acrossScale,
  emOf,
  isEmphasised,
  laneOfEach,
  laneScale,
  marksOf,
  seriesOfEachFile,
  tellPoint,
  tellSeries,
  themeOf,
} from "./base.js";
import { stroke } from "./pen.js";

/** In sizes of a mark: the two lines, and the ends of the thin one. */
const INTERVAL = { width: 0.28, alpha: 0.45 };
const PREDICTION = { width: 0.1, end: 0.35 };
const FIGURE = { usual: 1.1, strong: 1.6 };
/** The width of the figures, in sizes of the chart's font. */
const FIGURES = 4;
/** Letters of a heading that is no sentence. */
const SHORT = 16;
/** How strong the region is in which a claim would hold. */
const REGION = 0.14;

/**
 * How the rows are laid out: groups with a heading, one row for each x of a single series, or one for each series. Pure.
 * @returns {{headings: {lane: number, text: string}[], laneOf: (series: number, x: number) => number, names?: string[]}}
 */
export function rowsOf(xs, count, nameOf) {
  if (xs.length === 1) return { headings: [], laneOf: (series) => series };
  if (count === 1) return { headings: [], laneOf: (_, x) => x, names: xs.map(nameOf) };
  const height = count + 1;
  return {
    headings: xs.map((x, index) => ({ lane: index * height, text: nameOf(x) })),
    laneOf: (series, x) => x * height + 1 + series,
  };
}

class ForestController extends KindController {
  static id = "forest";
  static drawsRuns = true;
  static overrides = { ...KindController.overrides, indexAxis: "y" };

  static key(chart) {
    const { settings, entries } = csvOf(chart);
    const hasPrediction = entries.some(({ points }) =>
      points.some(({ min, max }) => isNumber(min) && isNumber(max)),
    );
    return {
      title: chart.options.indexAxis === "y" ? null : settings.yTitle,
      items: hasPrediction
        ? [{ text: "thick: interval of the mean; thin: prediction for another campaign" }]
        : [],
    };
  }

  /** Room for the figures beyond the intervals. */
  static side(chart) {
    return chart.options.indexAxis === "y" ? FIGURES * emOf(chart) : 0;
  }

  static behind(chart) {
    const line = lineOf(csvOf(chart).settings);
    const isFlipped = chart.options.indexAxis === "y";
    const scale = chart.scales[isFlipped ? "x" : "y"];
    if (line === null || line < scale.min || line > scale.max) return;
    const { left, right, top, bottom } = chart.chartArea;
    const at = scale.getPixelForValue(line);
    const ends = isFlipped
      ? [
          { x: at, y: top },
          { x: at, y: bottom },
        ]
      : [
          { x: left, y: at },
          { x: right, y: at },
        ];
    stroke(chart.ctx, ...ends, { color: themeOf(chart).ink, width: 2 });
  }

  /** Headings of groups that are sentences stand in the plot, short ones among the names of the rows. */
  static labels(chart) {
    const { headings } = layoutIn(chart);
    if (areShort(headings)) return [];
    const isFlipped = chart.options.indexAxis === "y";
    const scale = chart.scales[isFlipped ? "y" : "x"];
    const { left, top } = chart.chartArea;
    const letters = (chart.width - 12) / (0.56 * themeOf(chart).font.size);
    return headings.map(({ lane, text }) => ({
      lines: wrapLabel(text, letters, ({ length }) => length).map((line) => ({
        text: line,
        weight: 700,
        color: themeOf(chart).ink,
      })),
      isFixed: true,
      places: (width, height) => {
        const at = scale.getPixelForValue(lane);
        if (!isFlipped) return [{ left: at - width / 2, top: top + 2, align: "center" }];
        return [{ left: Math.max(2, Math.min(left + 6, chart.width - 4 - width)), top: at - height / 2 }];
      },
    }));
  }

  place({ x, y, low, high, min, max, region }) {
    const { settings, model } = this.csv;
    const lane = layoutIn(this.chart).laneOf(aboutIn(this.chart).indexOf(this.entry), model.xs.indexOf(x));
    const line = lineOf(settings);
    const isDecided = line === null || (isNumber(low) && isNumber(high) && (low > line || high < line));
    const isFull = settings.emphasis?.length ? isEmphasised(settings, this.entry.name) : isDecided;
    return {
      ...this.at(this.along(lane), this.across(y)),
      style: isFull ? "full" : "hollow",
      interval: this.#ends(low, high),
      prediction: this.#ends(min, max),
      region: region ? this.#region(region) : null,
    };
  }

  /** The part of the axis in which a claim would hold, px across. */
  #region({ low, high }) {
    const { vScale } = this._cachedMeta;
    return [isNumber(low) ? low : vScale.min, isNumber(high) ? high : vScale.max].map((value) =>
      this.across(Math.max(vScale.min, Math.min(vScale.max, value))),
    );
  }

  /** px across; null without bounds. */
  #ends(low, high) {
    return isNumber(low) && isNumber(high) ? [this.across(low), this.across(high)] : null;
  }

  obstacles() {
    return marksOf(this).flatMap((mark) =>
      [mark.interval, mark.prediction].filter(Boolean).map(([low, high]) => {
        const along = this.isFlipped ? mark.y : mark.x;
        return { ...this.box([along - 3, low], [along + 3, high]), cost: 5 };
      }),
    );
  }

  draw() {
    const ctx = this._ctx;
    const alongOf = (mark) => (this.isFlipped ? mark.y : mark.x);
    for (const mark of marksOf(this)) {
      const at = (across, off = 0) => this.at(alongOf(mark) + off, across);
      const { size, color, interval, prediction, region } = mark;
      if (region) {
        const reach = Math.min(this.breadth * 0.4, size * 0.8);
        const { left, top, right, bottom } = this.box(
          [alongOf(mark) - reach, region[0]],
          [alongOf(mark) + reach, region[1]],
        );
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
      const at = this.isFlipped ? { x: far, y: mark.y } : { x: mark.x, y: far };
      const size = isStrong ? FIGURE.strong : FIGURE.usual;
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
        sides: this.isFlipped ? ["right", "above", "below"] : ["above", "right", "left"],
        at: { ...at, reach: ends.length ? 3 : mark.size / 2 },
        importance: isStrong ? 2 : 1,
      };
    });
  }
}

/** Files with one value for each series: a series for each file, over the names of the series. Null for other files. */
function estimatesOfEachFile(models, names) {
  if (!models.every(({ xs, series }) => xs.length === 1 && series.length > 1)) return null;
  const xs = [...new Set(models.flatMap(({ series }) => series.map(({ name }) => name)))];
  const absent = { y: null, low: null, high: null, n: null };
  const series = models.map((model, index) => ({
    name: names?.[index] ?? `${index + 1}`,
    points: xs.map((x) => ({ ...absent, ...model.series.find(({ name }) => name === x)?.points[0], x })),
  }));
  return { kind: "wide", xLabel: "", xs, series };
}

const isNumber = (value) => Number.isFinite(value);

/** Where there is no difference: 1 of a ratio, unless the page says otherwise; null for none. */
function lineOf({ line, yUnit }) {
  return line === undefined || line === null ? (yUnit === "ratio" ? 1 : null) : line === false ? null : line;
}

function areShort(headings) {
  return headings.every(({ text }) => text.length <= SHORT);
}

function layoutIn(chart) {
  const { model, settings } = csvOf(chart);
  return rowsOf(model.xs, aboutIn(chart).length, (x) => place(x, settings.xUnit, settings));
}

export default {
  id: ForestController.id,
  controller: ForestController,
  join: (models, settings) =>
    estimatesOfEachFile(models, settings.names) ?? seriesOfEachFile(models, settings),
  /** Twice as much and half as much are equally far from no difference. */
  defaults: ({ yUnit }) => (yUnit === "ratio" ? { bands: "both", yScale: "log2" } : { bands: "auto" }),

  options(given) {
    const { model, entries, settings } = given;
    const { headings, names } = rowsOf(model.xs, entries.length, (x) => place(x, settings.xUnit, settings));
    const own = laneOfEach(given);
    const lanes = names
      ? names.map((text) => ({ text, color: own[0].color }))
      : headings.length
        ? headings.flatMap(({ text }) => [
            areShort(headings) ? { text, color: given.theme.ink } : { text: "" },
            ...own,
          ])
        : own;
    const value = acrossScale(given);
    // No further than what is drawn, and the line of no difference.
    if (value.type === "log2") {
      const line = lineOf(settings) ?? NaN;
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
    return { index: laneScale(given, lanes), value };
  },

  sentence(model, say) {
    return tellSeries("Estimates", model, say, ({ points }) =>
      points
        .map((point) => `${tellPoint(point, say)}${model.xs.length > 1 ? ` at ${say.x(point.x)}` : ""}`)
        .join(", "),
    );
  },

  table(chart) {
    const { model, axes } = chart;
    const named = (x) => place(x, axes.xUnit, axes);
    const rows = model.xs.flatMap((x, index) =>
      seriesOf(chart).map((series) => ({
        title: model.xs.length > 1 ? `${named(x)}: ${series.name}` : series.name,
        series: { ...series, points: [series.points[index]] },
      })),
    );
    const hasPrediction = rows.some(({ series }) => isNumber(series.points[0]?.min));
    const end =
      (key) =>
      ({ points: [point] }) =>
        valueCell(point && { x: point.x, y: point[key] ?? null, low: null, high: null, n: null }, axes);
    const columns = [
      { title: "Estimate", cell: ({ points }) => valueCell(points[0], axes) },
      ...(hasPrediction
        ? [
            { title: "Another campaign, from", cell: end("min") },
            { title: "to", cell: end("max") },
          ]
        : []),
      { title: "n", cell: ({ points }) => textCell(isNumber(points[0]?.n) ? String(points[0].n) : "–") },
    ];
    return rowTable(chart, columns, { rows });
  },
};
