/**
 * Numerals in what is read or said: each comes from the data (`<data>`) or from a source that is named
 * (`data-source`). Everything else is a problem: deny by default.
 */

import { problemsWith } from "../text/segments.js";
import { problemIn } from "./chapters.js";

/** Sources beside those of claims.json: what can be counted on this slide, and what is true by definition. */
export const OWN_SOURCES = ["slide", "definition"];

const BYTES = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };
// "4K", "4 KiB"; a rate ("4 MiB/s") is none, nor is a count ("64K IOPS") or the end of another number.
const IO_SIZE =
  /(?<![\p{L}\p{N}]|\p{N}[.,])(\d+)[ \u00a0\u202f-]?(?:([KMG])(?:iB)?|B)(?![\p{L}\p{N}]|[ \u00a0\u202f]?\/|\s+(?:(?:per|a)\s+second|operations|ops|IOPS|times)(?![\p{L}]))/gu;
const ADDRESS = /\b(?:https?:\/\/|www\.|mailto:)\S+|\S+@\S+\.\p{L}+/gu;
const WITH_DIGITS = /[^\s/()…–—"“”‘’;:]*\p{N}[^\s/()…–—"“”‘’;:]*/gu;
const WORDS = [
  "three four five six seven eight nine ten eleven twelve",
  "thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
  "twenty thirty forty fifty sixty seventy eighty ninety",
  "hundreds? thousands? millions? billions? dozens?",
  "half halves halved halving quarters? quartered doubles? doubled doubling triples? tripled tripling",
  "quadruples? quadrupled quadrupling quintuples? quintupled quintupling sextuples? sextupled",
  "twice thrice",
  "thirds fourths? fifths? sixths? sevenths? eighths? ninths? tenths? elevenths? twelfths?",
  "(?:thir|four|fif|six|seven|eigh|nine)teenths? \\p{L}+tieths? hundredths? thousandths?",
]
  .join(" ")
  .split(" ");
// With what is joined to it by a hyphen: "twenty-one", "nine-tenths".
// "sevenfold"; not "threshold", "scaffold".
const FOLD = String.raw`(?:two|three|four|five|six|seven|eight|nine|ten|twelve|\p{L}+teen|\p{L}+ty|hundred|thousand|several|many)-?fold`;
// Words that are ordinary alone, and a figure together.
const PHRASE =
  /(?<![\p{L}\p{N}])(?:(?:an?|one) third(?=\s+(?:of|as|more|less|fewer|the)(?!\p{L}))|(?:an?|one|two|some|several|a few|no) (?:percent|per cent|times(?=\s+(?:as|more|the|slower|faster|higher|lower|less))|percentage points?)|orders? of magnitude)(?!\p{L})/giu;
const WORD = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:\p{L}+-)*(?:${[...WORDS, FOLD].join("|")})(?:-\p{L}+)*(?![\p{L}\p{N}])`,
  "giu",
);

/** Every numeral comes from the data or from a source that is named. */
export function numerals({ slides, shipped }) {
  const sizes = ioSizes(shipped.manifest);
  return slides.flatMap((slide) =>
    slide.segments
      .filter(({ bound, source }) => bound === null && source === null)
      .flatMap(({ text, at, code }) =>
        (code ? shares(text) : numeralsIn(text, sizes)).map(({ numeral, index }) =>
          problemIn(
            slide,
            `the numeral "${numeral}" comes from no data; bind it with <data value="…">, or name its source with data-source="…"`,
            at + index,
          ),
        ),
      ),
  );
}

/** A source that is named is one of claims.json, a file of the talk's own, or `slide`, or `definition`. */
export function sourceIds({ slides, shipped, own }) {
  // Without them, that is one problem and not one of each slide.
  if (!shipped.claims?.sources) return [];
  const known = [...Object.keys(shipped.claims.sources), ...own.keys(), ...OWN_SOURCES];
  return problemsWith(slides, "data-source", ({ "data-source": source }) =>
    known.includes(source) ? [] : [`data-source: no source "${source}"; there are ${known.join(", ")}`],
  );
}

/**
 * The numerals of a text, in its order.
 * @param {string} text
 * @param {Set<number>} [sizes]   I/O sizes in bytes that may be named
 * @returns {{numeral: string, index: number}[]}
 */
export function numeralsIn(text, sizes = new Set()) {
  const blank = (match) => " ".repeat(match.length);
  const rest = text
    .replace(ADDRESS, blank)
    .replace(IO_SIZE, (match, count, unit = "") =>
      sizes.has(Number(count) * BYTES[unit.toLowerCase()]) ? blank(match) : match,
    );
  return [...rest.matchAll(WITH_DIGITS), ...rest.matchAll(WORD), ...rest.matchAll(PHRASE)]
    .map(({ 0: numeral, index }) => ({ numeral: numeral.replace(/[.,!?]+$/, ""), index }))
    .sort((a, b) => a.index - b.index);
}

/** The I/O sizes that a text says, in bytes: "4K", "4 MiB". */
export function bytesIn(text) {
  return [...text.matchAll(IO_SIZE)].map(([, count, unit = ""]) => Number(count) * BYTES[unit.toLowerCase()]);
}

/** Whether a text holds a numeral. */
export function isNumeric(text) {
  return numeralsIn(text).length > 0;
}

/** What no command or file name holds, and so is a figure even in code: a percentage, a multiple. */
function shares(text) {
  return [...text.matchAll(/\p{N}+(?:[.,]\p{N}+)?[\s\u00a0\u202f]*[%％×]/gu)].map(
    ({ 0: numeral, index }) => ({
      numeral,
      index,
    }),
  );
}

/** The sizes that the experiments of a manifest have as levels, in bytes: those of I/O, of objects, or of anything else. */
export function ioSizes(manifest) {
  const factors = Object.values(manifest?.experiments ?? {}).flatMap((experiment) =>
    Object.entries(experiment.factors ?? {}),
  );
  return new Set(factors.flatMap(([name, levels]) => (name.endsWith("_size_bytes") ? levels : [])));
}
