/** From how many points on markers are left out. */
const MARKERS_UP_TO = 60;

/**
 * `chart.data` for a model. Pure.
 *
 * Wide: `labels` are the header's x values and every dataset's `data` is exactly the row's numbers, null for an
 * empty field. Long: `data` are `{x, y}` points in the file's order, labels only where x is a category.
 * Datasets that `existing` already holds under the same name are updated in place, so that what the page set on
 * them (colour, hidden, …) stays.
 *
 * @param {import("./table.js").Model} model
 * @param {string} chartType `line`, `bar` or `scatter`
 * @param {(name: string) => {color: string, dash: number[], pointStyle: string}} lookOf computed style by name
 * @param {{existing?: object[], overrides?: object[]|Record<string, object>}} [options] `overrides`: dataset
 *   properties by index or by series name, which win over everything but label and data
 */
export function dataFor(model, chartType, lookOf, { existing = [], overrides = [] } = {}) {
  const byName = new Map(existing.map((dataset) => [dataset.label, dataset]));
  const categories = chartType === "bar" || typeof model.xs[0] === "string";
  const aligned = model.kind === "wide" && chartType !== "scatter";
  const datasets = model.series.map((series, index) => {
    const dataset = byName.get(series.name) ?? {};
    const override = (Array.isArray(overrides) ? overrides[index] : overrides[series.name]) ?? {};
    Object.assign(dataset, looks(lookOf(series.name), chartType, series.points.length), override, {
      label: series.name,
      data: series.points.map(({ x, y }) => (aligned ? y : { x, y })),
    });
    // Without parsing Chart.js takes {x, y} as they are, which decimation needs; it relies on x not decreasing.
    dataset.parsing = aligned || categories || !isSorted(series.points);
    return dataset;
  });
  return aligned || categories ? { labels: [...model.xs], datasets } : { datasets };
}

function looks({ color, dash, pointStyle }, chartType, count) {
  const look = { borderColor: color, backgroundColor: color, hoverBackgroundColor: color, pointStyle };
  if (chartType === "bar") return { ...look, borderWidth: 0 };
  const markers = chartType === "scatter" || count <= MARKERS_UP_TO;
  return {
    ...look,
    borderDash: dash,
    borderWidth: 3,
    pointRadius: markers ? 5 : 0,
    pointHoverRadius: 7,
    pointHitRadius: 12,
    pointBackgroundColor: color,
    pointBorderColor: color,
    spanGaps: false,
  };
}

function isSorted(points) {
  return points.every(({ x }, i) => i === 0 || points[i - 1].x <= x);
}
