import { indexAxisOf, xUnitOf } from "./axes.js";
import { choiceOf } from "./entries.js";
import { kindOf } from "./kinds.js";
import { isLogarithmic, setLimits, unite, xRange, yRange } from "./range.js";
import { runsOf } from "./runs.js";

/** Scales whose ends are set here; others, such as a time axis, find their own. */
const KINDS = ["linear", "logarithmic", "log2", "broken", "date"];
/** How much of the beginning of a time axis may be empty; more than that is left out. */
const NEAR_ZERO = 0.1;

/**
 * Sets the ends of an axis after Chart.js has found those of the visible data. Series that are not shown yet count, so
 * that no axis moves when they appear. Series that the page itself hid do not count.
 * @param {import("chart.js").Scale} scale
 * @param {{model: import("./table.js").Model, settings: object, entries: import("./entries.js").Entry[],
 *          runs: Map<string, object[]>|null, hidden: Set<string>, isShared: boolean}} drawn
 *   hidden: labels of series not shown yet; isShared: the page draws data of its own in the same axes
 */
export function limitScale(scale, { model, settings, entries, runs, hidden, isShared }) {
  if (!["x", "y"].includes(scale.axis) || !KINDS.includes(scale.type)) return;
  const { chart } = scale;
  const { axes, range } = settings;
  // The page's own axes, and axes with data of its own, are only made longer.
  const own = axes === false || isShared ? { low: scale.min, high: scale.max } : null;
  const { about } = choiceOf(settings);
  const isOn = (i) => chart.getDatasetMeta(i)[`${scale.axis}AxisID`] === scale.id;
  const counted = entries.filter(
    ({ name, label }, i) => isOn(i) && about(name) && (hidden.has(label) || chart.isDatasetVisible(i)),
  );
  if (counted.length === 0 && entries.some((_, i) => !isOn(i))) return;
  const kind = kindOf(chart.config.type);
  const lists = counted.map(({ points }) => kind?.measured?.(points) ?? points);
  const positive = isLogarithmic(scale.type);
  if (scale.axis === indexAxisOf(chart)) {
    if (axes === false) return;
    // What a kind has along x is in its points; the header may have names of columns.
    const header = model.kind === "wide" && !kind ? [model.xs.map((x) => ({ x }))] : [];
    const isTime = xUnitOf(model, settings) === "seconds" && scale.type === "linear";
    const drawn = [...header, ...lists, ...(kind && runs ? runsOf(counted, runs) : [])];
    const extent = xRange(scale.type === "date" ? momentsOf(drawn, scale) : drawn, { positive });
    setLimits(scale, unite(isTime ? fromZero(extent) : extent, own));
    return;
  }
  const wanted = range && Number.isFinite(range.low) && Number.isFinite(range.high) ? range : null;
  const part = kind ? {} : xPart(chart);
  const extent = yRange([...lists, ...(runs ? runsOf(counted, runs) : [])], { positive, ...part });
  setLimits(scale, unite(extent, wanted && (!positive || wanted.low > 0) ? wanted : null, own));
}

/** Time since a start begins at 0, even if the first value was measured a moment later. */
function fromZero(range) {
  const { low, high } = range ?? {};
  return low > 0 && low <= high * NEAR_ZERO ? { low: 0, high } : range;
}

/** The part of the x axis that the page set; values outside of it do not count. */
function xPart(chart) {
  const x = chart.scales[indexAxisOf(chart)];
  const bounds = x?.getUserBounds();
  if (!bounds || x.type === "category") return {};
  const { min, max, minDefined, maxDefined } = bounds;
  return { from: minDefined ? min : undefined, to: maxDefined ? max : undefined };
}

/** The same points, with x as the scale has it. */
function momentsOf(lists, scale) {
  return lists.map((points) => points.map(({ x }) => ({ x: scale.parse(x) })));
}
