/** The line with which a chart is cited: title, figure, where its data come from, with their version and date, and address. */

import { headingOf } from "../text/canvases.js";
import { originOf, sourcesOf } from "../text/labels.js";
import { namedDataSet } from "../text/slide-data.js";
import { slideTitle } from "../text/verdict-text.js";

/**
 * @param {Element} canvas   on its slide
 * @param {{url: string|null, entry: object|null}} place   from `placeOf`
 * @param {{talk: {title: string, version: string}, data: object, link: string}} about   talk: what the page says of it;
 *   data: on show; link: the chart's address
 */
export function citationOf(canvas, place, { talk, data, link }) {
  const slide = slideTitle(canvas.closest("section"));
  const chart = chartTitle(canvas, place);
  const figure = chart === slide ? `“${slide}”` : `“${slide}”, chart “${chart}”`;
  const parts = [talk.title, figure, chartOrigin(canvas, place, data), `Replay ${talk.version}`];
  return `${parts.map((part) => (/[.?!]$/.test(part) ? part : `${part}.`)).join(" ")} ${link}`;
}

/** Where the data of a chart come from, as the label of its slide says it. */
export function chartOrigin(canvas, { url }, data) {
  if (url === null) return "Written on the slide";
  const { claims, answer } = data.about(data.nameFor(namedDataSet(canvas)));
  return originOf(sourcesOf(canvas, url, data, claims), data, answer);
}

/** What a chart is called: by its heading, else by the manifest, else by its slide. */
export function chartTitle(canvas, { entry }) {
  return headingOf(canvas) ?? entry?.title ?? slideTitle(canvas.closest("section"));
}
