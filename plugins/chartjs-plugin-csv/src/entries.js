/**
 * What a chart draws: the series of its own file, then those of a second data set. One entry is one dataset, in the
 * same order; `label` tells them apart, `name` decides how they look.
 *
 * @typedef {{label: string, name: string, second: boolean, points: import("./table.js").Point[]}} Entry
 */

/**
 * @param {import("./table.js").Model} model
 * @param {{model: import("./table.js").Model, label: string}|null} [second]
 * @returns {Entry[]}
 */
export function entriesOf(model, second = null) {
  const own = model.series.map(({ name, points }) => ({ label: name, name, second: false, points }));
  const labels = new Set(own.map(({ label }) => label));
  const others = (second?.model.series ?? []).map(({ name, points }) => {
    const label = unused(`${name} · ${second.label}`, labels);
    labels.add(label);
    return { label, name, second: true, points };
  });
  return [...own, ...others];
}

/** A file may contain any name, even one that looks like a name with a suffix. */
function unused(label, labels) {
  let free = label;
  while (labels.has(free)) free += "′";
  return free;
}

/** The x values of both data sets: numbers sorted, words in the order of appearance. Pure. */
export function unitedXs(xs, others = []) {
  const united = [...new Set([...xs, ...others])];
  if (united.length === xs.length) return [...xs];
  return united.every((x) => typeof x === "number") ? united.sort((a, b) => a - b) : united;
}

/** A model with only the series of these names, in the file's order, beside `all` of them; null means all. Pure. */
export function withSeries(model, names) {
  if (!names) return model;
  const chosen = new Set(names);
  const { series, all = series } = model;
  return { ...model, all, series: series.filter(({ name }) => chosen.has(name)) };
}

/** Series in the order in which a slide names them, as lanes and columns stand; those that it does not name follow. Pure. */
export function inOrder(series, { series: named }) {
  if (!named) return series;
  const placeOf = ({ name }) => (named.includes(name) ? named.indexOf(name) : named.length);
  return [...series].sort((a, b) => placeOf(a) - placeOf(b));
}

/** The names in an attribute, separated by a bar: `With journal | Snapshot mirrored`; null when there is none. Pure. */
export function seriesNames(attribute) {
  const names = (attribute ?? "")
    .split("|")
    .map((name) => name.trim())
    .filter(Boolean);
  return names.length ? names : null;
}

/**
 * Which series a chart is about, and which of them are drawn now. Pure.
 * @param {{series: string[]|null, shown: string[]|null}} settings   series: null means all of the file;
 *   shown: null means all that the chart is about
 * @returns {{about: (name: string) => boolean, drawn: (name: string) => boolean}}
 */
export function choiceOf({ series, shown }) {
  const about = (name) => !series || series.includes(name) || Boolean(shown?.includes(name));
  return { about, drawn: (name) => (shown ? shown.includes(name) : about(name)) };
}
