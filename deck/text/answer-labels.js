/** Where the labels of the answer chart's points are. Pure. */

/** The name is bold and larger than the figures below it. */
export const NAME_WIDTH = 1.15;
/** The cost of lying on the bar of an interval, in heights of a line: as much as of being about three lines away. */
const INTERVAL_COST = 8;
/** The same for what hides something: a point, the bar to its median, another label. */
const HIDING_COST = 100;
/** The same for a label that is not at the right of its point, where people look for it first. */
const SIDE_COST = { right: 0, left: 0.25, edge: 0.5 };
/** Labels are tried at steps of this share of a line. */
const STEP = 0.25;
/** How often each label gets a better place among the others. */
const PASSES = 4;

/**
 * The points with the places of their labels, two lines each: near the point, and on nothing that matters.
 * @param {{at: number, medianAt: number|null, y: number, lowY: number|null, highY: number|null, text: string[]}[]} points   px
 * @param {{left: number, right: number, top: number, bottom: number}} plot   px
 * @param {{letter: number, line: number, scale: number}} type   letter: width; line: height, px
 * @returns {object[]} each with `anchor` (as SVG has it), `labelAt` and `labelY`, the baseline of its first line; the lowest first
 */
export function withLabels(points, plot, { letter, line, scale }) {
  const sorted = [...points].sort((a, b) => b.y - a.y);
  const hidden = sorted.map((point) => pointBox(point, scale));
  const crossed = sorted.map((point) => intervalBox(point, scale));
  const choices = sorted.map((point) => placesFor(point, plot, { letter, line, scale }));
  const chosen = cheapest(choices, (place, others) => {
    const meets = (boxes) => boxes.filter((box) => overlap(place, box)).length;
    return place.cost + line * (HIDING_COST * meets([...hidden, ...others]) + INTERVAL_COST * meets(crossed));
  });
  return sorted.map((point, index) => {
    const { anchor, labelAt, top } = chosen[index];
    return { ...point, anchor, labelAt, labelY: top + line - 6 * scale };
  });
}

/**
 * A place for each label, so that all together cost little. They choose in turn, and who comes first matters: so it is tried from
 * each label on, in both directions.
 * @param {object[][]} choices   the places of each label
 * @param {(place: object, others: object[]) => number} costOf   others: the places that other labels have by then
 */
function cheapest(choices, costOf) {
  const all = choices.map((_, index) => index);
  const orders = all.flatMap((first) => {
    const order = [...all.slice(first), ...all.slice(0, first)];
    return [order, order.toReversed()];
  });
  const costAmong = (chosen, place, own) =>
    costOf(
      place,
      chosen.filter((other, index) => other !== undefined && index !== own),
    );
  const settled = orders.map((order) => {
    const chosen = [];
    for (let pass = 0; pass < PASSES; pass += 1) {
      for (const index of order) {
        const costs = choices[index].map((place) => costAmong(chosen, place, index));
        chosen[index] = choices[index][costs.indexOf(Math.min(...costs))];
      }
    }
    return { chosen, cost: chosen.reduce((sum, place, index) => sum + costAmong(chosen, place, index), 0) };
  });
  return settled.reduce((best, one) => (one.cost < best.cost ? one : best), { chosen: [], cost: Infinity })
    .chosen;
}

/** Every place that a label may have, with what it costs to be there, px. */
function placesFor({ at, y, text: [name, ...figures] }, plot, { letter, line, scale }) {
  const letters = Math.max(name.length * NAME_WIDTH, ...figures.map(({ length }) => length));
  const length = letters * letter;
  const gap = 18 * scale;
  // A label covers what is behind it, and the axis should stay whole.
  const left = plot.left + 8 * scale;
  const fits = (start) => start >= left && start + length <= plot.right;
  const beside = [
    { anchor: "start", labelAt: at + gap, start: at + gap, cost: SIDE_COST.right },
    { anchor: "end", labelAt: at - gap, start: at - gap - length, cost: SIDE_COST.left },
  ];
  // Where there is no room beside the point, above or below it, up to the edge of the plot.
  const edges = [
    { anchor: "end", labelAt: plot.right, start: plot.right - length, cost: SIDE_COST.edge },
    { anchor: "start", labelAt: left, start: left, cost: SIDE_COST.edge },
  ].filter((_, side) => !fits(beside[side].start));
  const sides = [...beside.filter(({ start }) => fits(start)), ...edges];
  // Above the plot is the name of the axis.
  const highest = plot.top - line / 4;
  const lowest = Math.max(highest, plot.bottom - 2 * line);
  const usual = Math.max(highest, Math.min(y - line, lowest));
  const steps = Math.floor((plot.bottom - plot.top) / (STEP * line));
  return sides.flatMap(({ cost, start, ...side }) =>
    Array.from({ length: 2 * steps + 1 }, (_, step) => (step - steps) * STEP * line)
      .map((moved) => ({
        ...side,
        ...{ start, end: start + length, top: usual + moved, bottom: usual + moved + 2 * line },
        // Two labels that are a little away are easier to read than one that is far away.
        cost: cost * line + moved ** 2 / line,
      }))
      .filter(({ top }) => top >= highest && top <= lowest),
  );
}

/** A point and the bar to its median. */
function pointBox({ at, medianAt, y }, scale) {
  return {
    start: Math.min(at - 14 * scale, medianAt ?? at),
    end: at + 14 * scale,
    top: y - 12 * scale,
    bottom: y + 12 * scale,
  };
}

function intervalBox({ at, y, lowY, highY }, scale) {
  return { start: at - 4 * scale, end: at + 4 * scale, top: highY ?? y, bottom: lowY ?? y };
}

function overlap(one, other) {
  return one.start < other.end && one.end > other.start && one.top < other.bottom && one.bottom > other.top;
}
