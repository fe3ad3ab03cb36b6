/** What a chart's attributes name is there: series, steps, reference lines, published figures. */

import { seriesNames } from "chartjs-plugin-csv";

import { namesIn } from "../../../deck/data/ceilings.js";
import { HERE, parseMarks, parseNotes } from "../../../deck/chart-tools/marks.js";
import { stepsOf } from "../../../deck/text/canvases.js";
import { partsOf } from "../../../deck/data/data-set.js";
import { chartEntry } from "../../../deck/data/provenance.js";
import { problemsWith } from "../text/segments.js";
import { isDenied, seriesOf } from "./charts-of.js";
import { ioSizes, numeralsIn } from "./numerals.js";
import { whyUnknown } from "./values.js";

/** A reference line is a ceiling that the shipped data have, in the unit of its chart. */
export function ceilings({ slides, shipped: { name, manifest } }) {
  if (manifest === null) return [];
  const known = Object.keys(manifest.ceilings ?? {});
  return problemsWith(slides, "data-chart-ceiling", (attributes) => {
    const names = namesIn(attributes["data-chart-ceiling"]);
    if (names.length === 0) return ["data-chart-ceiling without a name"];
    const unit = chartEntry(attributes["data-chart-src"] ?? "", manifest)?.y?.unit;
    return names.flatMap((ceiling) => {
      if (!known.includes(ceiling))
        return [`"${name}" has no ceiling "${ceiling}"; there are: ${known.join(", ") || "none"}`];
      const its = manifest.ceilings[ceiling].unit;
      return unit === undefined || its === unit
        ? []
        : [`the ceiling "${ceiling}" is in ${its}, its chart in ${unit}`];
    });
  });
}

/** The series that a chart shows, or emphasises, are series of its file. */
export function series(talk) {
  return ["data-chart-series", "data-chart-emphasis"].flatMap((attribute) =>
    problemsWith(talk.slides, attribute, (attributes) => {
      const known = seriesOf(attributes, talk);
      return (seriesNames(attributes[attribute]) ?? [])
        .filter((name) => known !== null && !known.includes(name))
        .map((name) => `${attribute}: the chart has no series "${name}"; it has ${known.join(", ")}`);
    }),
  );
}

/** A chart's steps name series that it shows. */
export function steps(talk) {
  return problemsWith(talk.slides, "data-chart-steps", (attributes) => {
    const {
      "data-chart-steps": written,
      "data-chart-series": chosen,
      "data-chart-src": src = "",
    } = attributes;
    const names = stepsOf(written).flat();
    if (names.length === 0) return ["data-chart-steps without a series"];
    // What a data set says as a whole has parts of its own, such as an arrow.
    if (partsOf(src)?.document) return [];
    const shown = seriesNames(chosen) ?? seriesOf(attributes, talk);
    if (shown === null) return [];
    return names
      .filter((name) => !shown.includes(name))
      .map((name) => `data-chart-steps: the chart shows no series "${name}"; it shows ${shown.join(", ")}`);
  });
}

/** A figure that is drawn beside the data has a name, a number, and a source. */
export function marks({ slides }) {
  return problemsWith(slides, "data-chart-marks", (attributes) => {
    const { marks: named, problems } = parseMarks(attributes["data-chart-marks"]);
    return [
      ...problems.map((problem) => `data-chart-marks: ${problem}`),
      ...(named.length + problems.length === 0 ? ["data-chart-marks without a figure"] : []),
      ...("data-source" in attributes ? [] : ['data-chart-marks without its source; add data-source="…"']),
    ];
  });
}

/** A note at a point names a series of its chart, and its figures come from the data. */
export function notes(talk) {
  const { shipped } = talk;
  const sizes = ioSizes(shipped.manifest);
  return problemsWith(talk.slides, "data-chart-notes", (attributes, element) => {
    const { notes: parsed, problems } = parseNotes(attributes["data-chart-notes"]);
    const known = seriesOf(attributes, talk);
    const unknown = isDenied(element, shipped.claims) ? () => null : (value) => whyUnknown(value, shipped);
    return [
      ...problems,
      ...(parsed.length + problems.length === 0 ? ["there is no note"] : []),
      ...parsed.flatMap(({ series: name, text, values }) => [
        ...(known && !known.includes(name)
          ? [`the chart has no series "${name}"; it has ${known.join(", ")}`]
          : []),
        ...values.filter(unknown).map((value) => `value "${value}": ${unknown(value)}`),
        ...numeralsIn(text.replace(/\{[^{}]*\}/g, ""), sizes).map(
          ({ numeral }) =>
            `the numeral "${numeral}" comes from no data; write {VALUE}, or {${HERE}} for the point's own`,
        ),
      ]),
    ].map((message) => `data-chart-notes: ${message}`);
  });
}

/** Runs are drawn as lines only where derive has them as lines. */
export function lines({ slides, shipped: { manifest } }) {
  return problemsWith(slides, "data-chart-lines", ({ "data-chart-src": src = "" }) => {
    const entry = manifest && chartEntry(src, manifest);
    return !entry || entry.runs === "lines"
      ? []
      : ["data-chart-lines: this chart's runs are no lines; only charts over time have such runs"];
  });
}
