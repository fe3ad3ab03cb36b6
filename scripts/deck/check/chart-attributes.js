/** What a chart's attributes name is there: series, steps, reference lines, published figures. */

import { seriesNames } from "chartjs-plugin-csv";

import { namesIn } from "../../../deck/data/ceilings.js";
import { parseMarks } from "../../../deck/chart-tools/marks.js";
import { stepsOf } from "../../../deck/text/canvases.js";
import { chartEntry } from "../../../deck/data/provenance.js";
import { elementsWith } from "../text/segments.js";
import { lineIn } from "./chapters.js";

/** A reference line is a ceiling that the shipped data have, in the unit of its chart. */
export function ceilings({ slides, shipped: { name, manifest } }) {
  if (manifest === null) return [];
  const known = Object.keys(manifest.ceilings ?? {});
  return eachWith(
    slides,
    "data-chart-ceiling",
    ({ "data-chart-ceiling": names, "data-chart-src": src = "" }) => {
      if (namesIn(names).length === 0) return ["data-chart-ceiling without a name"];
      const unit = chartEntry(src, manifest)?.y?.unit;
      return namesIn(names).flatMap((one) => {
        if (!known.includes(one))
          return [`"${name}" has no ceiling "${one}"; there are: ${known.join(", ") || "none"}`];
        const its = manifest.ceilings[one].unit;
        return unit === undefined || its === unit
          ? []
          : [`the ceiling "${one}" is in ${its}, its chart in ${unit}`];
      });
    },
  );
}

/** The series that a chart shows are series of its file, as the shipped manifest lists them. */
export function series({ slides, shipped: { manifest } }) {
  return eachWith(
    slides,
    "data-chart-series",
    ({ "data-chart-series": written, "data-chart-src": src = "" }) => {
      const known = manifest && chartEntry(src, manifest)?.series;
      if (!Array.isArray(known)) return [];
      return (seriesNames(written) ?? [])
        .filter((name) => !known.includes(name))
        .map((name) => `the chart has no series "${name}"; it has ${known.join(", ")}`);
    },
  );
}

/** A chart's steps name series that it shows. */
export function steps({ slides, shipped: { manifest } }) {
  return eachWith(slides, "data-chart-steps", (attributes) => {
    const {
      "data-chart-steps": written,
      "data-chart-series": chosen,
      "data-chart-src": src = "",
    } = attributes;
    const names = stepsOf(written).flat();
    if (names.length === 0) return ["data-chart-steps without a series"];
    const shown = seriesNames(chosen) ?? (manifest && chartEntry(src, manifest)?.series);
    if (!Array.isArray(shown)) return [];
    return names
      .filter((name) => !shown.includes(name))
      .map((name) => `data-chart-steps: the chart shows no series "${name}"; it shows ${shown.join(", ")}`);
  });
}

/** A figure that is drawn beside the data has a name, a number, and a source. */
export function marks({ slides }) {
  return eachWith(slides, "data-chart-marks", ({ "data-chart-marks": written, "data-source": source }) => {
    const { marks: named, problems } = parseMarks(written);
    return [
      ...problems.map((problem) => `data-chart-marks: ${problem}`),
      ...(named.length + problems.length === 0 ? ["data-chart-marks without a figure"] : []),
      ...(source === undefined ? ['data-chart-marks without its source; add data-source="…"'] : []),
    ];
  });
}

/** The problems of every element with an attribute, each at its place. */
function eachWith(slides, attribute, messagesOf) {
  return slides.flatMap((slide) =>
    [...elementsWith(slide, attribute)].flatMap((element) =>
      messagesOf(element.attributes).map((message) => ({
        file: slide.file,
        line: lineIn(slide, element.start),
        message,
      })),
    ),
  );
}
