import { xUnitOf } from "./axes.js";
import { counts, leastOf, place, range } from "./figures.js";
import { kindOf } from "./kinds.js";
import { formatValue } from "./units.js";

const KINDS = {
  line: "Line chart",
  bar: "Bar chart",
  scatter: "Dots",
  pie: "Pie chart",
  doughnut: "Doughnut chart",
  radar: "Radar chart",
  polarArea: "Polar area chart",
};
/** A summary names at most this many series; nobody listens to a longer sentence. */
const MOST_SERIES = 6;

/**
 * A model in one sentence, for `aria-label` and for people who hear a chart instead of seeing it: what is drawn, over
 * which range, and each series' first, last, lowest and highest value, with their bounds. Pure.
 *
 * @param {import("./table.js").Model} model   with only the series that are shown
 * @param {object} [options]
 * @param {string} [options.type]   of the chart
 * @param {string|null} [options.title]   what it shows; without it, `yTitle`
 * @param {string|null} [options.xTitle]   of a long file, which does not name its axis
 * @param {string|null} [options.xUnit]
 * @param {string|null} [options.yUnit]
 * @param {string|null} [options.yTitle]
 * @param {string} [options.prefix]
 * @param {string|null} [options.second]   the name of a second data set that is drawn, too
 * @param {(string|null|false)[]} [options.notes]   what else to say at the end
 */
export function summarize(model, options = {}) {
  const { type = "line", title = null, yTitle = null, second = null, notes = [] } = options;
  const say = sayIn(model, options);
  const subject = title || yTitle;
  const kind = kindOf(type);
  if (kind) {
    const words = [kind.sentence(model, say), ...notes, second && `compared with ${second}`];
    return `${words.filter(Boolean).join("; ")}.`;
  }
  const head = `${KINDS[type] ?? "Chart"}${subject ? ` of ${subject}` : ""}: ${spanOf(model, options, say)}`;
  const told = model.series.slice(0, MOST_SERIES).map((series) => describeSeries(series, say));
  if (model.series.length === 0) told.push("no series shown yet");
  if (model.series.length > MOST_SERIES) told.push(`and ${model.series.length - MOST_SERIES} more`);
  const n = counts(model.series.map(({ points }) => points));
  const end = [n, ...notes, second && `compared with ${second}`].filter(Boolean);
  return `${[head, ...told, ...end].join("; ")}.`;
}

/**
 * A chart's values in words.
 * @param {import("./table.js").Model} model
 * @param {object} settings   options of the plugin
 * @returns {import("./kinds.js").Say}
 */
export function sayIn(model, settings) {
  const { title, yTitle } = settings;
  const yUnit = settings.yUnit ?? model.yUnit ?? null;
  return {
    x: (value) => place(value, xUnitOf(model, settings), settings),
    y: (value) => formatValue(value, yUnit, settings),
    bounds: (point) => range(point, yUnit, settings),
    title: title || yTitle || null,
    settings,
    in: (unit) => sayIn(model, { ...settings, yUnit: unit }),
  };
}

function spanOf(model, { xTitle = null }, say) {
  const label = model.kind === "wide" ? model.xLabel : xTitle || "x";
  const [first, last] = [model.xs[0], model.xs.at(-1)];
  return model.xs.length < 2 ? `${label} ${say.x(first)}` : `${label} from ${say.x(first)} to ${say.x(last)}`;
}

function describeSeries({ name, points }, say) {
  // In one pass, without a copy: a file may have very many points.
  let [first, last, least, greatest] = [null, null, null, null];
  let missing = 0;
  const bounds = [];
  for (const point of points) {
    if (point.y === null) {
      if (leastOf(point) === null) missing += 1;
      else bounds.push(`at least ${say.y(point.low)} at ${say.x(point.x)}`);
      continue;
    }
    first ??= point;
    last = point;
    if (least === null || point.y < least.y) least = point;
    if (greatest === null || point.y > greatest.y) greatest = point;
  }
  if (first === null) return `${name} ${bounds.join(", ") || "not measured"}`;
  const tell = (point, word = "") => {
    const around = say.bounds(point);
    return `${word}${say.y(point.y)}${around ? ` (${around})` : ""} at ${say.x(point.x)}`;
  };
  const parts = [tell(first), ...bounds];
  if (last !== first) parts.push(tell(last));
  for (const [word, point] of [
    ["lowest ", least],
    ["highest ", greatest],
  ]) {
    if (point !== first && point !== last) parts.push(tell(point, word));
  }
  if (missing) parts.push(`not measured at ${missing} of ${points.length}`);
  return `${name} ${parts.join(", ")}`;
}
