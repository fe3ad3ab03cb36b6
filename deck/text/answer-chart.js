/**
 * The answer chart, the decision table, and what is gone: `<div data-answer-chart="whole">`, `<div data-answer-table>`.
 * The chart is drawn at the size of its box, so that its type keeps its size wherever it stands, and drawn again when the box
 * or the data change. Text alternative: the picture's label says what it shows, mode by mode.
 */

import { adviceOf } from "../data/advice.js";
import { EVERYTHING, decisionTable, figureText, waysOf } from "../data/answer.js";
import { element, makeScrollable } from "../page/elements.js";
import { renewChildren } from "../page/in-place.js";
import { STAGES, STAGE_TYPE, answerLayout, goneLayout } from "./answer-layout.js";
import { describeCells } from "./stacked-tables.js";

const SVG = "http://www.w3.org/2000/svg";
export const GONE = "gone";
const LOSS_TITLE = "Seconds of acknowledged writes lost with the first site, worst trial";

/** What each place shows: redrawn when its box changes. */
const shown = new WeakMap();
let observer = null;

/**
 * Writes or updates every answer chart and decision table below `root`.
 * @param {Element} root
 * @param {{answer: object|null, dataSet: string, manifest: object|null}} data   answer: from `parseAnswer`
 */
export function writeAnswers(root, { answer, dataSet, manifest }) {
  const ways = waysOf(answer);
  for (const place of root.querySelectorAll("[data-answer-chart]")) {
    shown.set(place, { ways, origin: originOf({ ways, answer, dataSet, manifest }) });
    observe(place);
    draw(place);
  }
  for (const place of root.querySelectorAll("[data-answer-table]")) {
    renewChildren(place, [tableOf(answer, place.ownerDocument)]);
    makeScrollable(place, "What each way loses, and what its writes pay");
  }
}

/** A box has no size while its slide is hidden; the observer draws it when it gets one. */
function observe(place) {
  const { ResizeObserver } = place.ownerDocument.defaultView ?? {};
  if (!ResizeObserver) return;
  observer ??= new ResizeObserver((entries) => entries.forEach(({ target }) => draw(target.parentElement)));
  const picture = pictureOf(place);
  observer.observe(picture);
}

function pictureOf(place) {
  const present = place.querySelector(":scope > .answer-picture");
  if (present) return present;
  const page = place.ownerDocument;
  const picture = element(page, "div", { class: "answer-picture" });
  place.replaceChildren(picture, element(page, "p", { class: "provenance" }));
  return picture;
}

function draw(place) {
  const given = place && shown.get(place);
  if (!given) return;
  const picture = pictureOf(place);
  const box = { width: picture.clientWidth, height: picture.clientHeight };
  const { answerChart: asked } = place.dataset;
  const stage = STAGES.includes(asked) || asked === GONE ? asked : "whole";
  const type = parseFloat(getComputedStyle(picture).fontSize) || STAGE_TYPE;
  const layout =
    stage === GONE
      ? goneLayout(given.ways, { ...box, type })
      : answerLayout(given.ways, { stage, ...box, type });
  const origin = place.querySelector(":scope > .provenance");
  origin.hidden = stage === "empty";
  const { unplaced } = layout;
  origin.textContent = [given.origin, unplaced.length > 0 && `not measured here: ${unplaced.join("; ")}`]
    .filter(Boolean)
    .join(" · ");
  const label = describe(given.ways, stage);
  if (box.width < 1 || box.height < 1) {
    // Not laid out yet; what it says is there for those who do not look.
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", label);
    return;
  }
  picture.removeAttribute("role");
  picture.removeAttribute("aria-label");
  const pen = penOn(place.ownerDocument, { ...box, label });
  if (stage === GONE) drawGone(pen, layout, box);
  else drawAnswer(pen, layout, { stage, ...box });
  renewChildren(picture, [pen.svg]);
}

/** A new picture and the means to draw on it. */
function penOn(page, { width, height, label }) {
  const make = (name, attributes, text = null) => {
    const made = page.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== null) made.textContent = text;
    return made;
  };
  const svg = make("svg", {
    ...{ width, height, viewBox: `0 0 ${width} ${height}` },
    ...{ role: "img", "aria-label": label },
  });
  return { svg, add: (...given) => svg.append(make(...given)) };
}

function drawAnswer({ add }, { scale, titles, plot, xTicks, yTicks, points, lines }, { stage, height }) {
  const { left, right, top, bottom, beyond } = plot;
  add("rect", { class: "beyond", x: beyond, y: top, width: right - beyond, height: bottom - top });
  add("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` });
  const middle = { y: bottom + 30 * scale, "text-anchor": "middle" };
  for (const { at, text } of xTicks) {
    add("path", { class: "tick", d: `M${at} ${bottom}v${8 * scale}` });
    add("text", { class: "tick-text", x: at, ...middle }, text);
  }
  add("text", { class: "tick-text", x: (beyond + right) / 2, ...middle }, EVERYTHING);
  for (const { at, text, value } of yTicks) {
    if (value > 0) add("path", { class: "grid", d: `M${left} ${at}H${right}` });
    const place = { x: left - 12 * scale, y: at + 7 * scale, "text-anchor": "end" };
    add("text", { class: "tick-text", ...place }, text);
  }
  add("text", { class: "axis-title", x: right, y: height - 12 * scale, "text-anchor": "end" }, titles.loss);
  titles.price.forEach((text, index) =>
    add("text", { class: "axis-title", x: left - 8 * scale, y: (22 + 25 * index) * scale }, text),
  );
  if (stage === "empty") drawEmpty({ add }, plot, scale);
  for (const { y, kind, text, labelAt, labelY } of lines) {
    add("path", { class: `line ${kind}`, d: `M${left} ${y}H${beyond}` });
    add("text", { class: `name ${kind}`, x: labelAt, y: labelY, "text-anchor": "end" }, text);
  }
  for (const point of points) drawPoint({ add }, point, scale);
}

/** The question: where everybody wants to be, and where nobody is by accident. */
function drawEmpty({ add }, { left, right, top, bottom, beyond }, scale) {
  const edge = 24 * scale;
  add("text", { class: "hint", x: left + edge, y: bottom - edge }, "safe and cheap");
  add("text", { class: "hint", x: left + edge, y: top + 36 * scale }, "safe and dear");
  add(
    "text",
    { class: "hint", x: (beyond + right) / 2, y: bottom - edge, "text-anchor": "middle" },
    "no mirroring",
  );
  const names = ["a journal?", "a snapshot a minute?", "a snapshot a second?"];
  names.forEach((name, index) => {
    const x = left + ((beyond - left) * (index + 1)) / (names.length + 1);
    const y = top + (bottom - top) * [0.62, 0.3, 0.46][index];
    add("text", { class: "question", x, y, "text-anchor": "middle" }, name);
  });
}

function drawPoint(
  { add },
  { at, medianAt, y, lowY, highY, kind, text, labelAt, labelY, anchor, price, label },
  scale,
) {
  if (medianAt !== null) add("path", { class: `range ${kind}`, d: `M${medianAt} ${y}H${at}` });
  if (lowY !== null && highY !== null)
    add("path", { class: `interval ${kind}`, d: `M${at} ${lowY}V${highY}` });
  add("circle", {
    class: `point ${kind}`,
    ...{ cx: at, cy: y, r: 10 * scale, "data-mode": label, "data-price": price },
  });
  text.forEach((line, index) =>
    add(
      "text",
      {
        class: index === 0 ? `name ${kind}` : "tick-text",
        ...{ x: labelAt, y: labelY + index * 25 * scale, "text-anchor": anchor },
      },
      line,
    ),
  );
}

function drawGone({ add }, { scale, above, rows, seconds, left, right, size }, { height }) {
  const first = 18 * scale;
  add("text", { class: "tick-text", x: left, y: first }, `${figureText(seconds, "seconds")} before`);
  add("text", { class: "tick-text", x: right, y: first, "text-anchor": "end" }, "the site is lost");
  add("path", { class: "axis", d: `M${right + 4} ${26 * scale}V${height - 24 * scale}` });
  for (const { label, kind, y, text, marks } of rows) {
    const name = above
      ? { x: 0, y: y - size / 2 - 8 * scale }
      : { x: left - 18 * scale, y: y + 7 * scale, "text-anchor": "end" };
    add("text", { class: `name ${kind}`, ...name }, label);
    for (const { at, gone } of marks) {
      const half = size / 2;
      if (gone) {
        const [a, b, c, d] = [at - half, at + half, y - half, y + half];
        add("path", { class: "gone", d: `M${a} ${c}L${b} ${d}M${b} ${c}L${a} ${d}` });
      } else {
        add("rect", { class: `kept ${kind}`, x: at - half, y: y - half, width: size, height: size, rx: 3 });
      }
    }
    add("text", { class: "gone-text", x: right + 18 * scale, y: y + 10 * scale }, text);
  }
}

/** The picture in words. */
function describe({ price, modes }, stage) {
  if (stage === "empty")
    return "An empty chart. To the right: seconds of writes that are lost in the worst case. Upwards: what each write pays.";
  const words = modes.map(({ label, worst, median, price: paid }) => {
    const parts = [];
    if (stage !== "price") {
      if (worst === EVERYTHING) parts.push("everything since the last backup is lost");
      else if (worst === null) parts.push("its loss was not measured");
      else {
        const middle = median === null ? "" : ` (median ${figureText(median, "seconds", 3)})`;
        parts.push(`${figureText(worst, "seconds", 3)} lost at worst${middle}`);
      }
    }
    if (stage !== GONE)
      parts.push(paid === null ? "its price was not measured" : `${figureText(paid, price.unit, 3)} to pay`);
    return `${label}: ${parts.join(", ")}`;
  });
  const title = stage === GONE || !price ? LOSS_TITLE : `${LOSS_TITLE}, against: ${price.title}`;
  return `${title}. ${words.join("; ")}.`;
}

/** Where the figures come from: data set, experiments, n. */
function originOf({ ways: { price, loss }, answer, dataSet, manifest }) {
  const set = manifest?.label ? `${dataSet}: ${manifest.label}` : dataSet;
  const name = manifest?.altered ? `ALTERED DATA · ${set}` : set;
  if (answer === null) return `${name} · this data set has no answer.csv; derive it again`;
  const part = (what, { source, n }) => `${what}: ${source}, n = ${n}`;
  return [
    name,
    loss?.source ? part("lost", loss) : "loss not measured",
    price?.source ? part("price", price) : "price not measured",
  ].join(" · ");
}

function tableOf(answer, page) {
  if (answer === null) return element(page, "p", {}, "This data set has no answer.csv. Derive it again.");
  const { ways, rows: figures } = decisionTable(answer);
  const columns = [...figures, { title: "Pick it for", cells: adviceOf(answer) }];
  const headings = ["Way", ...columns.map(({ title }) => title)];
  const lines = ways.map((way, position) =>
    element(
      page,
      "tr",
      {},
      element(page, "th", { scope: "row" }, way),
      ...columns.map(({ cells }) => element(page, "td", {}, cells[position])),
    ),
  );
  const head = headings.map((title) => element(page, "th", { scope: "col" }, title));
  return describeCells(
    element(
      page,
      "table",
      { class: "decision-figures" },
      element(page, "thead", {}, element(page, "tr", {}, ...head)),
      element(page, "tbody", {}, ...lines),
    ),
  );
}
