/** Where the parts of the answer chart are, in px of its box. Pure: deck/text/answer-chart.js draws them. */

import { EVERYTHING, figureText } from "../data/answer.js";
import { NAME_WIDTH, withLabels } from "./answer-labels.js";

/** What is shown, from the talk's first minutes to its last picture. */
export const STAGES = ["empty", "price", "loss", "whole"];
/** Seconds of lost writes that the axis names. It reaches this far with any data, so that it does not move between stages. */
const TICKS = [0.1, 1, 5, 15, 60, 300, 900, 3600];
const SHORTEST = 0.5;
const LONGEST = 120;
/** The stage's type, in px. The sizes below are for this one, and shrink with the type. */
export const STAGE_TYPE = 20;
const LINE = 25;
const ROOM = { left: 100, right: 30, top: 34, bottom: 74 };
const LETTER = 10.2;
/** The least share of the width at the right that has no scale: everything is lost. */
const BEYOND = 0.15;
/** A box that is narrower than this many letters, such as a phone's, has less room beside its axes and names. */
const NARROW_LETTERS = 60;

const TITLES = {
  loss: "Seconds of acknowledged writes lost with the first site, worst trial →",
  shortLoss: "Seconds of writes lost at worst →",
};

/** What a box of this width and type has room for. */
function measuresOf(width, type) {
  const scale = type / STAGE_TYPE;
  const letter = LETTER * scale;
  const narrow = width < NARROW_LETTERS * letter;
  return {
    scale,
    letter,
    line: LINE * scale,
    narrow,
    left: narrow ? ROOM.left * scale * 0.82 : ROOM.left * scale,
  };
}

/** A text in lines of so many letters at most, where its words allow it. */
function linesOf(text, letters) {
  return text.split(" ").reduce((lines, word) => {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    return lines.length && longer.length <= letters ? [...lines.slice(0, -1), longer] : [...lines, word];
  }, []);
}

/**
 * @param {ReturnType<import("../data/answer.js").waysOf>} ways
 * @param {{stage: string, width: number, height: number, type?: number}} box   px; type: the height of its letters
 * @returns {{scale: number, titles: {loss: string, price: string[]}, plot: {left: number, right: number, top: number, bottom: number, beyond: number}, xTicks: object[],
 *            yTicks: object[], points: object[], lines: object[], unplaced: string[]}}
 *   scale: of all distances, against those of the stage; titles: of the axes, the upper one in lines; beyond: where losing
 *   everything begins; points: modes with both figures; lines: modes of which only the price is known or
 *   shown; unplaced: labels of modes that the data lack
 */
export function answerLayout(ways, { stage, width, height, type = STAGE_TYPE }) {
  const { scale, letter, line, narrow, left } = measuresOf(width, type);
  const paid = (stage === "empty" ? null : ways.price?.title) ?? "What each write pays";
  const price = linesOf(`↑ ${paid}`, Math.floor((width - left) / letter));
  const top = ROOM.top * scale + (price.length - 1) * line;
  const plot = {
    left,
    right: Math.max(left + 1, narrow ? width - letter : width - ROOM.right * scale),
    top,
    bottom: Math.max(top + 1, height - ROOM.bottom * scale),
  };
  const wide = plot.right - plot.left;
  plot.beyond = plot.right - Math.min(wide / 3, Math.max(wide * BEYOND, EVERYTHING.length * letter));
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
    scale,
    titles: { loss: narrow ? TITLES.shortLoss : TITLES.loss, price },
    plot,
    xTicks: readable(x.ticks, letter),
    yTicks: stage === "empty" ? [] : y.ticks,
    points: withLabels(
      points.map((mode) => pointOf(mode, { x, y, plot, unit: ways.price.unit })),
      plot,
      { letter, line, scale },
    ),
    lines: spread(
      lines.map((mode) => {
        const text = `${mode.label}: ${priceText(mode.price, ways.price.unit)}`;
        // In a narrow box a long one takes the whole width of the plot rather than lie on the ticks of its axis.
        const fits = text.length * NAME_WIDTH * letter + 2 * line < plot.beyond - plot.left;
        return { ...mode, text, y: y.at(mode.price), labelAt: (fits ? plot.beyond : plot.right) - 8 };
      }),
      plot,
      line,
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

/** The ticks whose texts do not touch the one before. */
function readable(ticks, letter) {
  let end = -Infinity;
  return ticks.filter(({ at, text }) => {
    const half = ((text.length + 1) * letter) / 2;
    if (at - half < end) return false;
    end = at + half;
    return true;
  });
}

/** From so many times the lowest price on, equal steps upwards are equal factors. */
const WIDE_RANGE = 8;
/** The share of the height between no price at all and the lowest one, where such an axis begins. */
const FIRST_PRICE = 0.1;

/**
 * From nothing upwards. Prices that differ much are told apart by their logarithms, and no price stays at the bottom. A
 * ratio begins at 1, where nothing is paid.
 */
function priceScale(ways, plot) {
  const paid = ways.modes.map(({ price }) => price).filter((value) => value > 0);
  const isWide = ways.price?.unit !== "ratio" && Math.max(...paid) > WIDE_RANGE * Math.min(...paid);
  return isWide ? logarithmicPrices(ways, plot) : linearPrices(ways, plot);
}

function logarithmicPrices({ price, modes }, { top, bottom }) {
  const values = modes.flatMap((mode) => [mode.price, mode.low, mode.high]).filter((value) => value > 0);
  const from = Math.log(Math.min(...values) / 1.15);
  const span = Math.log(Math.max(...values) * 1.25) - from;
  const start = bottom - FIRST_PRICE * (bottom - top);
  const at = (value) => {
    if (!(value > 0)) return bottom;
    const share = (Math.log(value) - from) / span;
    return share < 0 ? start + (bottom - start) * Math.min(1, -share) : start - share * (start - top);
  };
  const first = Math.floor(from / Math.LN10);
  const ticks = Array.from({ length: Math.ceil(span / Math.LN10) + 2 }, (_, decade) =>
    [1, 2, 5].map((factor) => factor * 10 ** (first + decade)),
  )
    .flat()
    .filter((value) => Math.log(value) >= from && Math.log(value) <= from + span)
    .map((value) => ({ value, at: at(value), text: figureText(value, price.unit, 1) }));
  return { at, ticks: [{ value: 0, at: bottom, text: "0" }, ...ticks] };
}

function linearPrices({ price, modes }, { top, bottom }) {
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

/** Labels of horizontal lines, each on its own; the lowest keeps its place. */
function spread(lines, { top, bottom }, height) {
  let below = bottom + height;
  return [...lines]
    .sort((a, b) => b.y - a.y)
    .map((line) => {
      const labelY = Math.max(top, Math.min(line.y - 8, below - height));
      below = labelY;
      return { ...line, labelY };
    });
}

/**
 * The drawing of what is gone: for each mode the last seconds before the loss, one mark for each of a few moments, those that
 * the second site lacks apart.
 * @param {ReturnType<import("../data/answer.js").waysOf>} ways
 * @param {{width: number, height: number, type?: number}} box   px; type: the height of its letters
 * @returns {{scale: number, above: boolean, rows: {label: string, kind: string, y: number, text: string, marks: {at: number, gone: boolean}[]}[],
 *            seconds: number, left: number, right: number, size: number, unplaced: string[]}}
 *   above: the names stand above their rows, because there is no room beside them; seconds: from the left edge to the loss;
 *   size: of a mark
 */
export function goneLayout({ modes }, { width, height, type = STAGE_TYPE }) {
  const { scale, narrow } = measuresOf(width, type);
  const lost = modes.filter(({ worst }) => typeof worst === "number");
  const left = narrow ? 0 : 330 * scale;
  const right = Math.max(left + 1, width - 150 * scale);
  const longest = Math.max(1, ...lost.map(({ worst }) => worst));
  const seconds = longest * 1.25;
  const count = Math.max(8, Math.floor((right - left) / (26 * scale)));
  const rowHeight = Math.min(92, (height - 66 * scale) / Math.max(1, lost.length));
  return {
    scale,
    above: narrow,
    seconds,
    left,
    right,
    size: Math.min(20 * scale, rowHeight * (narrow ? 0.3 : 0.6)),
    rows: lost.map((mode, row) => ({
      label: mode.label,
      kind: mode.kind,
      y: 30 * scale + (row + (narrow ? 0.7 : 0.5)) * rowHeight,
      text: figureText(mode.worst, "seconds"),
      marks: Array.from({ length: count }, (_, index) => {
        const before = seconds * (1 - (index + 0.5) / count);
        return { at: left + ((index + 0.5) / count) * (right - left), gone: before < mode.worst };
      }),
    })),
    unplaced: modes.filter(({ worst }) => worst === null).map(({ label }) => label),
  };
}
