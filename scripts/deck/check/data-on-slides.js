/** What a talk may show of data: files as they were recorded, and one data set a slide. */

import { problemIn } from "./chapters.js";
import { chartsOf } from "./charts-of.js";

/** Every file of the data sets on the slides is what derive wrote. */
export function unaltered({ altered }) {
  return Object.entries(altered).flatMap(([name, alterations]) =>
    alterations.map(({ file, what }) => ({
      file: `benchmarks/${name}/${file}`,
      line: 1,
      message: `${what}; write it again with: ./replay derive --data ${name}`,
    })),
  );
}

/** The data set that a slide names is one of those that the talk says single slides show. */
export function namedDataSets({ slides, stated }) {
  const known = stated?.otherDataSets ?? [];
  return slides
    .filter(({ dataSet }) => dataSet !== null && !known.includes(dataSet))
    .map((slide) =>
      problemIn(
        slide,
        `data-set="${slide.dataSet}": ${stated.file} names no such data set under other_data_sets${known.length ? `, but ${known.join(", ")}` : ""}`,
      ),
    );
}

/**
 * The charts of a slide are of one data set, that of its texts, unless the slide says that it compares several. An audience
 * takes charts side by side for one measurement, and a title for what they show.
 */
export function oneDataSet({ slides, stated, literal, dataSets }) {
  return slides.flatMap((slide) => {
    const charts = chartsOf(slide).filter(({ parts }) => parts !== null && !parts.document);
    const names = [...new Set(charts.map(({ parts }) => parts.dataSet))];
    if (names.length < 2) {
      const [name] = names;
      const own = slide.dataSet ?? stated.dataSet;
      // With another data set than its own, all charts of a talk are of that one.
      if (!literal || name === undefined || name === own || !dataSets.has(name)) return [];
      if (slide.compares.includes(name)) return [];
      return [
        problemIn(
          slide,
          `the charts of this slide are of ${name}, and its texts of ${own}; let both be of one: <!-- .slide: data-set="${name}" … -->`,
          charts[0].element.start,
        ),
      ];
    }
    const undeclared = charts.find(({ parts }) => !slide.compares.includes(parts.dataSet));
    if (undeclared === undefined) return [];
    return [
      problemIn(
        slide,
        `the charts of this slide are of ${names.join(" and ")}; show one data set, or say that it compares them: <!-- .slide: data-compare="${names.join(" ")}" … -->`,
        undeclared.element.start,
      ),
    ];
  });
}
