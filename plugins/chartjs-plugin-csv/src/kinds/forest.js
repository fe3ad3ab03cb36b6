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
  LINE,
  MARK,
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
  textWidth,
  themeOf,
} from "./base.js";
import { shapeOf, stroke } from "./pen.js";

/** In sizes of a mark: the two lines, and the ends of the thin one. */
const INTERVAL = { width: 0.28, alpha: 0.45 };
const PREDICTION = { width: 0.1, end: 0.35 };
const FIGURE = { usual: 1.1, strong: 1.6, least: 0.8 };
/** The width of the figures, in sizes of the chart's font. */
const FIGURES = 4;
/** The width from which headings that are sentences have room beside the rows, in sizes of the chart's font. */
const WIDE = 40;
/** The share of it that they take, and their sizes, of which the largest that fits is taken. */
const HEADING = { share: 0.4, sizes: [1, 0.85, 0.75], gap: 10 };
/** Lines of a heading above its rows, at most. */
const MOST_LINES = 6;
/** Lanes between groups whose headings are beside them. */
const BETWEEN_GROUPS = 0.5;
/** Letters of a heading that is no sentence. */
const SHORT = 16;
/** How strong the region is in which a claim would hold. */
const REGION = 0.14;

/**
 * How the rows are laid out: one for each series, one for each x of a single series, or groups with a heading, which is above
 * their rows or beside these. Lanes are as high as a row; between groups there may be less. Pure.
 * @param {any[]} xs
 * @param {number} count   of series
 * @param {{isBeside?: boolean, heightOf?: (x: any) => number}} [headings]   heightOf: of a heading above its rows, in lanes
 * @returns {{headings: {lane: number, x: any}[], laneOf: (series: number, x: number) => number, count: number}}
 */
export function rowsOf(xs, count, { isBeside = false, heightOf = () => 1 } = {}) {
  if (xs.length === 1) return { headings: [], laneOf: (series) => series, count };
  if (count === 1) return { headings: [], laneOf: (_, x) => x, count: xs.length };
  const headings = [];
  const firsts = [];
  let next = 0;
  for (const x of xs) {
    const height = isBeside ? 0 : heightOf(x);
    firsts.push(next + height);
    headings.push({ lane: isBeside ? next + (count - 1) / 2 : next + (height - 1) / 2, x });
    next += height + count + (isBeside ? BETWEEN_GROUPS : 0);
  }
  return { headings, laneOf: (series, x) => firsts[x] + series, count: Math.floor(next) };
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
    const names = layoutIn(chart).isBeside ? entries.map((entry, index) => keyOf(chart, entry, index)) : [];
    return {
      title: chart.options.indexAxis === "y" ? null : settings.yTitle,
      items: [
        ...names,
        ...(hasPrediction
          ? [{ text: "thick: interval of the mean; thin: prediction for another campaign" }]
          : []),
      ],
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

  /** Headings that are sentences stand beside the rows or above them; short ones are among the names of the rows. */
  static labels(chart) {
    const layout = layoutIn(chart);
    if (layout.areShort) return [];
    const isFlipped = chart.options.indexAxis === "y";
    const scale = chart.scales[isFlipped ? "y" : "x"];
    const { left, top } = chart.chartArea;
    const size = layout.isBeside ? sizeBeside(chart, layout) : 1;
    return layout.headings.map(({ lane, x }) => ({
      lines: headingLines(chart, x, layout, size).map((text) => ({
        ...{ text, size, weight: layout.isBeside ? 400 : 700, color: themeOf(chart).ink },
      })),
      isFixed: true,
      places: (width, height) => {
        const at = scale.getPixelForValue(lane);
        if (!isFlipped) return [{ left: at - width / 2, top: top + 2, align: "center" }];
        const start = layout.isBeside ? left - HEADING.gap - width : 2;
        return [{ left: start, top: at - height / 2, align: layout.isBeside ? "right" : "left" }];
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
      size: Math.min(MARK * this.em, 0.95 * this.breadth),
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

  /** The size of a figure that is no higher than its row; one that nobody could read is no help either. */
  get #figure() {
    return this.isFlipped ? Math.max(FIGURE.least, this.breadth / (LINE * this.em)) : Infinity;
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

/** Whether headings are no sentences, so that they can stand among the names of rows. */
function areShort(xs, settings) {
  return xs.every((x) => nameOf(x, settings).length <= SHORT);
}

function nameOf(x, settings) {
  return place(x, settings.xUnit, settings);
}

/** The rows of a chart. */
function layoutIn(chart) {
  const { model, settings } = csvOf(chart);
  const count = aboutIn(chart).length;
  const isGrouped = model.xs.length > 1 && count > 1;
  const isFlipped = chart.options.indexAxis === "y";
  const short = !isGrouped || areShort(model.xs, settings);
  const isBeside = !short && isFlipped && chart.width > WIDE * emOf(chart);
  const heightOf = (x) => (short || !isFlipped ? 1 : headingLines(chart, x, { isBeside }).length);
  return { ...rowsOf(model.xs, count, { isBeside, heightOf }), isBeside, areShort: short };
}

/** The lines of a heading that is a sentence. */
function headingLines(chart, x, { isBeside }, size = 1) {
  const width = isBeside ? HEADING.share * chart.width : chart.width - 12;
  const weight = isBeside ? 400 : 700;
  return wrapLabel(nameOf(x, csvOf(chart).settings), width, (text) =>
    textWidth(chart, text, { size, weight }),
  );
}

/** The largest size in which no heading beside its group is higher than this. */
function sizeBeside(chart, layout) {
  const { y } = chart.scales;
  const [first, second] = layout.headings;
  const most = y.getPixelForValue(second.lane) - y.getPixelForValue(first.lane);
  const fits = (size) =>
    layout.headings.every(
      ({ x }) => headingLines(chart, x, layout, size).length * LINE * size * emOf(chart) <= most,
    );
  return HEADING.sizes.find(fits) ?? HEADING.sizes.at(-1);
}

/** The names of all lanes, as far as they have one. */
function lanesIn(chart, own) {
  const { model, settings } = csvOf(chart);
  const { ink } = themeOf(chart);
  const layout = layoutIn(chart);
  const lanes = Array.from({ length: layout.count }, () => ({ text: "" }));
  if (layout.isBeside) return lanes;
  if (layout.areShort)
    for (const { lane, x } of layout.headings) lanes[lane] = { text: nameOf(x, settings), color: ink };
  const isPerX = layout.headings.length === 0 && model.xs.length > 1;
  model.xs.forEach((x, group) =>
    own.forEach((name, series) => {
      const row = isPerX ? { text: nameOf(x, settings), color: name.color } : name;
      lanes[layout.laneOf(series, group)] = row;
    }),
  );
  return lanes;
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

  options(given) {
    const { model, entries, settings } = given;
    const own = laneOfEach(given);
    // As many lanes as a narrow chart needs, whose headings are of several lines.
    const most = rowsOf(model.xs, entries.length, { heightOf: () => MOST_LINES }).count;
    const index = laneScale(
      given,
      Array.from({ length: most }, () => ({ text: "" })),
      (chart) => lanesIn(chart, own),
    );
    index.afterDataLimits = (scale) => {
      scale.max = layoutIn(scale.chart).count - 1;
    };
    index.afterFit = (scale) => {
      const { chart } = scale;
      if (!layoutIn(chart).isBeside) return;
      const widths = model.xs.map((x) => textWidth(chart, nameOf(x, settings)));
      scale.width = Math.min(HEADING.share * chart.width, Math.max(...widths)) + HEADING.gap;
    };
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
    return { index, value };
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
