/**
 * Numerals in what is read or said: each comes from the data (`<data>`) or from a source that is named
 * (`data-source`). Everything else is a problem: deny by default.
 */

import { elementsWith, placeOf } from "../text/segments.js";
import { lineIn } from "./chapters.js";

/** Sources beside those of claims.json: what can be counted on this slide, and what is true by definition. */
export const OWN_SOURCES = ["slide", "definition"];

const BYTES = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };
// "4K", "4 KiB"; a rate ("4 MiB/s") is none, nor is the end of another number.
const IO_SIZE =
  /(?<![\p{L}\p{N}]|\p{N}[.,])(\d+)[ \u00a0\u202f-]?(?:([KMG])(?:iB)?|B)(?![\p{L}\p{N}]|[ \u00a0\u202f]?\/|\s+(?:per|a)\s+second)/gu;
const ADDRESS = /\b(?:https?:\/\/|www\.|mailto:)\S+|\S+@\S+\.\p{L}+/gu;
const WITH_DIGITS = /[^\s/()…–—"“”‘’;:]*\p{N}[^\s/()…–—"“”‘’;:]*/gu;
const WORDS = [
  "three four five six seven eight nine ten eleven twelve",
  "thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
  "twenty thirty forty fifty sixty seventy eighty ninety",
  "hundreds? thousands? millions? billions? dozens?",
  "half halves halved halving quarters? quartered doubles? doubled doubling triples? tripled tripling",
  "twice thrice (?:two|three|four|five|ten|hundred|thousand)fold",
  "thirds fourths? fifths? sixths? sevenths? eighths? ninths? tenths? hundredths? thousandths?",
]
  .join(" ")
  .split(" ");
// With what is joined to it by a hyphen: "twenty-one", "nine-tenths".
const WORD = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:\p{L}+-)*(?:${WORDS.join("|")})(?:-\p{L}+)*(?![\p{L}\p{N}])`,
  "giu",
);

/** Every numeral comes from the data or from a source that is named. */
export function numerals({ slides, shipped }) {
  const sizes = ioSizes(shipped.manifest);
  return slides.flatMap((slide) =>
    slide.segments
      .filter(({ bound, source, code }) => bound === null && source === null && !code)
      .flatMap(({ text, at }) =>
        numeralsIn(text, sizes).map(({ numeral, index }) => ({
          file: slide.file,
          line: lineIn(slide, at + index),
          message: `the numeral "${numeral}" comes from no data; bind it with <data value="…">, or name its source with data-source="…"`,
        })),
      ),
  );
}

/** A source that is named is one of claims.json, or `slide`, or `definition`. */
export function sourceIds({ slides, shipped }) {
  // Without them, that is one problem and not one of each slide.
  if (!shipped.claims?.sources) return [];
  const known = [...Object.keys(shipped.claims.sources), ...OWN_SOURCES];
  return slides.flatMap((slide) =>
    [...elementsWith(slide, "data-source")]
      .filter(({ attributes }) => !known.includes(attributes["data-source"]))
      .map((element) => ({
        file: slide.file,
        line: lineIn(slide, placeOf(slide, element, "data-source")),
        message: `data-source: no source "${element.attributes["data-source"]}"; there are ${known.join(", ")}`,
      })),
  );
}

/**
 * The numerals of a text, in its order.
 * @param {string} text
 * @param {Set<number>} [sizes]   I/O sizes in bytes that may be named
 * @returns {{numeral: string, index: number}[]}
 */
export function numeralsIn(text, sizes = new Set()) {
  const blank = (found) => " ".repeat(found.length);
  const rest = text
    .replace(ADDRESS, blank)
    .replace(IO_SIZE, (found, count, unit = "") =>
      sizes.has(Number(count) * BYTES[unit.toLowerCase()]) ? blank(found) : found,
    );
  return [...rest.matchAll(WITH_DIGITS), ...rest.matchAll(WORD)]
    .map(({ 0: numeral, index }) => ({ numeral: numeral.replace(/[.,!?]+$/, ""), index }))
    .sort((a, b) => a.index - b.index);
}

/** The I/O sizes that the experiments of a manifest have as levels, in bytes. */
export function ioSizes(manifest) {
  return new Set(
    Object.values(manifest?.experiments ?? {}).flatMap(({ factors }) => factors?.io_size_bytes ?? []),
  );
}
