/** What a talk may show of data: files as they were recorded, and one data set a slide. */

import { UNLISTED } from "../verified/alterations.js";
import { lineIn } from "./chapters.js";
import { chartsOf } from "./charts-of.js";

/** Every file of the data sets on the slides is what derive wrote, or what was measured. */
export function unaltered({ altered }) {
  return Object.entries(altered).flatMap(([name, found]) =>
    found.map(({ file, what }) => ({
      file: `benchmarks/${name}/${file}`,
      line: 1,
      message: `${what}; ${wayBack(name, { file, what })}`,
    })),
  );
}

function wayBack(name, { file, what }) {
  if (what === UNLISTED) return "remove it";
  return file.includes("/raw/")
    ? "restore it from git or from a copy"
    : `write it again with: npm run derive -- --data ${name}`;
}

/**
 * The charts of a slide are of one data set, unless the slide says that it compares several. An audience takes charts side by
 * side for one measurement.
 */
export function oneDataSet({ slides }) {
  return slides.flatMap((slide) => {
    const charts = chartsOf(slide).filter(({ parts }) => parts !== null);
    const names = [...new Set(charts.map(({ parts }) => parts.dataSet))];
    if (names.length < 2) return [];
    const compared = (slide.body.attributes["data-compare"] ?? "").split(/\s+/).filter(Boolean);
    const undeclared = charts.find(({ parts }) => !compared.includes(parts.dataSet));
    if (undeclared === undefined) return [];
    return [
      {
        file: slide.file,
        line: lineIn(slide, undeclared.element.start),
        message: `the charts of this slide are of ${names.join(" and ")}; show one data set, or say that it compares them: <!-- .slide: data-compare="${names.join(" ")}" … -->`,
      },
    ];
  });
}
