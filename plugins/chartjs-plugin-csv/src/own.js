/** What the page itself put into a chart, before any CSV was there: it stays. */

/**
 * The page's own datasets: those with data are drawn beside the CSV's, those without say how the CSV's look, by label
 * or, without a label, by position.
 * @param {object[]} datasets   as the chart was made with them
 * @returns {{drawn: object[], overrides: (name: string, index: number) => object}}
 */
export function ownDatasets(datasets = []) {
  const hasData = ({ data }) => (Array.isArray(data) ? data.length > 0 : Object.keys(data ?? {}).length > 0);
  const looks = datasets.map((dataset) => (hasData(dataset) ? null : without(dataset, ["data"])));
  return {
    drawn: datasets.filter(hasData),
    overrides: (name, index) => {
      const named = looks.find((look) => look?.label === name);
      const unnamed = looks[index]?.label === undefined ? looks[index] : null;
      return without(named ?? unnamed ?? {}, ["label"]);
    },
  };
}

function without(object, keys) {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/**
 * The scale options that the page set. Chart.js fills them up with its defaults when it makes the chart; what differs from
 * those of a chart without such options is the page's own.
 * @param {import("chart.js").Chart} chart   not yet updated by the plugin
 * @returns {Record<string, object>}
 */
export function ownScales({ config }) {
  const { type } = config;
  const filled = config.options.scales ?? {};
  const bare = (scales) =>
    new config.constructor({ type, data: { datasets: [{}] }, options: { scales } }).options.scales;
  const usual = bare({});
  const typed = Object.entries(filled).map(([id, { axis, type: one }]) => [id, { axis, type: one }]);
  // Defaults depend on the type of a scale: what differs is looked for among scales of the same types.
  const alike = bare(Object.fromEntries(typed));
  const own = {};
  for (const [id, scale] of Object.entries(filled)) {
    const found = differences(scale, alike[id] ?? {});
    if (scale.type !== usual?.[id]?.type)
      Object.assign(found, { type: scale.type, ...(usual?.[id] ? {} : { axis: scale.axis }) });
    if (Object.keys(found).length > 0) own[id] = found;
  }
  return own;
}

function differences(given, usual) {
  const found = {};
  for (const [key, value] of Object.entries(given)) {
    if (isSame(value, usual[key])) continue;
    if (isObject(value) && isObject(usual[key])) {
      const deeper = differences(value, usual[key]);
      if (Object.keys(deeper).length > 0) found[key] = deeper;
    } else found[key] = value;
  }
  return found;
}

/** Lists are defaults made anew for each chart: what they hold counts. */
function isSame(value, usual) {
  if (!Array.isArray(value) || !Array.isArray(usual)) return value === usual;
  return value.length === usual.length && value.every((one, i) => one === usual[i]);
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
