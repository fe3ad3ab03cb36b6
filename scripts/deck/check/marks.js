/**
 * Figures of titles, notes and labels against the picture that they stand beside. Whoever hears a figure looks for it: a mark of
 * the slide shows it, or two marks have this quotient; a note may also name the slide that shows it. A mean over what the picture
 * shows apart is on no mark.
 */

import { HERE, parseNotes } from "../../../deck/chart-tools/marks.js";
import { answerNumber } from "../../../deck/data/answer.js";
import { isCount } from "../../../deck/data/claims.js";
import { follow } from "../../../deck/data/follow.js";
import { chartEntry } from "../../../deck/data/provenance.js";
import { seriesNames } from "chartjs-plugin-csv";

import { boundElements, elementsWith } from "../text/segments.js";
import { chartsOf, isDenied } from "./charts-of.js";
import { problemIn } from "./chapters.js";
import { marksOf, unitOf } from "./drawn.js";
import { bytesIn } from "./numerals.js";

/** How far the quotient of two medians may be from the mean of the quotients of their pairs, which a claim is. */
const PAIRED = 0.15;

/** @typedef {{value: string, number: number, unit: string}} Figure   number: in base units */

/** A title or a note says what a mark of its slide shows, and a title no mean over what the marks show apart. */
export function saidFigures({ slides, shipped, drawn, book }) {
  const pictures = new Map(slides.map((slide) => [slide.id, pictureOf(slide, { shipped, drawn })]));
  return slides.flatMap((slide) => {
    const picture = pictures.get(slide.id);
    if (picture.marks.length === 0) return [];
    return picture.said.flatMap(({ element, place, figure }) => {
      const why =
        place === "title"
          ? (whyPooled(figure, picture, { shipped, book }) ?? whyNotShown(figure, picture))
          : whyNotNamed({ slide, element, figure }, pictures);
      return why ? [problemIn(slide, why, element.start)] : [];
    });
  });
}

/** What a slide shows with the verdicts of its data, and the figures that are said with them. */
function pictureOf(slide, { shipped, drawn }) {
  const charts = chartsOf(slide).filter(({ element }) => !isDenied(element, shipped.claims));
  const figures = [...boundElements(slide)]
    .filter((element) => !isDenied(element, shipped.claims))
    .map((element) => ({
      element,
      place: placeOf(slide, element),
      figure: figureOf(element.attributes.value, shipped),
    }))
    .filter(({ figure }) => figure !== null);
  return {
    charts,
    marks: marksOf(slide, charts, { shipped, drawn }),
    said: figures.filter(({ place }) => place !== "text"),
    written: new Set(figures.filter(({ place }) => place !== "note").map(({ figure }) => figure.value)),
  };
}

function placeOf({ note }, element) {
  for (let around = element; around; around = around.parent) {
    if (/^h[1-3]$/.test(around.name)) return "title";
    if (around === note) return "note";
  }
  return "text";
}

function whyPooled({ value }, { charts }, { shipped, book }) {
  const pooled = pooledFactors(value, book).find((factor) => showsApart(factor, charts, shipped.manifest));
  return pooled
    ? `the title's ${value} is a mean over ${pooled}, and the charts show each apart; say the figure of one of them`
    : null;
}

function whyNotShown(figure, picture) {
  if (isShown(figure, picture)) return null;
  return `no mark of the slide shows the title's ${figure.value}, ${shown(figure)}; say a figure that a chart shows, or show this one`;
}

/** A note may say what is written on its slide, or name the slide that shows it. */
function whyNotNamed({ slide, element, figure }, pictures) {
  const picture = pictures.get(slide.id);
  if (picture.written.has(figure.value) || isShown(figure, picture)) return null;
  const named = slidesNamedBeside(slide, element).map((id) => pictures.get(id));
  // A slide of another data set is not among these.
  if (named.some((other) => !other || other.written.has(figure.value) || isShown(figure, other))) return null;
  return `no mark of the slide shows the note's ${figure.value}, ${shown(figure)}; name the slide that does, as in [words](#/trials)`;
}

/** The slides to which the paragraph around an element has a link. */
function slidesNamedBeside({ text }, { start }) {
  const from = text.lastIndexOf("\n\n", start) + 1;
  const end = text.indexOf("\n\n", start);
  const paragraph = text.slice(from, end < 0 ? text.length : end);
  return [...paragraph.matchAll(/(?:href="|\]\()#\/([\w-]+)/g)].map(([, id]) => id);
}

/** Whether a mark shows a figure, or two of them have it as their quotient. */
function isShown(figure, { marks }) {
  // Nobody recorded what this chart draws.
  if (marks.some(({ unit }) => unit === null)) return true;
  const alike = marks.filter(({ unit }) => unit === figure.unit);
  if (alike.some(({ y }) => isSaidOf(figure, y))) return true;
  // Over a picture in other units nobody looks for it.
  if (figure.unit !== "ratio") return alike.length === 0;
  return alike.some(({ y }) => isSaidOf(figure, 1 / y)) || isQuotient(figure, marks);
}

/** Two significant digits are said: whether a mark, said so, is the same figure, or differs by less than they tell. */
function isSaidOf({ number }, y) {
  if (shown({ number: y }) === shown({ number })) return true;
  return Math.abs(y - number) <= 0.5 * 10 ** (Math.floor(Math.log10(Math.abs(number))) - 1);
}

/** Whether two marks of one unit, at one place or of one series, have this quotient, about. */
function isQuotient({ number }, marks) {
  const have = (mark, other) =>
    mark.unit === other.unit &&
    (mark.x === other.x || mark.series === other.series) &&
    Math.abs(mark.y / other.y / number - 1) <= PAIRED;
  return marks.some((mark) => marks.some((other) => mark !== other && have(mark, other)));
}

function shown({ number }) {
  return Number(number.toPrecision(2));
}

/** A measured figure by its name; null for what was set, counted, or is missing. */
function figureOf(value, { manifest, claims, answer }) {
  const [first, ...path] = value.trim().split(".");
  const figure = (number, unit) => (Number.isFinite(number) && number !== 0 ? { value, number, unit } : null);
  if (first === "answer") {
    const [mode, column = ""] = path;
    const row = answer?.modes.find(({ name }) => name === mode);
    return column.endsWith("_seconds") ? figure(answerNumber(row, column), "seconds") : null;
  }
  if (first === "manifest")
    return /\.charts\..*seconds$/.test(value) ? figure(follow(manifest, path), "seconds") : null;
  const condition = follow(claims, ["claims", first, "conditions", path[0]]);
  if (!condition || isCount(condition)) return null;
  const { estimate, low, high } = condition;
  const inverse = 1 / estimate;
  const parts = { estimate, low, high, inverse, percent: estimate, "inverse-percent": inverse };
  return figure(parts[path[1] ?? "estimate"], "ratio");
}

/** The factors over whose levels a claim's figure is a mean. */
function pooledFactors(value, book) {
  const [id, name = ""] = value.trim().split(".");
  const conditions = book.find((claim) => claim.id === id)?.conditions ?? [];
  const condition = conditions.find((candidate) =>
    candidate.each ? name.startsWith(`${candidate.name}-`) : candidate.name === name,
  );
  return Object.entries(condition?.over ?? {})
    .filter(([factor, levels]) => Array.isArray(levels) && levels.length > 1 && factor !== condition.each)
    .map(([factor]) => factor);
}

/** Whether the charts of a slide show the levels of a factor apart: along an axis, or each chart another one. */
function showsApart(factor, charts, manifest) {
  const entries = charts.map(({ src }) => chartEntry(src, manifest)).filter(Boolean);
  const along = charts.some(
    ({ src, element }) =>
      chartEntry(src, manifest)?.x?.factor === factor &&
      (seriesNames(element.attributes["data-chart-at"])?.length ?? 2) > 1,
  );
  return along || new Set(entries.map(({ workload }) => workload?.[factor])).size > 1;
}

/** A note at a point says the figure of that point, and its size. */
export function pointNotes({ slides, shipped, drawn }) {
  return slides.flatMap((slide) =>
    [...elementsWith(slide, "data-chart-notes")].flatMap(({ attributes, start }) =>
      parseNotes(attributes["data-chart-notes"])
        .notes.flatMap((note) => whyNotAtPoint(note, attributes["data-chart-src"], { shipped, drawn }))
        .map((message) => problemIn(slide, `data-chart-notes: ${message}`, start)),
    ),
  );
}

function whyNotAtPoint({ series, at, text, values }, src, { shipped, drawn }) {
  const sizes = bytesIn(text.replace(/\{[^}]*\}/g, ""));
  const inBytes = chartEntry(src, shipped.manifest)?.x?.unit === "bytes";
  const misplaced = inBytes && sizes.length > 0 && !sizes.includes(Number(at));
  const unit = unitOf(src, shipped.manifest);
  const marks = (drawn.get(src)?.series ?? []).flatMap(({ name, points }) =>
    points
      .filter(({ x, y }) => String(x) === at && y !== null)
      .map(({ y }) => ({ y, unit, x: at, series: name })),
  );
  const point = marks.find((mark) => mark.series === series);
  const shows = (figure) =>
    unit === figure.unit ? isSaidOf(figure, point.y) : isQuotient(figure, [point, ...marks]);
  return [
    ...(misplaced ? [`“${text}” stands at the point of ${at} bytes`] : []),
    ...values
      .map((value) => figureOf(value, shipped))
      .filter((figure) => figure && point && unit !== null && !shows(figure))
      .map(
        (figure) =>
          `${figure.value} is ${shown(figure)}, and not what “${series}” shows at ${at}; write {${HERE}} or a figure of this point`,
      ),
  ];
}
