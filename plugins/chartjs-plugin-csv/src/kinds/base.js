/**
 * What all kinds share: a controller that places one mark for each point, rows or columns with names, a key above the plot,
 * and labels that never lie on each other. A kind says where its marks are and what is written beside them.
 */

import { DatasetController, Element, layouts } from "chart.js";
import { looksOf, valueScale, yScaleType } from "../axes.js";
import { pixelY } from "../draw.js";
import { kindOf } from "../kinds.js";
import { wordsOf, wrapLabel } from "../labels-layout.js";
import { placeBoxes, placesAround } from "../place.js";
import { csvOf } from "../plugin.js";
import { short } from "../units.js";
import { drawMark, shapeOf } from "./pen.js";

/** In sizes of the chart's font: a mark, a line of text. */
export const MARK = 1.15;
export const LINE = 1.2;
/** px around the middle of a mark in which a pointer finds it: half of what WCAG 2.2 wants of a target. */
const REACH = 12;
/** px of the page's colour around a text. */
const HALO = 6;
/** The greatest share of the width that names of rows take, and what they may always take, in sizes of the font. */
const NAMES = { share: 0.34, least: 5 };
/** Dots of single runs, px; so many side by side. */
const RUN = { radius: 3, apart: 4, columns: 5, alpha: 0.55 };
/** px between names side by side. */
const BETWEEN = 12;
/** What it costs a label to lie on a mark, in heights of a line: as much as being that far away. */
export const HIDING = 100;

/**
 * A point as it is drawn: `x`, `y`, `size` (px), `style`, `color`; `skip` where there is nothing to draw.
 * @extends {Element<Record<string, any>, Record<string, any>>}
 */
export class Mark extends Element {
  static id = "csvMark";
  static defaults = { pointStyle: "rectRounded", borderWidth: 2, rotation: 0 };
  static defaultRoutes = { backgroundColor: "backgroundColor", borderColor: "borderColor" };

  inRange(x, y, final) {
    return this.inXRange(x, final) && this.inYRange(y, final);
  }

  inXRange(x, final) {
    return Math.abs(this.getProps(["x"], final).x - x) <= Math.max(REACH, (this.width ?? this.size) / 2);
  }

  inYRange(y, final) {
    return Math.abs(this.getProps(["y"], final).y - y) <= Math.max(REACH, (this.height ?? this.size) / 2);
  }

  getCenterPoint(final) {
    const { x, y } = this.getProps(["x", "y"], final);
    return { x, y };
  }

  draw(ctx) {
    if (!this.skip) drawMark(ctx, this);
  }
}

/**
 * The controller of a kind. `this.index` is Chart.js': the position of the dataset.
 * @extends {DatasetController<any, any, any, any>}
 */
export class KindController extends DatasetController {
  static defaults = { datasetElementType: false, dataElementType: Mark.id, clip: false, parsing: false };
  static overrides = { interaction: { mode: "nearest", axis: "xy", intersect: true } };

  /** Whether it draws the runs behind its points, as faint dots. */
  static drawsRuns = false;

  /** What the key above the plot explains, and the name of an axis: `{title, items: {text, style, color}[]}`. */
  static key() {
    return { title: null, items: [] };
  }

  /** Drawn behind all marks. */
  static behind() {}

  /** Drawn above all marks. */
  static above() {}

  /** Labels of the chart as a whole. */
  static labels() {
    return [];
  }

  /** Boxes of the chart as a whole that labels had better not cover, with their `cost`. */
  static obstacles() {
    return [];
  }

  /** The room that is drawn in at the right of the plot, px. */
  static side() {
    return 0;
  }

  /** What a click in the chart does; returns whether it changed anything. */
  static press() {
    return false;
  }

  get csv() {
    return csvOf(this.chart);
  }

  /** The series of this dataset; null for a dataset of the page's own. */
  get entry() {
    return this.csv?.entries[this.index] ?? null;
  }

  /** The size of the chart's font, px. */
  get em() {
    return emOf(this.chart);
  }

  get color() {
    const { csvColor, borderColor } = this.getDataset();
    return csvColor ?? borderColor;
  }

  /** Whether the values are along x, and the series below each other. */
  get isFlipped() {
    return this._cachedMeta.indexAxis === "y";
  }

  /** Where a value is on the axis of values, px. */
  across(value) {
    return value === null || value === undefined ? NaN : pixelY(this._cachedMeta.vScale, value);
  }

  /** Where a value, or the position of a row or column, is along the other axis, px. */
  along(position) {
    return this._cachedMeta.iScale.getPixelForValue(position);
  }

  /** The middle of this series' row or column, px. */
  get lane() {
    return this.along(aboutIn(this.chart).indexOf(this.entry));
  }

  /** The breadth of a row or column, px. */
  get breadth() {
    const { left, right, top, bottom } = this.chart.chartArea;
    return (this.isFlipped ? bottom - top : right - left) / Math.max(1, this._cachedMeta.iScale.ticks.length);
  }

  /** A place in the plot from px along the index axis and across it. */
  at(along, across) {
    return this.isFlipped ? { x: across, y: along } : { x: along, y: across };
  }

  /** A box from two corners, each px along and across. */
  box([along, across], [along2, across2]) {
    const [a, b] = [this.at(along, across), this.at(along2, across2)];
    return {
      left: Math.min(a.x, b.x),
      right: Math.max(a.x, b.x),
      top: Math.min(a.y, b.y),
      bottom: Math.max(a.y, b.y),
    };
  }

  /** The boxes of marks that are drawn otherwise than as marks. */
  get drawnBoxes() {
    return marksOf(this).map((mark) => ({ ...boxOf(mark), cost: HIDING }));
  }

  /** Where the mark of a point is, `{x, y, style, …}`; null if there is none. */
  place() {
    return null;
  }

  /** What is written at this series' marks: see `writeLabels`. */
  labels() {
    return [];
  }

  /** Boxes that labels had better not cover, beside the marks; each with its `cost` in heights of a line. */
  obstacles() {
    return [];
  }

  /** @param {any} mode */
  update(mode) {
    const { data } = this._cachedMeta;
    this.updateElements(data, 0, data.length, mode);
  }

  /**
   * @param {any[]} elements
   * @param {number} start
   * @param {number} count
   * @param {any} mode
   */
  updateElements(elements, start, count, mode) {
    const { entry } = this;
    if (!entry) return;
    const { page } = this.csv.theme;
    const look = {
      ...{ size: MARK * this.em * (entry.second ? 0.75 : 1), width: null, height: null, ask: false },
      ...{ style: "full", color: this.color, page, shape: shapeOf(this.getDataset().pointStyle) },
    };
    for (let index = start; index < start + count; index += 1) {
      const point = entry.points[index];
      const placed = (point && this.place(point, index)) ?? { x: NaN, y: NaN };
      const skip = !Number.isFinite(placed.x) || !Number.isFinite(placed.y);
      this.updateElement(elements[index], index, { ...look, ...placed, skip }, mode);
    }
  }

  getMinMax() {
    // limits.js sets the ends of an axis from the bounds of the points, too.
    return { min: Infinity, max: -Infinity };
  }

  getLabelAndValue() {
    return { label: "", value: "" };
  }

  setHoverStyle(element) {
    element.active = true;
  }

  removeHoverStyle(element) {
    element.active = false;
  }

  /** A value in two digits, as it is read from afar. */
  short(value, unit = this.csv.settings.yUnit) {
    return short(value, unit, this.csv.settings);
  }
}

/** A file of words only, as columns with names are, is read by rows. */
export const ROWS = { orientation: "prefer-rows" };

/** The size of a chart's font, px. */
export function emOf(chart) {
  return csvOf(chart)?.theme.font.size ?? 16;
}

/** The colours and the font of a chart. */
export function themeOf(chart) {
  return csvOf(chart).theme;
}

/** The controllers of the series on show, in the order of the file. */
export function shownIn(chart) {
  return chart
    .getSortedVisibleDatasetMetas()
    .filter(({ controller }) => controller instanceof KindController && controller.entry)
    .sort((a, b) => a.index - b.index)
    .map(({ controller }) => controller);
}

/** The series that a chart is about, shown already or not: nothing moves when one appears. */
export function aboutIn(chart) {
  const csv = csvOf(chart);
  return csv.entries.filter((_, index) => csv.isAbout(index));
}

/** The marks of a controller that are drawn. */
export function marksOf({ _cachedMeta: meta }) {
  return meta.data.filter(({ skip }) => !skip);
}

/**
 * The scale of an axis along which series or categories are, with their names.
 * @param {import("../kinds.js").Given} given
 * @param {{text: string, color?: string, weight?: number}[]} lanes
 * @param {(chart: any) => typeof lanes} [lanesIn]   the lanes of a chart of that size
 */
export function laneScale({ theme, flipped }, lanes, lanesIn = () => lanes) {
  const scale = { type: "category", labels: lanes.map(({ text }) => text), offset: true, bounds: "ticks" };
  const looks = looksOf(theme);
  Object.assign(scale, looks, { grid: { display: false }, border: { display: false } });
  scale.ticks = {
    ...looks.ticks,
    autoSkip: false,
    padding: 8,
    color: ({ chart, index }) => lanesIn(chart)[index]?.color ?? theme.text,
    font: ({ chart, index }) => ({ ...theme.font, weight: lanesIn(chart)[index]?.weight ?? 700 }),
    callback(index) {
      return namesOf(this, lanesIn(this.chart), flipped, theme.font)[index] ?? "";
    },
  };
  return scale;
}

/** The lines of the names of rows or columns. */
function namesOf(scale, lanes, isBeside, { size, family }) {
  const { ctx, chart } = scale;
  ctx.save();
  ctx.font = `700 ${size}px ${family ?? "sans-serif"}`;
  const widthOf = (text) => ctx.measureText(text).width;
  const names = lanes.map(({ text }) => text);
  const lines = isBeside
    ? names.map((name) => wrapLabel(name, Math.max(NAMES.least * size, chart.width * NAMES.share), widthOf))
    : namesInLanes(names, (chart.width - 3 * size) / Math.max(1, names.length), widthOf).map(
        ({ lines: own, row }) => [...Array.from({ length: row }, () => ""), ...own],
      );
  ctx.restore();
  return lines;
}

/**
 * Breaks names at blanks, so that each is as narrow as its lane. If a word is wider than that, every other name goes below its
 * neighbours, where it may take the width of two lanes; the first and the last, which have a neighbour on one side only, of one
 * and a half. Pure.
 * @param {string[]} names   from left to right
 * @param {number} lane   width, px
 * @param {(text: string) => number} widthOf   px
 * @returns {{lines: string[], row: number}[]} row: the number of lines above the name
 */
export function namesInLanes(names, lane, widthOf) {
  const narrow = lane - BETWEEN;
  const fits = names.every((name) => wordsOf(name).every((word) => widthOf(word) <= narrow));
  const isOuter = (at) => at === 0 || at === names.length - 1;
  const more = (at) => (fits ? 0 : isOuter(at) ? lane / 2 : lane);
  const lines = names.map((name, at) => wrapLabel(name, narrow + more(at), widthOf));
  if (fits) return lines.map((one) => ({ lines: one, row: 0 }));
  const upper = Math.max(...lines.filter((_, at) => at % 2 === 0).map(({ length }) => length));
  return lines.map((one, at) => ({ lines: one, row: at % 2 === 0 ? 0 : upper }));
}

/** A straight line as boxes that labels had better not cover; cost: of each, in heights of a line. */
export function boxesAlong(from, to, cost) {
  const steps = Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / 12));
  return Array.from({ length: steps + 1 }, (_, step) => {
    const [x, y] = [from.x + ((to.x - from.x) * step) / steps, from.y + ((to.y - from.y) * step) / steps];
    return { left: x - 3, right: x + 3, top: y - 3, bottom: y + 3, cost };
  });
}

/** A lane for each series, by its name. */
export function laneOfEach({ entries, colorOf }) {
  return entries.map(({ label, name }) => ({ text: label, color: colorOf(name) }));
}

/** The scale of the measured values of a kind with lanes. */
export function acrossScale({ settings, theme, flipped }, more = {}) {
  const scale = valueScale(settings, theme, {
    horizontal: flipped,
    ...(flipped ? {} : { title: null }),
    ...more,
  });
  return { ...scale, grace: yScaleType(settings) === "linear" ? "6%" : 0 };
}

/** One model of several files: a series for each of the first one's, with a value of each file at one x. Pure. */
export function valueOfEachFile(models, { names, at }) {
  const [first] = models;
  const titles = models.map((model, index) => names?.[index] ?? model.xLabel);
  const place = placesIn(first, at)[0];
  return {
    kind: "wide",
    xLabel: "",
    xs: titles,
    series: first.series.map(({ name }) => ({
      name,
      points: models.flatMap((model, index) => pointsAt(model, name, place, titles[index])),
    })),
  };
}

/** One model of several files: a series for each file, over the x values that are asked for. Pure. */
export function seriesOfEachFile(models, { names, at, of }) {
  const xs = placesIn(models[0], at);
  return {
    kind: "wide",
    xLabel: models[0].xLabel,
    xs,
    series: models.map((model, index) => {
      const name = of ?? model.series[0]?.name;
      const points = xs.flatMap((x) => pointsAt(model, name, x, x));
      return { name: names?.[index] ?? `${index + 1}`, points };
    }),
  };
}

/** The x values of a model that are asked for, or all. */
export function placesIn(model, at) {
  const wanted = at && [at].flat().map(String);
  return wanted ? model.xs.filter((x) => wanted.includes(String(x))) : model.xs;
}

function pointsAt(model, name, x, title) {
  const points = model.series.find((one) => one.name === name)?.points.filter((point) => point.x === x) ?? [];
  const absent = [{ x, y: null, low: null, high: null, n: null }];
  return (points.length ? points : absent).map((point) => ({ ...point, x: title }));
}

/** The strip above a plot: the name of the axis of values, and what full and hollow marks mean. */
class KeyBox {
  options = { display: false };
  position = "top";
  width = 0;
  height = 0;
  #rows = [];

  constructor(chart) {
    this.chart = chart;
  }

  isHorizontal() {
    return true;
  }

  update(width) {
    const { chart } = this;
    const { title = null, items = [] } = csvOf(chart)?.model ? controllerOf(chart).key(chart) : {};
    const em = emOf(chart);
    setFont(chart, { size: em, weight: 400 });
    this.#rows = title ? [[{ text: `↑ ${title}`, left: 2 }]] : [];
    let left = Infinity;
    for (const item of items) {
      const room = chart.ctx.measureText(item.text).width + (item.style ? 1.5 * em : 0);
      if (left + room > width) {
        this.#rows.push([]);
        left = 2;
      }
      this.#rows.at(-1).push({ ...item, left });
      left += room + 1.6 * em;
    }
    this.width = width;
    this.height = this.#rows.length ? (this.#rows.length * 1.45 + 0.4) * em : 0;
  }

  draw() {
    const { chart } = this;
    const { ctx } = chart;
    const { text: muted, page } = csvOf(chart).theme;
    const em = emOf(chart);
    ctx.save();
    Object.assign(ctx, { textAlign: "left", textBaseline: "middle" });
    setFont(chart, { size: em, weight: 400 });
    this.#rows.forEach((row, line) => {
      const y = this.top + (line + 0.5) * 1.45 * em;
      for (const { text, style, color = muted, shape, left = 0 } of row) {
        const x = this.left + left;
        if (style) drawMark(ctx, { x: x + em / 2, y, size: em * 0.95, style, color, page, shape });
        ctx.fillStyle = muted;
        ctx.fillText(text, x + (style ? 1.5 * em : 0), y);
      }
    });
    ctx.restore();
  }
}

/** The room at the right of a plot. */
class SideBox {
  options = { display: false };
  position = "right";
  width = 0;
  height = 0;

  constructor(chart) {
    this.chart = chart;
  }

  isHorizontal() {
    return false;
  }

  update(_, height) {
    this.height = height;
    this.width = csvOf(this.chart)?.model ? controllerOf(this.chart).side(this.chart) : 0;
  }

  draw() {}
}

function controllerOf(chart) {
  return kindOf(chart.config.type).controller;
}

function setFont(chart, { size, weight }) {
  const { family = "sans-serif" } = csvOf(chart)?.theme.font ?? {};
  chart.ctx.font = `${weight} ${size}px ${family}`;
}

/**
 * Finds a place for each label, in px.
 *
 * A label is `{lines: {text, after?, size?, weight?, color?}[], at: {x, y, reach}, sides?, places?, brief?, importance?}`: `size` in
 * sizes of the chart's font; `after` follows in muted ink; `places(width, height)` instead of those around `at`; `brief` are the lines that are left where
 * there is no room for all of them; `isFixed` for names beside the plot, which stand at their first place.
 */
function placeLabels(chart) {
  const em = emOf(chart);
  const controllers = shownIn(chart);
  const all = [...controllerOf(chart).labels(chart), ...controllers.flatMap((one) => one.labels())];
  const fixed = all
    .filter(({ isFixed }) => isFixed)
    .map((label) => {
      const one = measured(chart, label, label.lines);
      return { ...one, ...one.places[0] };
    });
  const labels = all
    .filter(({ isFixed }) => !isFixed)
    .sort((a, b) => (b.importance ?? 0) - (a.importance ?? 0));
  const obstacles = [
    ...fixed.map(({ left, top, width, height }) => ({
      ...{ left, top, right: left + width, bottom: top + height, cost: HIDING },
    })),
    ...controllerOf(chart).obstacles(chart),
    ...controllers.flatMap((one) => [
      ...marksOf(one)
        .filter(({ style }) => style !== "none")
        .map((mark) => ({ ...boxOf(mark), cost: HIDING })),
      ...one.obstacles(),
    ]),
  ].map((box) => ({ ...box, cost: box.cost * em }));
  const { left, bottom } = chart.chartArea;
  const [{ bottom: top }] = boxes.get(chart);
  const area = { left: left + 1, right: chart.width - 2, top, bottom: bottom - 1 };
  let wanted = labels.map((label) => measured(chart, label, label.lines));
  let found = placeBoxes(wanted, { area, obstacles });
  // A label that has no place, or only one where it hides something, is made shorter.
  const isPoor = ({ brief }, index) => brief && !(found[index]?.cost < HIDING * em);
  if (labels.some(isPoor)) {
    wanted = labels.map((label, index) =>
      isPoor(label, index) ? measured(chart, label, label.brief) : wanted[index],
    );
    found = placeBoxes(wanted, { area, obstacles });
  }
  return [...fixed, ...wanted.flatMap((one, index) => (found[index] ? [{ ...one, ...found[index] }] : []))];
}

function boxOf({ x, y, size, width, height }) {
  const [across, down] = [(width ?? size) / 2, (height ?? size) / 2];
  return { left: x - across, right: x + across, top: y - down, bottom: y + down };
}

function measured(chart, label, lines) {
  const em = emOf(chart);
  const sized = lines.map((line) => {
    const { size = 1, weight = 600 } = line;
    setFont(chart, { size: size * em, weight });
    const own = chart.ctx.measureText(line.text).width;
    setFont(chart, { size: em, weight: 400 });
    const rest = line.after ? chart.ctx.measureText(line.after).width + 0.4 * em : 0;
    return { ...line, size: size * em, weight, own, width: own + rest };
  });
  const width = Math.max(...sized.map((line) => line.width));
  const height = sized.length === 1 ? sized[0].size : sized.reduce((sum, { size }) => sum + size * LINE, 0);
  const places = label.places?.(width, height) ?? placesAround(label.at, { width, height }, label);
  return { lines: sized, width, height, places, at: label.at, halo: label.halo };
}

/** The width of a text, px; size: in sizes of the chart's font. */
export function textWidth(chart, text, { size = 1, weight = 400 } = {}) {
  chart.ctx.save();
  setFont(chart, { size: size * emOf(chart), weight });
  const { width } = chart.ctx.measureText(text);
  chart.ctx.restore();
  return width;
}

function drawLabels(chart, labels) {
  const { ctx } = chart;
  const { text: muted, page } = csvOf(chart).theme;
  ctx.save();
  Object.assign(ctx, { textBaseline: "middle", lineJoin: "round", lineWidth: HALO });
  const write = (text, x, y, color, halo) => {
    ctx.strokeStyle = halo;
    ctx.strokeText(text, x, y);
    ctx.fillStyle = color;
    ctx.fillText(text, x, y);
  };
  const em = emOf(chart);
  for (const { lines, left, top, width, height, align = "left", halo = page } of labels) {
    let y = top + (height - lines.reduce((sum, { size }) => sum + size * LINE, 0)) / 2;
    for (const { text, after, size, weight, color = muted, own, width: length } of lines) {
      const x = left + { left: 0, right: width - length, center: (width - length) / 2 }[align];
      const middle = y + (size * LINE) / 2;
      setFont(chart, { size, weight });
      write(text, x, middle, color, halo);
      if (after) {
        setFont(chart, { size: em, weight: 400 });
        write(after, x + own + 0.4 * em, middle, muted, halo);
      }
      y += size * LINE;
    }
  }
  ctx.restore();
}

/** The runs behind the points as faint dots, those of one point side by side. */
function drawRuns(chart) {
  const { runs } = csvOf(chart);
  if (!runs) return;
  const { ctx } = chart;
  ctx.save();
  ctx.globalAlpha = RUN.alpha;
  for (const controller of shownIn(chart).filter(({ entry }) => !entry.second)) {
    ctx.fillStyle = controller.color;
    const seen = new Map();
    for (const run of runs.get(controller.entry.name) ?? []) {
      const placed = run.y === null ? null : controller.place({ low: null, high: null, n: null, ...run }, 0);
      if (!placed) continue;
      const rank = seen.get(run.x) ?? 0;
      seen.set(run.x, rank + 1);
      const off = ((rank % RUN.columns) - (RUN.columns - 1) / 2) * RUN.apart;
      const [x, y] = controller.isFlipped ? [placed.x, placed.y + off] : [placed.x + off, placed.y];
      ctx.beginPath();
      ctx.arc(x, y, RUN.radius, 0, 2 * Math.PI);
      ctx.fill();
    }
  }
  ctx.restore();
}

const boxes = new WeakMap();
const placed = new WeakMap();

function isReady(chart) {
  return boxes.has(chart) && Boolean(csvOf(chart)?.model);
}

/** Chart.js plugin that draws, for charts of these kinds, what belongs to no single series. */
const Drawing = {
  id: "csvKind",

  start(chart) {
    if (!kindOf(chart.config.type)) return;
    const own = [new KeyBox(chart), new SideBox(chart)];
    boxes.set(chart, own);
    for (const box of own) {
      layouts.configure(chart, box, { position: box.position, weight: 400, fullSize: box.isHorizontal() });
      layouts.addBox(chart, box);
    }
  },

  stop(chart) {
    for (const box of boxes.get(chart) ?? []) layouts.removeBox(chart, box);
    boxes.delete(chart);
  },

  afterEvent(chart, { event, replay }) {
    if (!replay && event.type === "click" && isReady(chart)) controllerOf(chart).press(chart, event);
  },

  afterUpdate(chart) {
    if (isReady(chart)) placed.set(chart, placeLabels(chart));
  },

  beforeDatasetsDraw(chart) {
    if (isReady(chart)) controllerOf(chart).behind(chart);
  },

  afterDatasetsDraw(chart) {
    if (!isReady(chart)) return;
    drawRuns(chart);
    controllerOf(chart).above(chart);
    drawLabels(chart, placed.get(chart) ?? []);
  },
};

/** What has to be registered with Chart.js for each kind, beside its controller. */
KindController.parts = [Mark, Drawing];

/** Where the labels of a chart are: lines, left, top, width and height in px (for tests). */
export function placedLabelsOf(chart) {
  return (placed.get(chart) ?? []).map(({ lines, left, top, width, height }) => ({
    text: lines.map(({ text }) => text).join("\n"),
    ...{ left, top, width, height },
  }));
}

/** Whether a series is one of those that the slide is about: its figures are larger. */
export function isEmphasised({ emphasis }, name) {
  return Boolean(emphasis?.includes(name));
}

/** The unit of the values at one position of a series, where they have several. */
export function unitAt({ units, yUnit }, position) {
  return units?.[position] ?? yUnit;
}

/** "2.8 and 7 ms": two values in words, the unit once where both have it. */
export function bothInWords(first, second) {
  const unit = /[^\d.]+$/.exec(second)?.[0];
  return `${unit && first.endsWith(unit) ? first.slice(0, -unit.length) : first} and ${second}`;
}

/** The words that a kind's sentence begins with, and what it says of each series. */
export function tellSeries(kind, model, say, tellOne) {
  const told = model.series.map((series) => `${series.name} ${tellOne(series)}`);
  if (told.length === 0) told.push("no series shown yet");
  return `${kind}${say.title ? ` of ${say.title}` : ""}: ${told.join("; ")}`;
}

/** "9.8 ms (8 ms to 12 ms)", or "not measured". */
export function tellPoint(point, say) {
  if (point === undefined || point.y === null) return "not measured";
  const bounds = say.bounds(point);
  return `${say.y(point.y)}${bounds ? ` (${bounds})` : ""}`;
}
