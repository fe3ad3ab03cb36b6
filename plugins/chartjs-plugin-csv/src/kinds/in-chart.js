/** What a kind asks its chart: the series and marks on show, the colours and the font, the width of a text. */

import { indexAxisOf } from "../axes.js";
import { kindOf } from "../kinds.js";
import { csvOf } from "../plugin.js";

/** What draws the chart as a whole. */
export function controllerOf(chart) {
  return kindOf(chart.config.type).controller;
}

/** The controllers of the series on show, in the order of the file. */
export function shownIn(chart) {
  return chart
    .getSortedVisibleDatasetMetas()
    .filter(({ controller }) => controller?.entry)
    .sort((a, b) => a.index - b.index)
    .map(({ controller }) => controller);
}

/** The series that a chart is about, shown already or not: nothing moves when one appears. */
export function aboutIn(chart) {
  const csv = csvOf(chart);
  return csv.entries.filter((_, index) => csv.isAbout(index));
}

/** Whether a series is one of those that the slide is about: its figures are larger. */
export function isEmphasised({ emphasis }, name) {
  return Boolean(emphasis?.includes(name));
}

/** The marks of a controller that are drawn. */
export function marksOf({ _cachedMeta: meta }) {
  return meta.data.filter(({ skip }) => !skip);
}

/** Whether the values of a chart are along x, and its series below each other. */
export function isFlipped(chart) {
  return indexAxisOf(chart) === "y";
}

/** The name of the axis of values, for the key of an upright chart; one on its side has it at the axis. */
export function titleAbove(chart) {
  return isFlipped(chart) ? null : csvOf(chart).settings.yTitle;
}

/** The colours and the font of a chart. */
export function themeOf(chart) {
  return csvOf(chart).theme;
}

/** The size of a chart's font, px. */
export function emOf(chart) {
  return csvOf(chart)?.theme.font.size ?? 16;
}

/** Writes in the chart's font from here on; size: px. */
export function setFont(chart, { size = emOf(chart), weight = 400 } = {}) {
  const { family = "sans-serif" } = csvOf(chart)?.theme.font ?? {};
  chart.ctx.font = `${weight} ${size}px ${family}`;
}

/** The width of a text, px; size: in sizes of the chart's font. */
export function textWidth(chart, text, { size = 1, weight = 400 } = {}) {
  chart.ctx.save();
  setFont(chart, { size: size * emOf(chart), weight });
  const { width } = chart.ctx.measureText(text);
  chart.ctx.restore();
  return width;
}
