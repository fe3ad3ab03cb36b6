/** Words of a slide against what they stand beside: the column of a bound value, and what its charts draw. */

import { chartEntry } from "../../../deck/data/provenance.js";
import { chartsOf } from "./charts-of.js";
import { bytesIn } from "./numerals.js";
import { sentencesOf } from "./sentences.js";

const VALUE = /\{([^}]+)\}/g;
/** The size that a text gives to the value before it: "… at 4K". */
const AT_SIZE = /^(?:(?!\band\b)[^\d,;.:{]){0,20}?\b(?:at|of|for)\s+(\d+\s?[KMG](?:iB)?)\b/;
/** A size in the name of a value: `size-4096`, `latency_p50_4k_seconds`. */
const NAMED_SIZE = /(?<![a-z\d])(?:size-(\d+)|(\d+[kmg]))(?![a-z\d])/gi;
/** What a line of measure begins with, and the unit of a chart that it can only be of. */
const UNITS = [
  [/^seconds\b/i, "seconds"],
  [/^bytes (?:per|a) second\b/i, "bytes_per_second"],
  [/^operations (?:per|a) second\b/i, "operations_per_second"],
  // Axes are in seconds, and say milliseconds with the figure.
  [/^(?:minutes|hours|milliseconds|microseconds)\b/i, null],
];

/** Each rule takes a sentence and says what in it contradicts its values; null if nothing does. */
const OF_VALUES = [
  ({ words }, values) =>
    /\b(?:worst|at most)\b/i.test(words) && values.length > 0 && values.every((value) => /median/.test(value))
      ? `says "worst" of a median (${values[0]})`
      : null,
  ({ words }, values) =>
    /\b(?:median|typical(?:ly)?|on average)\b/i.test(words) &&
    values.length > 0 &&
    values.every((value) => /_worst|_p99/.test(value))
      ? `says "${/median|typical(?:ly)?|on average/i.exec(words)[0]}" of a worst case (${values[0]})`
      : null,
  ({ words }) => {
    for (const { 0: written, 1: value, index } of words.matchAll(VALUE)) {
      const size = AT_SIZE.exec(words.slice(index + written.length))?.[1];
      const named = [...value.matchAll(NAMED_SIZE)].map(
        ([, bytes, size]) => Number(bytes) || bytesIn(size.toUpperCase())[0],
      );
      if (size && named.length > 0 && !named.includes(bytesIn(size)[0])) return `says ${size} of ${value}`;
    }
    return null;
  },
];

/** A sentence says of a value what its column says. */
export function wordsOfValues({ slides }) {
  return slides.flatMap((slide) =>
    sentencesOf(slide).flatMap((sentence) => {
      // How many there were is neither a worst case nor a median.
      const values = sentence.values.filter((value) => !value.endsWith("_n"));
      return OF_VALUES.map((rule) => rule(sentence, values))
        .filter(Boolean)
        .map((message) => ({
          file: sentence.file,
          line: sentence.line,
          message: `“${sentence.words}” ${message}`,
        }));
    }),
  );
}

/** Titles and lines of measure say of the charts what their files say: the order of I/O, which way is better, the unit. */
export function wordsOfCharts({ slides, shipped: { manifest } }) {
  return slides.flatMap((slide) => {
    const charts = chartsOf(slide).filter(({ parts }) => parts !== null);
    if (charts.length === 0) return [];
    const entries =
      manifest === null ? [] : charts.map(({ src }) => chartEntry(src, manifest)).filter(Boolean);
    return sentencesOf(slide)
      .filter(({ place }) => place !== "note" && place !== "picture")
      .flatMap((sentence) =>
        whatChartsDeny(sentence.words, charts, entries).map((message) => ({
          file: sentence.file,
          line: sentence.line,
          message: `“${sentence.words}” ${message}`,
        })),
      );
  });
}

function whatChartsDeny(words, charts, entries) {
  const all = (pattern) => charts.every(({ parts }) => pattern.test(parts.chart));
  const problems = [];
  if (/\brandom\b/i.test(words) && !/\bsequential\b/i.test(words) && all(/-seq(?:read|write)?(?:-|$)/))
    problems.push('says "random", and each chart is of sequential I/O');
  if (/\bsequential\b/i.test(words) && !/\brandom\b/i.test(words) && all(/-rand(?:read|write)?(?:-|$)/))
    problems.push('says "sequential", and each chart is of random I/O');
  const better = entries.map(({ y }) => y?.better).filter(Boolean);
  const claimed = /\b(higher|lower) is better\b/i.exec(words)?.[1].toLowerCase();
  if (claimed && better.length > 0 && better.every((way) => way !== claimed))
    problems.push(`says "${claimed} is better", and of these charts ${better[0]} is`);
  const units = [...new Set(entries.map(({ y }) => y?.unit ?? null))];
  const [begins, unit] = UNITS.find(([pattern]) => pattern.test(words)) ?? [];
  if (begins && units.length > 0 && !units.includes(null) && !units.includes(unit))
    problems.push(
      `says "${begins.exec(words)[0].toLowerCase()}", and the charts draw ${units.join(" and ")}`,
    );
  return problems;
}
