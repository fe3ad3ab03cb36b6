/** Pins a talk to one data set: fills in its values, and removes the texts that its verdicts do not choose. Pure. */

import { partsOf, withDataSet } from "../../../deck/data/data-set.js";
import { CHART_FILES } from "../../../deck/data/own-file.js";
import { parseWhen } from "../../../deck/text/verdict-text.js";
import { applyEdits, escapeText } from "./escape.js";
import { boundElements, elementsWith } from "./segments.js";
import { textOf } from "./tree.js";

/**
 * A chapter's text, pinned.
 * @param {string} text   with LF line ends
 * @param {import("./segments.js").ReadSlide[]} slides   of that chapter
 * @param {(slide: import("./segments.js").ReadSlide) => import("./slide-words.js").Telling} telling
 */
export function pinChapter(text, slides, telling) {
  return applyEdits(
    text,
    slides.map((slide) => ({
      from: slide.start,
      to: slide.start + slide.text.length,
      text: pinSlide(slide, telling(slide)),
    })),
  );
}

function pinSlide(slide, { data: { name }, words }) {
  const pinned = applyEdits(slide.text, [
    ...otherName(slide, name),
    ...[...boundElements(slide)].map((element) => ({
      from: element.innerStart,
      to: element.innerEnd,
      text: escapeText(words.text(element.attributes.value, textOf(element))),
    })),
    ...[...elementsWith(slide, "data-when")]
      .filter((element) => !chosen(element, words))
      // A comment that was left would decorate what is before it.
      .flatMap((element) => [element, ...element.decorations])
      .map(({ start, end }) => ({ from: start, to: end, text: "" })),
    ...chartEdits(slide, name),
  ]);
  // Blank lines separate slides: removing a text must not leave two of them, nor remove those at the end.
  const ending = /\s*$/.exec(slide.text)[0];
  return pinned.replace(/\n(?:[ \t]*\n){2,}/g, "\n\n").trim() + ending;
}

/**
 * The edits of a slide's text by which its charts are of a data set. A slide that compares several keeps theirs: it says in
 * words which is which.
 * @param {import("./segments.js").ReadSlide} slide
 * @param {string} name
 */
export function chartEdits(slide, name) {
  if (slide.compares.length > 0) return [];
  return [...elementsWith(slide, "data-chart-src")].map((element) => ({
    from: element.start,
    to: element.innerStart,
    text: pinChart(slide.text.slice(element.start, element.innerStart), element.attributes, name),
  }));
}

/** A chart's further files are pinned as well, unless they are there to be compared with. */
function pinChart(tag, { "data-chart-src": own }, name) {
  const isOwn = (src) => partsOf(src)?.dataSet === partsOf(own)?.dataSet;
  const pinned = (src) => (isOwn(src) ? withDataSet(src, name) : src);
  return tag.replace(CHART_FILES, (_, before, written) => {
    const quote = written.startsWith("'") ? "'" : '"';
    return before + quote + namesIn(written).map(pinned).join(" | ") + quote;
  });
}

/** The names in an attribute as it is written. */
function namesIn(written) {
  return written
    .replace(/^["']|["']$/g, "")
    .split("|")
    .map((name) => name.trim());
}

/** The files that the charts of a text name. */
export function chartFilesIn(text) {
  return [...text.matchAll(CHART_FILES)].flatMap(([, , written]) => namesIn(written));
}

/** A slide no longer names a data set that it is not told with. */
function otherName({ text, dataSet }, name) {
  if (dataSet === null || dataSet === name) return [];
  const [comment] = /<!--\s*\.slide:[\s\S]*?-->/.exec(text) ?? [""];
  const [attribute = ""] = /\sdata-set="[^"]*"/.exec(comment) ?? [];
  const from = text.indexOf(comment) + comment.indexOf(attribute);
  return [{ from, to: from + attribute.length, text: "" }];
}

/** As in the deck, a text that names no claim or no verdict is never shown. */
function chosen({ attributes }, words) {
  const when = parseWhen(attributes["data-when"]);
  return when !== null && words.chooses([when]);
}
