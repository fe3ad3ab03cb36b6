/**
 * The registry of chart kinds beyond those of Chart.js. A kind is one module:
 *
 * @typedef {object} Kind
 * @property {string} id   what `data-chart` and Chart.js' `type` name
 * @property {typeof import("./kinds/base.js").KindController} controller   draws it
 * @property {(given: Given) => {index: object, value: object}} options   Chart.js options of its two axes: the one along
 *   which its series or categories are, and the other; `indexAxis: "y"` lays the chart on its side
 * @property {(model: import("./table.js").Model, say: Say) => string} sentence   what it shows, for those who hear it
 * @property {(chart: import("./tables.js").Shown, make: import("./tables.js").TableMaker) => import("./tables.js").Table} table
 * @property {(model: import("./table.js").Model, settings: object) => import("./table.js").Series[]} [marks]   what is
 *   drawn of a model: one dataset for each series, one element for each point; by default the model's own series
 * @property {(models: import("./table.js").Model[], settings: object) => import("./table.js").Model} [join]   one model of
 *   several files
 * @property {(points: import("./table.js").Point[]) => import("./table.js").Point[]} [measured]   those that the axes cover
 * @property {(model: import("./table.js").Model, settings: object) => string[]} [parts]   names of what can be revealed
 *   besides series
 * @property {(model: import("./table.js").Model, settings: object) => string[]} [notes]   what it cannot show, in sentences
 * @property {(own: object) => object} [defaults]   options of the plugin, below those of the page, which it may depend on
 * @property {(point: import("./table.js").Point, say: Say) => string} [tell]   a point in words, for its tooltip
 * @property {(settings: object, place: {series: number, at: number}) => string|null} [unitOf]   the unit of a value, by the
 *   positions of its series and its point, where the values of a chart have several
 *
 * @typedef {object} Given
 * @property {import("./table.js").Model} model
 * @property {import("./entries.js").Entry[]} entries   the series that the chart is about
 * @property {object} settings   options of the plugin
 * @property {{text: string, grid: string, ink: string, page: string, lost: string, font: object}} theme
 * @property {(name: string) => string} colorOf
 * @property {boolean} flipped   whether the chart lies on its side: its values are along x
 *
 * @typedef {object} Say   values in words
 * @property {(value: number|string) => string} x
 * @property {(value: number|null) => string} y
 * @property {(point: import("./table.js").Point) => string|null} bounds
 * @property {string|null} title
 * @property {object} settings
 * @property {(unit: string|null) => Say} in   the same for values of another unit
 */

import { Chart, registry } from "chart.js";
import { CsvError } from "./error.js";

/** Fetched when a chart asks for one. */
const BUILT_IN = {
  chain: () => import("./kinds/chain.js"),
  dumbbell: () => import("./kinds/dumbbell.js"),
  forest: () => import("./kinds/forest.js"),
  heatmap: () => import("./kinds/heatmap.js"),
  quadrant: () => import("./kinds/quadrant.js"),
  response: () => import("./kinds/response.js"),
  share: () => import("./kinds/share.js"),
  squares: () => import("./kinds/squares.js"),
  strip: () => import("./kinds/strip.js"),
};
/** What a reveal deck can draw without registering anything. */
const CLASSIC = ["line", "bar", "scatter"];

const kinds = new Map();

/**
 * Makes a kind known to Chart.js and to this plugin.
 * @param {Kind} kind
 */
export function registerKind(kind) {
  Chart.register(kind.controller, ...kind.controller.parts);
  kinds.set(kind.id, kind);
}

/** @returns {Kind|null} null for types that this plugin does not draw itself */
export function kindOf(id) {
  return kinds.get(id) ?? null;
}

/**
 * Fetches a kind that is not registered yet.
 * @param {string} id
 * @param {Record<string, () => Promise<{default: Kind}>>} [further]   kinds of the page's own
 * @returns {Promise<Kind|null>} null for Chart.js' own types, and for those that the page registered with it
 * @throws {CsvError} if nobody draws such a chart
 */
export async function loadKind(id, further = {}) {
  if (kinds.has(id)) return kinds.get(id);
  const load = [further, BUILT_IN].find((from) => Object.hasOwn(from, id))?.[id];
  if (load) {
    const { default: kind } = await load();
    if (!kinds.has(id)) registerKind(kind);
    return kinds.get(id);
  }
  const why = whyNoKind(id, Object.keys(further));
  if (why !== null) throw new CsvError(why, { kind: "options" });
  return null;
}

/**
 * Why nobody draws a chart, as a sentence; null if somebody does.
 * @param {string} id
 * @param {string[]} [further]   kinds of the page's own
 */
export function whyNoKind(id, further = []) {
  const known = [...new Set([...CLASSIC, ...Object.keys(BUILT_IN), ...further, ...kinds.keys()])];
  if (known.includes(id) || Object.hasOwn(registry.controllers.items, id)) return null;
  const near = nearest(id, known);
  return near
    ? `there is no chart “${id}”; did you mean “${near}”?`
    : `there is no chart “${id}”; there are ${known.sort().join(", ")}, and what the page registers`;
}

/** The word that was probably meant; null if none is near. Pure. */
export function nearest(word, known) {
  const most = word.length < 4 ? 1 : 2;
  const distances = known.map((name) => ({ name, distance: distanceOf(word.toLowerCase(), name) }));
  const [best] = distances.sort((a, b) => a.distance - b.distance);
  return best && best.distance <= most ? best.name : null;
}

/** How many letters have to be changed, added, left out, or swapped with their neighbour. */
function distanceOf(a, b) {
  let [before, row] = [[], Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        next[j] = Math.min(next[j], before[j - 2] + 1);
    }
    [before, row] = [row, next];
  }
  return row.at(-1);
}
