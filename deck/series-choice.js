/**
 * A chart that shows some series of its file: `data-chart-series="With journal | Journal mirrored"`.
 * The file stays whole, so that every chart of it reads the same numbers; the other series are hidden.
 */

/** The names in a `data-chart-series` attribute; null when there is none: all series are shown. */
export function chosenSeries(attribute) {
  if (!attribute) return null;
  return attribute
    .split("|")
    .map((name) => name.trim())
    .filter(Boolean);
}

/** Keeps the choice of every chart below `root`, also when its file is read again. */
export function chooseSeries(root) {
  const apply = ({ target, detail }) => {
    const chosen = chosenSeries(target.getAttribute?.("data-chart-series"));
    if (!chosen || !detail.chart) return;
    const { chart } = detail;
    chart.data.datasets.forEach((dataset, index) => {
      chart.setDatasetVisibility(index, chosen.includes(dataset.label));
    });
    chart.update("none");
  };
  root.addEventListener("chart-csv:ready", apply);
  root.addEventListener("chart-csv:updated", apply);
}
