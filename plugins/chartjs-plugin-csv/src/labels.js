import { layouts } from "chart.js";
import { hasAxes, indexAxisOf } from "./axes.js";
import { drawLeader, drawSwatch, lastPoint } from "./draw.js";
import { heightOf, placeLabels, planNames } from "./labels-layout.js";
import { kindOf } from "./kinds.js";
import { csvOf } from "./plugin.js";
import { endOfLine } from "./runs.js";

/**
 * @typedef {{font?: {size?: number, weight?: number|string, family?: string}, lineHeight?: number, gap?: number, offset?: number, maxWidth?: number}} LabelOptions
 */

const DEFAULTS = {
  font: { size: 20, weight: 600 },
  lineHeight: 1.15,
  gap: 4,
  offset: 12,
  maxWidth: 240,
};

/** Lines this close are still easy to read; beside the x axis they stay clear of its last tick, px. */
const TIGHT = { lineHeight: 1.02, gap: 0, indent: 10 };
/** The smallest size of a crowded name that can be read from the last row, px. */
const SMALLEST = 20;

/**
 * What crowded names give up, in this order: width of the plot, space between lines, and size, down to the smallest that
 * can be read from afar. `share` is of the chart's width.
 */
const PLANS = [
  { share: 0.25 },
  { share: 0.33 },
  { share: 0.33, tight: true },
  { share: 0.42, tight: true },
  { share: 0.42, tight: true, small: true },
  { share: 0.5, tight: true, small: true },
];

const boxes = new WeakMap();

/**
 * Chart.js plugin `csvLabels`: each series' name at the end of its line, in its colour, without collision,
 * instead of a legend. Bars, scattered points, and lines in a chart that lies on its side do not end there: their names
 * form a key beside the chart.
 *
 * Options (`options.plugins.csvLabels`, or false): `font` `{size, weight, family}`, `lineHeight`, `gap` (px between
 * labels), `offset` (px between line end and label), `maxWidth` (px; longer names wrap).
 * @type {import("chart.js").Plugin<import("chart.js").ChartType, LabelOptions> & {id: "csvLabels", defaults: LabelOptions}}
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
  /** Chart.js shares half the width evenly among boxes; one that says this is not counted, and the axis has all of it. */
  options = { display: false };

  constructor(chart) {
    this.chart = chart;
    this.position = "right";
    this.width = 0;
    this.height = 0;
    this.lines = new Map();
  }

  get settings() {
    const given = this.chart.config.options.plugins?.csvLabels;
    return { ...DEFAULTS, ...given, font: { ...DEFAULTS.font, ...given?.font } };
  }

  get isKey() {
    return this.chart.config.type !== "line" || indexAxisOf(this.chart) === "y";
  }

  isHorizontal() {
    return false;
  }

  /** Datasets with a name that the chart is about, drawn already or not: showing one must not move the others. */
  get named() {
    const { type } = this.chart.config;
    // The parts of a pie are no series: Chart.js' legend names them, and the corners of a radar. Kinds name theirs.
    if (!hasAxes(type) || kindOf(type)) return [];
    const csv = csvOf(this.chart);
    return this.chart.data.datasets
      .map((dataset, index) => ({ index, name: dataset.label }))
      .filter(({ index, name }) => name && (csv?.isAbout(index) ?? true));
  }

  update(_, maxHeight) {
    this.height = maxHeight;
    const width = this.measure(maxHeight);
    const room = csvOf(this.chart)?.room;
    if (room) room.key = this.key;
    this.width = room?.fit("right", width) ?? width;
  }

  /** What the key says, to compare it with another's; null for a chart without one. */
  get key() {
    if (!this.isKey || this.named.length < 2) return null;
    const { datasets } = this.chart.data;
    return JSON.stringify(this.named.map(({ index, name }) => [name, datasets[index].borderColor]));
  }

  /** Breaks the names into lines, and returns the width that they need. */
  measure(maxHeight) {
    const { offset } = this.settings;
    const { named, chart } = this;
    this.lines = new Map();
    // A single series of bars or points needs no key: the title names it.
    if (named.length === 0 || (this.isKey && named.length === 1)) return 0;
    if (this.isKey && csvOf(chart)?.room.hasKey === false) return 0;
    const widthOf = (text, size) => {
      this.useFont(size);
      return chart.ctx.measureText(text).width;
    };
    const names = named.map(({ name }) => name);
    const { plan, lines } = planNames(names, this.plans(maxHeight), widthOf);
    this.plan = plan;
    named.forEach(({ index }, i) => this.lines.set(index, lines[i]));
    const widest = Math.max(...lines.flat().map((line) => widthOf(line, plan.size)));
    const room = Math.min(widest, chart.width / 2) + offset + plan.indent + this.swatch;
    return Math.ceil(room) + 2;
  }

  /** In units of px. Tight names may also be written beside the x axis. */
  plans(plotHeight) {
    const { font, lineHeight, gap, maxWidth } = this.settings;
    return PLANS.map(({ share, tight, small }) => ({
      width: Math.min(maxWidth, this.chart.width * share),
      height: tight ? this.chart.height : plotHeight + font.size / 2,
      size: small ? Math.min(font.size, SMALLEST) : font.size,
      ...(tight ? TIGHT : { lineHeight, gap, indent: 0 }),
    }));
  }

  /** Drawing happens after the datasets, in `drawLabels`. */
  draw() {}

  get swatch() {
    return this.isKey ? this.settings.font.size * 1.1 : 0;
  }

  useFont(size) {
    const { font } = this.settings;
    const family = font.family ?? getComputedStyle(this.chart.canvas).fontFamily;
    this.chart.ctx.font = `${font.weight} ${size}px ${family}`;
  }

  drawLabels() {
    const { chart } = this;
    this.placed = [];
    if (this.lines.size === 0) return;
    const { ctx, chartArea } = chart;
    const { offset } = this.settings;
    const { plan } = this;
    const { size } = plan;
    const targets = this.targets();
    const { lineHeight, gap, top, bottom } = this.room(targets.map(({ index }) => this.lines.get(index)));
    const labels = targets.map((target) => {
      const lines = this.lines.get(target.index);
      return { ...target, lines, height: size * lineHeight * lines.length };
    });
    const { centres, scale } = placeLabels(labels, { top, bottom, gap });
    const left = chartArea.right + offset + plan.indent;
    ctx.save();
    this.useFont(size * scale);
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    labels.forEach((label, i) => {
      const dataset = chart.data.datasets[label.index];
      ctx.fillStyle = ctx.strokeStyle = dataset.csvColor ?? dataset.borderColor;
      const radius = this.settings.font.size * 0.35 * scale;
      if (this.isKey) drawSwatch(chart, dataset, { left, y: centres[i], radius });
      else drawLeader(ctx, label, { left, y: centres[i], near: 2 * offset + plan.indent });
      const step = size * lineHeight * scale;
      label.lines.forEach((line, k) => {
        ctx.fillText(line, left + this.swatch, centres[i] + (k - (label.lines.length - 1) / 2) * step);
      });
    });
    ctx.restore();
    this.placed = labels.map((label, i) => ({
      name: label.name,
      centre: centres[i],
      height: label.height * scale,
      left,
      fontSize: size * scale,
    }));
  }

  /** Beside the plot if they fit; else closer together, and beside the x axis, too. */
  room(lines) {
    const { chart, plan } = this;
    const top = Math.max(0, chart.chartArea.top - plan.size / 2);
    for (const bottom of [chart.chartArea.bottom, chart.height]) {
      for (const spacing of [plan, { ...plan, ...TIGHT }])
        if (heightOf(lines, spacing) <= bottom - top) return { ...spacing, top, bottom };
    }
    return { ...plan, ...TIGHT, top: 0, bottom: chart.height };
  }

  /** Where a series ends: its line or, if its runs are drawn instead, the one that is named. */
  endOf(index) {
    const { chart } = this;
    const csv = csvOf(chart);
    const end = csv?.settings.lines?.end ?? "high";
    const named = csv?.lines ? endOfLine(chart, csv.entries, csv.lines, end, index) : null;
    return named ?? lastPoint(chart.getDatasetMeta(index), chart.chartArea);
  }

  /** The preferred place of each visible series' label: at its last point, or in a column from the top. */
  targets() {
    const { chart } = this;
    const visible = this.named.filter(({ index }) => this.lines.has(index) && chart.isDatasetVisible(index));
    if (this.isKey) return visible.map((entry) => ({ ...entry, y: chart.chartArea.top }));
    return visible
      .map((entry) => ({ ...entry, ...this.endOf(entry.index) }))
      .filter((entry) => Number.isFinite(entry.y));
  }
}

/** Where the labels of a chart were drawn: name, centre, height, left edge and size of the font in px (for tests). */
export function placedLabels(chart) {
  return boxes.get(chart)?.placed ?? [];
}
