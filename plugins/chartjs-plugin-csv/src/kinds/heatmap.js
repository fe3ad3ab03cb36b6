/**
 * `heatmap`: a value for each of two factors, in the depth of a colour. A row for each series, a column for each x. Where there
 * is room the value is written in its cell; a cell without a value is an outline (`missingName` says what that means).
 * The colours are on a logarithmic scale unless `yScale` is linear.
 */

import { isLogarithmic } from "../range.js";
import { yScaleType } from "../axes.js";
import { place, valuesOf } from "../figures.js";
import { csvOf } from "../plugin.js";
import { resolveColor } from "../style.js";
import { short } from "../units.js";
import { KindController, ROWS, aboutIn, laneOfEach, laneScale, themeOf } from "./base.js";
import { drawMark } from "./pen.js";

const RAMP = ["var(--heat-low, #d7e9df)", "var(--heat-middle, #3c9676)", "var(--heat-high, #002c20)"];
/** The part of a cell's place that it takes, and the corners of a cell in shares of its height. */
const CELL = 0.84;
const CORNER = 0.12;
/** A cell of this size has room for its value, in sizes of the chart's font. */
const ROOM = { width: 3, height: 1.25 };

/** "rgb(1, 2, 3)" or "#010203" → [1, 2, 3] */
function channels(color) {
  const hex = /^#([0-9a-f]{6})/i.exec(color);
  if (hex) return [0, 2, 4].map((at) => Number.parseInt(hex[1].slice(at, at + 2), 16));
  return (color.match(/[\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);
}

/** A colour of a ramp; share: 0 to 1. Pure. */
export function colorAt(ramp, share) {
  const at = Math.max(0, Math.min(1, share)) * (ramp.length - 1);
  const low = Math.min(Math.floor(at), ramp.length - 2);
  const mixed = ramp[low].map((byte, i) => Math.round(byte + (ramp[low + 1][i] - byte) * (at - low)));
  return `rgb(${mixed.join(", ")})`;
}

/** Relative luminance as WCAG 2 has it. Pure. */
function luminance(rgb) {
  const [r, g, b] = rgb.map((byte) => {
    const share = byte / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Where the values of a chart lie on its ramp. */
function rampIn(chart) {
  const { settings } = csvOf(chart);
  const values = aboutIn(chart).flatMap(valuesOf);
  const isLog = isLogarithmic(yScaleType(settings)) && values.every((value) => value > 0);
  const placeOf = isLog ? Math.log : (value) => value;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const ramp = RAMP.map((color) => channels(resolveColor(chart.canvas, color)));
  const share = (value) =>
    high > low ? (placeOf(value) - placeOf(low)) / (placeOf(high) - placeOf(low)) : 0.5;
  const middle = isLog ? Math.sqrt(low * high) : (low + high) / 2;
  return {
    colorOf: (value) => colorAt(ramp, share(value)),
    samples: values.length ? [low, middle, high] : [],
  };
}

class HeatmapController extends KindController {
  static id = "heatmap";
  static hasValueAxis = false;

  static key(chart) {
    const { settings } = csvOf(chart);
    const { colorOf, samples } = rampIn(chart);
    const hasGaps = aboutIn(chart).some(({ points }) => points.some(({ y }) => y === null));
    return {
      title: null,
      items: [
        ...(settings.yTitle ? [{ text: settings.yTitle }] : []),
        ...[...new Set(samples)].map((value) => ({
          text: short(value, settings.yUnit, settings),
          style: "full",
          color: colorOf(value),
          shape: "square",
        })),
        ...(hasGaps
          ? [{ text: settings.missingName ?? "not measured", style: "dashed", shape: "square" }]
          : []),
      ],
    };
  }

  updateElements(elements, start, count, mode) {
    this.ramp = rampIn(this.chart);
    super.updateElements(elements, start, count, mode);
  }

  place({ x, y }) {
    const { vScale, iScale } = this._cachedMeta;
    const row = vScale.getPixelForValue(aboutIn(this.chart).indexOf(this.entry));
    const length = (scale) =>
      (scale.isHorizontal() ? scale.width : scale.height) / Math.max(1, scale.getLabels().length);
    const [along, across] = [length(iScale) * CELL, length(vScale) * CELL];
    return {
      ...this.at(this.laneAt(x), row),
      ...(this.isFlipped ? { width: across, height: along } : { width: along, height: across }),
      style: y === null ? "dashed" : "none",
      shape: "square",
      color: y === null ? themeOf(this.chart).text : this.ramp.colorOf(y),
    };
  }

  draw() {
    const ctx = this._ctx;
    const { em } = this;
    const { page, ink } = themeOf(this.chart);
    const { family = "sans-serif" } = themeOf(this.chart).font;
    ctx.save();
    Object.assign(ctx, { textAlign: "center", textBaseline: "middle", font: `600 ${em}px ${family}` });
    const [light, dark] = [page, ink].sort((a, b) => luminance(channels(b)) - luminance(channels(a)));
    const points = this.entry?.points ?? [];
    this._cachedMeta.data.forEach((mark, index) => {
      if (mark.skip) return;
      const { x, y, width, height, color } = mark;
      if (points[index].y === null) {
        drawMark(ctx, { ...mark, size: Math.min(width, height), style: "dashed", page });
        return;
      }
      ctx.fillStyle = color;
      ctx.beginPath();
      ctx.roundRect(x - width / 2, y - height / 2, width, height, Math.max(1, height * CORNER));
      ctx.fill();
      const text = this.short(points[index].y);
      const hasRoom =
        height >= ROOM.height * em && width >= Math.max(ROOM.width * em, ctx.measureText(text).width + 6);
      if (!hasRoom) return;
      ctx.fillStyle = luminance(channels(color)) > 0.3 ? dark : light;
      ctx.fillText(text, x, y);
    });
    ctx.restore();
  }
}

export default {
  id: HeatmapController.id,
  controller: HeatmapController,
  defaults: () => ({ bands: false, yScale: "logarithmic", ...ROWS }),

  options(given) {
    const { model, settings, theme } = given;
    const names = model.xs.map((x) => ({
      text: String(place(x, settings.xUnit, settings)),
      color: theme.text,
      weight: 400,
    }));
    const columns = laneScale(given, names);
    // Numbers along an axis need not all be written, and none takes two lines.
    if (model.xs.every((x) => typeof x === "number")) {
      columns.ticks.autoSkip = true;
      columns.ticks.callback = (at) => names[at]?.text ?? "";
      // Columns that lie between whole numbers: each of those is written where it has just been passed.
      if (model.xs.length > 12 && !model.xs.some(Number.isInteger)) {
        const passed = (at) => at > 0 && Math.floor(model.xs[at]) > Math.floor(model.xs[at - 1]);
        columns.ticks.autoSkip = false;
        columns.ticks.callback = (at) =>
          passed(at) ? String(place(Math.floor(model.xs[at]), settings.xUnit, settings)) : "";
      }
    }
    columns.title.text = settings.xTitle ?? (model.kind === "wide" ? model.xLabel : "");
    columns.title.display = columns.title.text !== "";
    return { index: columns, value: laneScale({ ...given, flipped: !given.flipped }, laneOfEach(given)) };
  },

  sentence(model, say) {
    const all = model.series.flatMap(({ name, points }) => points.map((point) => ({ name, ...point })));
    const measured = all.filter(({ y }) => y !== null).sort((a, b) => a.y - b.y);
    const tell = ({ name, x, y }) => `${say.y(y)} for ${name} at ${say.x(x)}`;
    const gaps = all.length - measured.length;
    const findings = measured.length
      ? [`lowest ${tell(measured[0])}`, `highest ${tell(measured.at(-1))}`]
      : ["nothing measured"];
    if (gaps) findings.push(`not measured in ${gaps} of ${all.length}`);
    return `Heat map${say.title ? ` of ${say.title}` : ""}, ${model.series.length} by ${model.xs.length}: ${findings.join("; ")}`;
  },

  table: (chart, { crossTable }) => crossTable([chart]),
};
