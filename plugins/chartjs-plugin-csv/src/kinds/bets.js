/** Bets: names that a click places in an empty quadrant, and that every other one of the page with the same ones shows. */

import { Chart } from "chart.js";
import { csvOf } from "../plugin.js";
import { resolveColor } from "../style.js";
import { emOf, themeOf } from "./base.js";
import { boxOf } from "./mark.js";
import { drawMark } from "./pen.js";

/** The size of a bet, in sizes of the chart's font. */
const BET = 1.5;

/** Bets that were placed on this page: name → {x, y} in the units of the axes. */
const bets = new Map();

/** The bets that a chart shows, in px. */
function betsIn(chart) {
  const { x, y } = chart.scales;
  return namesOf(chart)
    .filter((name) => bets.has(name))
    .map((name) => ({
      name,
      x: x.getPixelForValue(bets.get(name).x),
      y: y.getPixelForValue(bets.get(name).y),
      size: BET * emOf(chart),
    }))
    .filter((one) => Number.isFinite(one.x) && Number.isFinite(one.y));
}

function namesOf(chart) {
  return csvOf(chart).settings.bets ?? [];
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
  return names.some((name) => bets.has(name)) ? [{ ...look, text: "your bets" }] : [];
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
  for (const other of Object.values(Chart.instances))
    if (other.config.type === chart.config.type) other.update("none");
  return true;
}
