/**
 * Bets: names that a click or a key of the page's places in an empty quadrant, and that every other one of the page with the
 * same ones shows.
 */

import { Chart } from "chart.js";
import { csvOf } from "../plugin.js";
import { resolveColor } from "../style.js";
import { emOf, themeOf } from "./base.js";
import { boxOf } from "./mark.js";
import { drawMark } from "./pen.js";

/** What they are called where they are shown again, and the part of the chart that a slide can reveal. */
export const YOURS = "your bets";
/** The size of a bet, in sizes of the chart's font. */
const BET = 1.5;
/** Keys place bets in so many rows of cells; the columns are those that the x axis names. */
const ROWS = 3;

/**
 * Bets that were placed on this page: name → {x, y} in the units of the axes. The last is in hand: keys move it.
 * @type {Map<string, {x: number, y: number}>}
 */
export const bets = new Map();

/** The bets that a chart shows, in px; those in one place stand beside each other. */
function betsIn(chart) {
  const { x, y } = chart.scales;
  const size = BET * emOf(chart);
  const taken = new Map();
  return namesOf(chart)
    .filter((name) => bets.has(name))
    .map((name) => {
      const at = bets.get(name);
      const place = `${at.x} ${at.y}`;
      const before = taken.get(place) ?? 0;
      taken.set(place, before + 1);
      const middle = x.getPixelForValue(at.x) + before * size * 1.2;
      return { name, x: middle, y: y.getPixelForValue(at.y), size };
    })
    .filter((one) => Number.isFinite(one.x) && Number.isFinite(one.y));
}

/** The names that a chart has; none where a slide has yet to reveal them. */
function namesOf(chart) {
  const { bets: names, bet, shown } = csvOf(chart).settings;
  const isRevealed = bet || !shown || shown.includes(YOURS);
  return (isRevealed && names) || [];
}

/** A bet has the colour that the page gives to its name, if any. */
function colorOf(chart, name) {
  const { styles } = csvOf(chart).settings;
  return Object.hasOwn(styles ?? {}, name) ? resolveColor(chart.canvas, styles[name].color) : undefined;
}

/** What the key says of bets: the name of each in a chart that waits for them, else what they are. */
export function keyOfBets(chart) {
  const { bet } = csvOf(chart).settings;
  const names = namesOf(chart);
  const look = { style: "dashed", shape: "square" };
  if (bet) return names.map((text) => ({ ...look, text, color: colorOf(chart, text) }));
  return names.some((name) => bets.has(name)) ? [{ ...look, text: YOURS }] : [];
}

/** Draws them as what is guessed. */
export function drawBets(chart) {
  const { page, ink } = themeOf(chart);
  for (const { name, ...mark } of betsIn(chart))
    drawMark(chart.ctx, { ...mark, style: "dashed", color: colorOf(chart, name) ?? ink, page });
}

/** Boxes that labels had better not cover. */
export function boxesOfBets(chart) {
  return betsIn(chart).map(boxOf);
}

/** Their names, at them. */
export function labelsOfBets(chart) {
  return betsIn(chart).map(({ name, x, y, size }) => ({
    lines: [{ text: name, weight: 400, color: themeOf(chart).ink }],
    at: { x, y, reach: size / 2 },
    sides: ["right", "left", "above", "below"],
    importance: -1,
  }));
}

/** A click places the next bet, or takes back the one that it hits; returns whether it changed anything. */
export function pressBet(chart, { x, y }) {
  if (!csvOf(chart).settings.bet || !chart.isPointInArea({ x, y })) return false;
  const hit = betsIn(chart).find((one) => Math.hypot(one.x - x, one.y - y) < one.size);
  if (hit) bets.delete(hit.name);
  else {
    const next = namesOf(chart).find((name) => !bets.has(name));
    if (!next) return false;
    bets.set(next, { x: chart.scales.x.getValueForPixel(x), y: chart.scales.y.getValueForPixel(y) });
  }
  tell(chart);
  return true;
}

/**
 * Places the next bet, or moves the one in hand to the next column or row of cells, and from the last to the first.
 * @param {import("chart.js").Chart<any, any, any>} chart   a quadrant with bets, on show
 * @param {"name"|"x"|"y"} step
 */
export function stepBet(chart, step) {
  const { x, y } = chart.scales;
  const middles = Array.from({ length: ROWS }, (_, row) => y.bottom - ((row + 0.5) / ROWS) * y.height);
  const [name, at] = nextBet(bets, step, {
    names: namesOf(chart),
    x: x.ticks.map(({ value }) => value),
    y: middles.map((px) => y.getValueForPixel(px)),
  });
  bets.delete(name);
  bets.set(name, at);
  tell(chart);
}

/**
 * The bet that a step places, and where. Pure.
 * @param {Map<string, {x: number, y: number}>} placed   the last is in hand
 * @param {"name"|"x"|"y"} step
 * @param {{names: string[], x: number[], y: number[]}} cells   their middles, in order
 * @returns {[string, {x: number, y: number}]}
 */
export function nextBet(placed, step, { names, ...cells }) {
  const inHand = [...placed.keys()].filter((name) => names.includes(name)).at(-1);
  if (step === "name" || inHand === undefined) {
    const name = names.find((one) => !placed.has(one)) ?? names[(names.indexOf(inHand) + 1) % names.length];
    return [name, placed.get(name) ?? { x: cells.x[0], y: cells.y[0] }];
  }
  const at = placed.get(inHand);
  const next = cells[step].find((value) => value > at[step]) ?? cells[step][0];
  return [inHand, { ...at, [step]: next }];
}

/**
 * Shows these bets instead of those of the page.
 * @param {Map<string, {x: number, y: number}>} all
 */
export function showBets(all) {
  bets.clear();
  for (const [name, at] of all) bets.set(name, at);
  redraw();
}

/** Shows what was changed, and tells the page, which may have other windows. */
function tell(chart) {
  redraw();
  chart.canvas.dispatchEvent(new CustomEvent("chart-csv:bets", { bubbles: true, detail: bets }));
}

function redraw() {
  for (const chart of Object.values(Chart.instances)) if (csvOf(chart)?.settings.bets) chart.update("none");
}
