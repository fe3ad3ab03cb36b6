import { layouts } from "chart.js";
import { drawPoint } from "chart.js/helpers";
import { placeLabels, wrapLabel } from "./labels-layout.js";

const DEFAULTS = {
  display: true,
  font: { size: 20, weight: 600 },
  lineHeight: 1.15,
  gap: 4,
  offset: 12,
  maxWidth: 240,
};

const boxes = new WeakMap();

/**
 * Chart.js plugin `csvLabels`: each series' name at the end of its line, in its colour, without collision,
 * instead of a legend. Bars and scattered points have no line end: their names form a key beside the chart.
 *
 * Options (`options.plugins.csvLabels`, or false): `display`, `font` `{size, weight, family}`, `lineHeight`,
 * `gap` (px between labels), `offset` (px between line end and label), `maxWidth` (px; longer names wrap).
 */
export const EndLabels = {
  id: "csvLabels",
  defaults: DEFAULTS,

  start(chart) {
    const box = new LabelBox(chart);
    boxes.set(chart, box);
    layouts.configure(chart, box, { position: "right", weight: 500, fullSize: false });
    layouts.addBox(chart, box);
  },

  stop(chart) {
    layouts.removeBox(chart, boxes.get(chart));
    boxes.delete(chart);
  },

  afterDatasetsDraw(chart) {
    boxes.get(chart)?.drawLabels();
  },
};

/** The strip right of the chart area that Chart.js' layout reserves for the labels. */
class LabelBox {
  constructor(chart) {
    this.chart = chart;
    this.position = "right";
    this.width = 0;
    this.height = 0;
  }

  get options() {
    const given = this.chart.config.options.plugins?.csvLabels;
    const settings = typeof given === "object" ? given : {};
    return { ...DEFAULTS, ...settings, font: { ...DEFAULTS.font, ...settings.font } };
  }

  get isKey() {
    return this.chart.config.type !== "line";
  }

  isHorizontal() {
    return false;
  }

  /** Names of hidden series keep their room: showing one must not move the others. */
  update(_, maxHeight) {
    const { display, offset, maxWidth } = this.options;
    const { datasets } = this.chart.data;
    this.height = maxHeight;
    this.entries = [];
    this.width = 0;
    if (!display || !datasets.some((dataset) => dataset.label)) return;
    this.useFont(1);
    const measure = (text) => this.chart.ctx.measureText(text).width;
    const limit = Math.min(maxWidth, this.chart.width * 0.25);
    this.entries = datasets.map((dataset) => {
      const lines = wrapLabel(dataset.label ?? "", limit, measure);
      return { lines, width: Math.max(...lines.map(measure)) };
    });
    this.width = Math.ceil(Math.max(...this.entries.map((entry) => entry.width)) + offset + this.swatch + 2);
  }

  /** Drawing happens after the datasets, in `drawLabels`. */
  draw() {}

  get swatch() {
    return this.isKey ? this.options.font.size * 1.1 : 0;
  }

  useFont(scale) {
    const { font } = this.options;
    const family = font.family ?? getComputedStyle(this.chart.canvas).fontFamily;
    this.chart.ctx.font = `${font.weight} ${font.size * scale}px ${family}`;
  }

  drawLabels() {
    const { chart, entries } = this;
    if (!entries?.length || this.width === 0) return;
    const { ctx, chartArea } = chart;
    const { font, lineHeight, gap, offset } = this.options;
    const labels = this.targets().map((target) => ({
      ...target,
      lines: entries[target.index]?.lines ?? [],
      height: font.size * lineHeight * (entries[target.index]?.lines.length ?? 1),
    }));
    const { centres, scale } = placeLabels(labels, {
      top: chartArea.top - font.size / 2,
      bottom: chartArea.bottom,
      gap,
    });
    const left = chartArea.right + offset;
    ctx.save();
    this.useFont(scale);
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    labels.forEach((label, i) => {
      const { borderColor } = chart.data.datasets[label.index];
      ctx.fillStyle = borderColor;
      ctx.strokeStyle = borderColor;
      if (this.isKey) this.drawSwatch(label, left, centres[i], scale);
      else this.drawLeader(label, left, centres[i]);
      const step = font.size * lineHeight * scale;
      label.lines.forEach((line, k) => {
        ctx.fillText(line, left + this.swatch, centres[i] + (k - (label.lines.length - 1) / 2) * step);
      });
    });
    ctx.restore();
    this.placed = labels.map((label, i) => ({
      name: label.name,
      centre: centres[i],
      height: label.height * scale,
    }));
  }

  /** Where each visible series wants its label: at its last point, or in a column from the top. */
  targets() {
    const { chart } = this;
    const visible = chart.data.datasets
      .map((dataset, index) => ({ index, name: dataset.label }))
      .filter(({ index, name }) => name && chart.isDatasetVisible(index));
    if (this.isKey) return visible.map((entry) => ({ ...entry, y: chart.chartArea.top }));
    return visible
      .map((entry) => ({ ...entry, ...lastPoint(chart.getDatasetMeta(entry.index)) }))
      .filter((entry) => Number.isFinite(entry.y));
  }

  drawSwatch(label, left, y, scale) {
    const { ctx, data, config } = this.chart;
    const pointStyle = config.type === "bar" ? "rect" : (data.datasets[label.index].pointStyle ?? "rect");
    const radius = this.options.font.size * 0.35 * scale;
    ctx.lineWidth = 2;
    drawPoint(ctx, { pointStyle, radius, borderWidth: 2 }, left + radius, y);
  }

  /** A hairline from the line's end to a label that had to move away from it. */
  drawLeader(label, left, y) {
    const { ctx } = this.chart;
    if (Math.abs(label.y - y) < 3 && left - label.x < 2 * this.options.offset) return;
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.5;
    ctx.beginPath();
    ctx.moveTo(label.x + 5, label.y);
    ctx.lineTo(left - 3, y);
    ctx.stroke();
    ctx.globalAlpha = 1;
  }
}

function lastPoint(meta) {
  for (let i = meta.data.length - 1; i >= 0; i -= 1) {
    const { x, y, skip } = meta.data[i];
    if (!skip && Number.isFinite(x) && Number.isFinite(y)) return { x, y };
  }
  return { x: NaN, y: NaN };
}

/** Where the labels of a chart were drawn: name, centre and height in px (for tests). */
export function placedLabels(chart) {
  return boxes.get(chart)?.placed ?? [];
}
