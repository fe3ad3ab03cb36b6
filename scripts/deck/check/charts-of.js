/** The charts of a slide, which several rules ask for, and which of them wait for data that are not shipped. */

import { CsvError, kindOf, nearest, readModel, seriesNames } from "chartjs-plugin-csv";

import { partsOf } from "../../../deck/data/data-set.js";
import { isOwnName } from "../../../deck/data/own-file.js";
import { chartEntry } from "../../../deck/data/provenance.js";
import { elementsWith } from "../text/segments.js";
import { isChosen, parseWhen } from "../../../deck/text/verdict-text.js";

/** A slide's charts: their elements, their addresses, and what these name. */
export function chartsOf(slide) {
  return [...elementsWith(slide, "data-chart-src")]
    .filter(({ name }) => name === "canvas")
    .map((element) => {
      const src = element.attributes["data-chart-src"];
      return { element, src, parts: partsOf(src) };
    });
}

/** The addresses of the files that a chart draws: its own, and those beside it. */
export function addressesOf({ src, element }) {
  return [src, ...(seriesNames(element.attributes["data-chart-more"]) ?? [])];
}

/**
 * Whether a chart waits for somebody else's data: its experiment has no chart in the shipped data, because they skip it or
 * lack it, and it stands in a text (`data-when`) that the shipped verdict denies. With any file of that experiment there, a
 * chart that is missing is a mistake.
 * @param {import("../text/tree.js").Element} element   the canvas
 * @param {string|null} experiment   whose chart it is
 * @param {{manifest: object|null, claims: object|null}} shipped
 */
export function isAwaited(element, experiment, { manifest, claims }) {
  if (experiment === null || manifest === null || claims === null) return false;
  if (Object.keys(manifest.experiments?.[experiment]?.charts ?? {}).length > 0) return false;
  return isDenied(element, claims);
}

/** Whether an element stands in a text that the verdicts of these claims hide. */
export function isDenied(element, claims) {
  for (let around = element; around; around = around.parent) {
    const when = around.attributes["data-when"];
    if (when !== undefined && !isChosen(parseWhen(when), claims)) return true;
  }
  return false;
}

/** How a file of the talk's own is written, where a chart or its kind says it. */
const FORM = ["orientation", "delimiter", "decimal", "comment"];

/**
 * What a file of the talk's own holds, read as the deck reads it.
 * @param {Record<string, string>} attributes   of the canvas
 * @param {Map<string, {text: string}>} own   the files, by name
 * @param {string} [name]   that of the file, if it is not the chart's first
 * @returns {{model: import("chartjs-plugin-csv").Model}|{problem: string}}
 */
export function ownModelOf(attributes, own, name = attributes["data-chart-src"]) {
  if (!own.has(name)) return { problem: `the talk's folder has no ${name}${instead(name, [...own.keys()])}` };
  const usual = kindOf(attributes["data-chart"])?.defaults?.({}) ?? {};
  const form = FORM.map((key) => [key, attributes[`data-chart-${key}`] || usual[key]]).filter(
    ([, text]) => text,
  );
  try {
    return { model: readModel(own.get(name).text, Object.fromEntries(form)) };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { problem: `${name}: ${error.message}` };
  }
}

function instead(name, names) {
  const near = nearest(name, names);
  if (near !== null) return `; did you mean ${near}?`;
  return names.length > 0 ? `; it has ${names.join(", ")}` : "";
}

/** The names of a chart's series, as the manifest lists them or a file of the talk's own has them; null if nobody knows. */
export function seriesOf(attributes, { shipped: { manifest }, own }) {
  const { "data-chart-src": src = "" } = attributes;
  if (isOwnName(src)) return ownModelOf(attributes, own).model?.series.map(({ name }) => name) ?? null;
  const known = manifest && chartEntry(src, manifest)?.series;
  return Array.isArray(known) ? known : null;
}
