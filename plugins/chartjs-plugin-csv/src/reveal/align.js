import { groupBy } from "../group.js";
import { csvOf } from "../plugin.js";
import { unite } from "../range.js";

/** Small multiples: plots below each other get the same left and right edges, and a row of them has one key. */
export function alignPlots(slots) {
  shareKeys(slots);
  const columns = grouped(slots, ({ box }) => {
    const { left, width } = box.getBoundingClientRect();
    return `${Math.round(left)} ${Math.round(width)}`;
  });
  for (const rooms of columns) {
    const widest = (side) => Math.max(...rooms.map(({ needs }) => needs[side]));
    const insets =
      rooms.length > 1 ? { left: widest("left"), right: widest("right") } : { left: 0, right: 0 };
    for (const room of rooms) room.setInsets(insets);
  }
}

/** Of charts side by side whose keys say the same, the last one has it. */
function shareKeys(slots) {
  const places = new Map(slots.map((slot) => [csvOf(slot.chart).room, slot.box.getBoundingClientRect()]));
  const alike = grouped(slots, (slot) => {
    const { key } = csvOf(slot.chart).room;
    return key === null ? slot : `${Math.round(slot.box.getBoundingClientRect().top)} ${key}`;
  });
  for (const rooms of alike) {
    const last = rooms.reduce((rightmost, other) =>
      places.get(other).left > places.get(rightmost).left ? other : rightmost,
    );
    for (const room of rooms) room.setKey(room === last);
  }
}

/**
 * Charts that people compare by eye get the same y axis, which covers the data of all. While a reader changes views, a
 * chart may show another quantity than its neighbour, or use another kind of axis; such a chart keeps its own axis.
 */
export function shareAxes(slots) {
  const alike = grouped(slots, ({ chart, settings }) => `${settings.yUnit} ${chart.scales.y?.type}`);
  for (const rooms of alike) {
    const range = rooms.length > 1 ? unite(...rooms.map(({ needs }) => needs.y)) : null;
    for (const room of rooms) room.hold(range);
  }
}

/** The rooms of charts that share a key. */
function grouped(slots, keyOf) {
  const groups = groupBy(slots, keyOf);
  return [...groups.values()].map((alike) => alike.map(({ chart }) => csvOf(chart).room));
}

/** Chart.js plugin: a shared y axis. It is registered last, so that marks have extended the axis before. */
export const SharedAxis = {
  id: "csvSharedAxis",

  afterDataLimits(chart, { scale }) {
    csvOf(chart)?.room.stretch(scale);
  },
};
