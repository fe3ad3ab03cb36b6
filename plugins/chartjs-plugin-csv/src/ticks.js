import { toFont } from "chart.js/helpers";

/** px between labels along an axis: closer ones read as one figure. Lines above each other may touch. */
const APART = 8;

/**
 * Leaves out ticks whose labels would touch: Chart.js does so only where they are at even distances. Call when the chart has its
 * layout.
 * @param {import("chart.js").Scale<any>} scale
 */
export function separateTicks(scale) {
  const { ctx, ticks, labelRotation } = scale;
  const { display, autoSkip, font } = scale.options.ticks;
  if (!display || !autoSkip || labelRotation || scale.type === "category") return;
  const { string, size, lineHeight } = toFont(font);
  ctx.save();
  ctx.font = string;
  const linesOf = ({ label }) => [label ?? ""].flat().map(String);
  const lengthOf = scale.isHorizontal()
    ? (tick) => Math.max(...linesOf(tick).map((line) => ctx.measureText(line).width)) + APART
    : (tick) => (linesOf(tick).length - 1) * lineHeight + size;
  const labelled = ticks
    .map((tick, index) => ({ tick, at: scale.getPixelForTick(index), length: lengthOf(tick) }))
    .filter(({ tick }) => linesOf(tick).some((line) => line !== ""));
  ctx.restore();
  const kept = withoutTouching(labelled).map((index) => labelled[index]);
  if (kept.length === labelled.length) return;
  const left = new Set(labelled.filter((label) => !kept.includes(label)).map(({ tick }) => tick));
  scale.ticks = ticks.filter((tick) => !left.has(tick));
  scale.afterAutoSkip();
}

/**
 * Which of some labels can stay: the first, the last, and of the others those that touch none before. Pure.
 * @param {{at: number, length: number}[]} labels   in their order, each around its middle
 * @returns {number[]} positions
 */
export function withoutTouching(labels) {
  const touch = (label, other) => Math.abs(label.at - other.at) < (label.length + other.length) / 2;
  const last = labels.length - 1;
  const end = last > 0 && !touch(labels[0], labels[last]) ? labels[last] : null;
  const kept = [];
  labels.forEach((label, index) => {
    const before = labels[kept.at(-1)];
    if (before && touch(label, before)) return;
    if (index === last || !end || !touch(label, end)) kept.push(index);
  });
  return kept;
}
