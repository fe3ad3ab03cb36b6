/** Figures that a source published: a slide quotes only those that the author declared, letter by letter. */

import path from "node:path";

import { parseMarks } from "../../../deck/chart-tools/marks.js";
import { isObject } from "../../../deck/data/manifests.js";
import { parseYaml } from "../checked-yaml.js";
import { textIfThere } from "../data-sets.js";
import { elementsWith } from "../text/segments.js";
import { problemIn } from "./chapters.js";
import { OWN_SOURCES, ioSizes, numeralsIn } from "./numerals.js";

const PUBLISHED_FILE = "config/published.yaml";

/**
 * The figures that the author declares, by source.
 * @param {string} root   folder of index.html
 * @returns {Promise<Record<string, string[]>|null>} null if there is no such file
 * @throws {Error} naming a file that is not of that form
 */
export async function readPublished(root) {
  const text = await textIfThere(path.join(root, PUBLISHED_FILE));
  if (text === null) return null;
  const published = parseYaml(text, PUBLISHED_FILE);
  if (!isObject(published) || !Object.values(published).every(isListOfTexts))
    throw new Error(`${PUBLISHED_FILE}: each source needs a list of figures, each in quotation marks`);
  return published;
}

function isListOfTexts(value) {
  return Array.isArray(value) && value.every((item) => typeof item === "string" && item.trim() !== "");
}

/** Every figure in a text or mark with a source is among those declared of that source; an author's own file published none. */
export function publishedFigures({ slides, shipped, published, own }) {
  if (published === null) return [];
  return quotedFigures(slides, shipped)
    .filter(({ source, figure }) => !own.has(source) && !(published[source] ?? []).includes(figure))
    .map(({ slide, at, source, figure }) =>
      problemIn(
        slide,
        `"${figure}" is not among the figures that ${PUBLISHED_FILE} has of ${source}; correct it, or declare it there`,
        at,
      ),
    );
}

function quotedFigures(slides, shipped) {
  const sizes = ioSizes(shipped.manifest);
  return slides.flatMap((slide) => [
    ...slide.segments
      .filter(({ bound, source }) => bound === null && source !== null && !OWN_SOURCES.includes(source))
      .flatMap(({ text, at, source }) =>
        numeralsIn(text, sizes).map(({ numeral, index }) => ({
          ...{ slide, at: at + index, source },
          figure: numeral.toLowerCase(),
        })),
      ),
    ...[...elementsWith(slide, "data-chart-marks")].flatMap(({ attributes, start }) =>
      parseMarks(attributes["data-chart-marks"]).marks.map(({ label, value, at }) => ({
        ...{ slide, at: start, source: attributes["data-source"] },
        figure: `${label}${at === undefined ? "" : ` @ ${at}`} = ${value}`,
      })),
    ),
  ]);
}
