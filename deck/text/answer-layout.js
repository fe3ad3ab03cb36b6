/** Where the parts of the answer chart are, in px of its box. Pure: deck/text/answer-chart.js draws them. */

import { EVERYTHING, figureText } from "../data/answer.js";

/** What is shown, from the talk's first minutes to its last picture. */
export const STAGES = ["empty", "price", "loss", "whole"];
/** Seconds of lost writes that the axis names. It reaches this far with any data, so that it does not move between stages. */
const TICKS = [0.1, 1, 5, 15, 60, 300, 900, 3600];
const SHORTEST = 0.5;
const LONGEST = 120;
/** px; the type of the stage is 20 px high. */
const LINE = 25;
const ROOM = { left: 100, right: 30, top: 34, bottom: 74 };
const LETTER = 10.2;
/** The share of the width at the right that has no scale: everything is lost. */
const BEYOND = 0.15;

/**
 * @param {ReturnType<import("../data/answer.js").waysOf>} ways
 * @param {{stage: string, width: number, height: number}} box   px
 * @returns {{plot: {left: number, right: number, top: number, bottom: number, beyond: number}, xTicks: object[],
 *            yTicks: object[], points: object[], lines: object[], unplaced: string[]}}
 *   beyond: where losing everything begins; points: modes with both figures; lines: modes of which only the price is known or
 *   shown; unplaced: labels of modes that the data lack
 */
export function answerLayout(ways, { stage, width, height }) {
  const plot = {
    left: ROOM.left,
    right: Math.max(ROOM.left + 1, width - ROOM.right),
    top: ROOM.top,
    bottom: Math.max(ROOM.top + 1, height - ROOM.bottom),
  };
  plot.beyond = plot.right - (plot.right - plot.left) * BEYOND;
  const known = stage === "empty" ? [] : ways.modes;
  const x = lossScale(ways.modes, plot);
  const y = priceScale(ways, plot);
  const placed = stage === "loss" || stage === "whole";
  const points = placed ? known.filter(({ worst, price }) => worst !== null && price !== null) : [];
  const lines = known.filter((mode) => mode.price !== null && !points.includes(mode));
  const missing = placed
    ? known.filter((mode) => !points.includes(mode))
    : known.filter(({ price }) => price === null);
  return {
    plot,
    xTicks: x.ticks,
    yTicks: stage === "empty" ? [] : y.ticks,
    points: apart(
      points.map((mode) => pointOf(mode, { x, y, plot, unit: ways.price.unit })),
      plot,
    ),
    lines: spread(
      lines.map((mode) => ({
        ...mode,
        y: y.at(mode.price),
        text: `${mode.label}: ${priceText(mode.price, ways.price.unit)}`,
      })),
      plot,
    ),
    unplaced: missing.map(({ label }) => label),
  };
}

/** Seconds on a logarithmic axis: a second and a minute are both told from nothing. What is less than its start lies on it. */
function lossScale(modes, { left, beyond }) {
  const known = modes.flatMap(({ worst, median }) => [worst, median]).filter((value) => value > 0);
  const from = Math.log(Math.min(SHORTEST, ...known));
  const to = Math.log(Math.max(LONGEST, ...known) * 1.15);
  const at = (seconds) => {
    const share = (Math.log(Math.max(seconds, Math.exp(from))) - from) / (to - from);
    return left + share * (beyond - left);
  };
  const ticks = TICKS.filter((value) => Math.log(value) >= from - 1e-9 && Math.log(value) <= to);
  return { at, ticks: ticks.map((value) => ({ value, at: at(value), text: figureText(value, "seconds") })) };
}

/** From nothing upwards. A ratio begins at 1, where nothing is paid. */
function priceScale({ price, modes }, { top, bottom }) {
  const values = modes.flatMap((mode) => [mode.price, mode.high]).filter((value) => value !== null);
  const from = price?.unit === "ratio" ? 1 : 0;
  const most = Math.max(from, ...values);
  const span = most > from ? (most - from) * 1.08 : 1;
  const at = (value) => bottom - ((Math.max(value, from) - from) / span) * (bottom - top);
  const step = roundStep(span / 4);
  const count = price ? Math.floor(span / step + 1e-9) : 0;
  const ticks = Array.from({ length: count + 1 }, (_, index) => from + index * step).map((value) => ({
    value,
    at: at(value),
    text: value === 0 ? "0" : figureText(value, price?.unit ?? null, 3),
  }));
  return { at, ticks: price ? ticks : [] };
}

/** 1, 2 or 5 times a power of ten, the next above `least`. */
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= least * 0.999) ?? 10);
}

function pointOf(mode, { x, y, plot, unit }) {
  const all = mode.worst === EVERYTHING;
  const lost = all ? "everything" : figureText(mode.worst, "seconds");
  return {
    ...mode,
    at: all ? (plot.beyond + plot.right) / 2 : x.at(mode.worst),
    medianAt: all || mode.median === null ? null : x.at(mode.median),
    y: y.at(mode.price),
    lowY: mode.low === null ? null : y.at(mode.low),
    highY: mode.high === null ? null : y.at(mode.high),
    text: [mode.label, `${lost} lost, ${priceText(mode.price, unit)}`],
  };
}

function priceText(price, unit) {
  return price === 0 ? "no price" : figureText(price, unit);
}

/** Labels beside points, two lines each; one that would lie on another moves up, and one at the edge to the other side. */
function apart(points, { left, right, top, bottom }) {
  // No label lies on a point, or on the bar to its median.
  const boxes = points.map(({ at, medianAt, y }) => ({
    start: Math.min(at - 14, medianAt ?? at),
    end: at + 14,
    top: y - 12,
    bottom: y + 12,
  }));
  return [...points]
    .sort((a, b) => b.y - a.y)
    .map((point) => {
      const length = Math.max(...point.text.map((line) => line.length)) * LETTER;
      const toLeft = point.at + 18 + length > right;
      const start = toLeft ? Math.max(left, point.at - 18 - length) : point.at + 18;
      let y = Math.min(point.y - LINE, bottom - 2 * LINE);
      const overlaps = (box) =>
        start < box.end && start + length > box.start && y < box.bottom && y + 2 * LINE > box.top;
      for (let hit = boxes.find(overlaps); hit && y > top - LINE; hit = boxes.find(overlaps))
        y = hit.top - 2 * LINE;
      boxes.push({ start, end: start + length, top: y, bottom: y + 2 * LINE });
      return { ...point, labelAt: toLeft ? point.at - 18 : point.at + 18, labelY: y + LINE - 6, toLeft };
    });
}

/** Labels of horizontal lines, each on its own; the lowest keeps its place. */
function spread(lines, { top, bottom }) {
  let below = bottom + LINE;
  return [...lines]
    .sort((a, b) => b.y - a.y)
    .map((line) => {
      const labelY = Math.max(top, Math.min(line.y - 8, below - LINE));
      below = labelY;
      return { ...line, labelY };
    });
}

/**
 * The drawing of what is gone: for each mode the last seconds before the loss, one mark for each of a few moments, those that
 * the second site lacks apart.
 * @param {ReturnType<import("../data/answer.js").waysOf>} ways
 * @param {{width: number, height: number}} box   px
 * @returns {{rows: {label: string, kind: string, y: number, text: string, marks: {at: number, gone: boolean}[]}[],
 *            seconds: number, left: number, right: number, size: number, unplaced: string[]}}
 *   seconds: from the left edge to the loss; size: of a mark
 */
export function goneLayout({ modes }, { width, height }) {
  const lost = modes.filter(({ worst }) => typeof worst === "number");
  const left = 330;
  const right = Math.max(left + 1, width - 150);
  const longest = Math.max(1, ...lost.map(({ worst }) => worst));
  const seconds = longest * 1.25;
  const count = Math.max(8, Math.floor((right - left) / 26));
  const rowHeight = Math.min(92, (height - 66) / Math.max(1, lost.length));
  return {
    seconds,
    left,
    right,
    size: Math.min(20, rowHeight * 0.6),
    rows: lost.map((mode, row) => ({
      label: mode.label,
      kind: mode.kind,
      y: 30 + (row + 0.5) * rowHeight,
      text: figureText(mode.worst, "seconds"),
      marks: Array.from({ length: count }, (_, index) => {
        const before = seconds * (1 - (index + 0.5) / count);
        return { at: left + ((index + 0.5) / count) * (right - left), gone: before < mode.worst };
      }),
    })),
    unplaced: modes.filter(({ worst }) => worst === null).map(({ label }) => label),
  };
}
