/**
 * Which charts and texts show data that are not as recorded, in words. The server's list (`benchmarks/index.json`) names the
 * altered files of each data set. Pure.
 */

import { partsOf } from "./data-set.js";

/** @typedef {{file: string, what: string}} Alteration   file: its path below the data set; what: the rest of the sentence */

/** The altered files that everything on show depends on: those about the whole data set. */
export function ofDataSet(alterations) {
  return alterations.filter(({ file }) => !file.includes("/"));
}

/**
 * The altered files behind a chart: its own, its experiment's tables and raw output, and those of the whole data set.
 * @param {string} src   the chart's address, its data set already chosen
 * @param {Alteration[]} alterations   of that data set
 */
export function behindChart(src, alterations) {
  const parts = partsOf(src);
  if (parts === null || alterations.length === 0) return [];
  if (parts.document !== undefined) return ofDataSet(alterations);
  const folder = `${parts.experiment ?? "csv"}/`;
  const charts = `${folder}aggregate/`;
  return alterations.filter(({ file }) => {
    // All charts of an experiment have their runs in one file.
    if (file.startsWith(charts))
      return [`${parts.chart}.`, "runs."].some((name) => file.startsWith(charts + name));
    return file.startsWith(folder) || !file.includes("/");
  });
}

/** What a mark says, naming the first file; null without any. */
export function alteredSentence(alterations) {
  if (alterations.length === 0) return null;
  const [{ file, what }] = alterations;
  const others = new Set(alterations.map((alteration) => alteration.file)).size - 1;
  const more = others === 0 ? "" : ` (and ${others} more)`;
  return `ALTERED DATA${more}: ${file} ${what}.`;
}
