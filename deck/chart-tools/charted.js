/** The facts about a chart as it is shown now: words, units and series, from the slide and the manifest. */

import { partsOf } from "../data/data-set.js";
import { chartPlace } from "../data/provenance.js";
import { marginOf } from "../data/margin.js";
import { headingOf } from "../text/canvases.js";
import { quantity } from "./views.js";

/**
 * Where the current data set has a chart.
 * @param {string|null} src   as a slide names it
 * @param {{resolve: (src: string, canvas: Element|null) => string, manifestOf: (name: string) => object|null}} data
 * @param {Element|null} [canvas]   the chart's
 * @returns {{url: string|null, dataSet: string|null, manifest: object|null, name: string|null,
 *            experiment: object|null, entry: object|null}}
 */
export function placeOf(src, data, canvas = null) {
  const url = src ? data.resolve(src, canvas) : null;
  const dataSet = (url && partsOf(url)?.dataSet) ?? null;
  const manifest = dataSet === null ? null : data.manifestOf(dataSet);
  const place = (url && chartPlace(url, manifest)) || { name: null, experiment: null, entry: null };
  return { url, dataSet, manifest, ...place };
}

/**
 * A chart, in the words used by tables and sentences.
 * @param {object} slot   a chart of the reveal plugin; it has a model
 */
export function chartedAs(slot, data) {
  const { experiment, entry, dataSet } = placeOf(slot.src, data, slot.canvas);
  const { settings, model } = slot;
  const shown = (slot.shownModel ?? model).series.map(({ name }) => name);
  return {
    kind: slot.kind,
    heading: headingOf(slot.canvas),
    quantity: quantity(entry, experiment),
    model,
    shown,
    axes: {
      xLabel: entry?.x?.label ?? settings?.xTitle ?? null,
      xUnit: entry?.x?.unit ?? settings?.xUnit ?? null,
      yUnit: settings?.yUnit ?? entry?.y?.unit ?? null,
    },
    margin: marginOf(entry, shown),
    settings,
    dataSet,
  };
}
