/**
 * Reference lines: `<canvas data-chart-ceiling="media_write_bytes_per_second">` draws an upper bound that the data set's
 * baseline found, as a dashed line with its name. Several names are separated by spaces. There is no line if the data set
 * lacks that ceiling or the chart has another unit.
 */

import { formatValue } from "chartjs-plugin-csv";

import { unbroken } from "./format.js";

const DASH = [14, 8];
const SCALED = /_(?:bytes|operations)_per_second$/;

/**
 * The ceilings that a canvas asks for and a manifest has.
 * @param {string|undefined} names   the attribute's value
 * @param {object|null} manifest
 * @returns {{name: string, words: string, unit: string, value: number, text: string, n: number}[]} greatest first
 */
export function ceilingsOf(names, manifest) {
  return namesIn(names)
    .map((name) => {
      const ceiling = Object.hasOwn(manifest?.ceilings ?? {}, name) ? manifest.ceilings[name] : {};
      const { unit, n } = ceiling;
      const value = ceiling[`median_${unit}`];
      if (!Number.isFinite(value)) return null;
      const words = name.replace(SCALED, "").replaceAll("_", " ");
      // On stage, what was measured has two digits.
      const text = `${words}: ${formatValue(Number(value.toPrecision(2)), unit)}`;
      return { name, words, unit, value, n, text };
    })
    .filter(Boolean)
    .sort((a, b) => b.value - a.value);
}

/** The names that an attribute holds. */
export function namesIn(names) {
  return (names ?? "").split(/\s+/).filter(Boolean);
}

/** A sentence about a slide's lines, for people who cannot see them; empty if there are none. */
export function ceilingWords(ceilings) {
  const texts = new Set(ceilings.map(({ text, n }) => `${text} (n = ${n})`));
  return texts.size ? unbroken(`dashed: ${[...texts].join(", ")}`) : "";
}

/**
 * The ceilings of a chart as marks of the chart plugin: lines that the y axis reaches up to.
 * @param {HTMLCanvasElement} canvas
 * @param {{manifest: object|null, entry: object|null}} place   the chart's: the manifest of its data set, and its entry there
 */
export function ceilingMarks({ dataset: { chartCeiling } }, { manifest, entry }) {
  return ceilingsOf(chartCeiling, manifest)
    .filter(({ unit }) => unit === entry?.y?.unit)
    .map(({ value, text }) => ({ axis: "value", value, label: text, color: "var(--ink)", dash: DASH }));
}
