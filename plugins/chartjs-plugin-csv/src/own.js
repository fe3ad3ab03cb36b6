/** What the page itself put into a chart before any CSV arrived; the plugin keeps it. */

import { isObject } from "chart.js/helpers";

/**
 * The page's own datasets. Those with data are drawn beside those from the CSV. Those without data style the CSV's
 * datasets, by label or, without a label, by position.
 * @param {object[]} datasets   the datasets with which the chart was made
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

/** An object without some of its keys. Pure. */
export function without(object, keys) {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/**
 * The scale options that the page set. Chart.js completes them with its defaults when it makes the chart; options that
 * differ from those of a bare chart are the page's own.
 * @param {import("chart.js").Chart} chart   not yet updated by the plugin
 * @returns {Record<string, object>}
 */
export function ownScales({ config }) {
  const { type } = config;
  const filled = config.options.scales ?? {};
  const { indexAxis } = config.options;
  const bare = (scales) =>
    new config.constructor({ type, data: { datasets: [{}] }, options: { scales, indexAxis } }).options.scales;
  const usual = bare({});
  const typed = Object.entries(filled).map(([id, { axis, type: kind }]) => [id, { axis, type: kind }]);
  // Defaults depend on the type of a scale, so only scales of the same type are compared.
  const alike = bare(Object.fromEntries(typed));
  const own = {};
  for (const [id, scale] of Object.entries(filled)) {
    const differing = differences(scale, alike[id] ?? {});
    if (scale.type !== usual?.[id]?.type)
      Object.assign(differing, { type: scale.type, ...(usual?.[id] ? {} : { axis: scale.axis }) });
    if (Object.keys(differing).length > 0) own[id] = differing;
  }
  return own;
}

function differences(given, usual) {
  const differing = {};
  for (const [key, value] of Object.entries(given)) {
    if (isSame(value, usual[key])) continue;
    if (isObject(value) && isObject(usual[key])) {
      const deeper = differences(value, usual[key]);
      if (Object.keys(deeper).length > 0) differing[key] = deeper;
    } else differing[key] = value;
  }
  return differing;
}

/** Chart.js makes new lists of defaults for each chart, so lists are compared by their elements. */
function isSame(value, usual) {
  if (!Array.isArray(value) || !Array.isArray(usual)) return value === usual;
  return value.length === usual.length && value.every((item, i) => item === usual[i]);
}
