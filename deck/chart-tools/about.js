/** What the panel says about each chart, gathered from the slide, the plugin and the manifest. */

import { runsUrl } from "chartjs-plugin-csv";

import { element } from "../page/elements.js";
import { colorOf } from "../page/theme.js";
import { chartLink, embedFile } from "./chart-address.js";
import { chartedAs, placeOf } from "./charted.js";
import { chartOrigin, chartTitle, citationOf } from "./citation.js";
import { attemptsBehind, commandsFor } from "./commands.js";
import { pictureOf } from "./picture.js";
import { headingOf, wholeFileName } from "../text/canvases.js";
import { slideTitle } from "../text/verdict-text.js";
import { sentenceOf } from "./sentence.js";

/** @returns {import("./panel.js").About[]} of each chart of a slide, in its order */
export function aboutCharts(slide, slots, data, here = location.href) {
  return slots.map((slot, position) => {
    const { canvas } = slot;
    const place = placeOf(slot.src, data, canvas);
    const title = chartTitle(canvas, place);
    const link = chartLink(here, slide.id, position + 1);
    return {
      title,
      sentence: slot.model ? sentenceOf(chartedAs(slot, data)) : (slot.error?.message ?? "Not drawn yet."),
      origin: chartOrigin(canvas, place, data),
      link,
      // The page in the site has the talk's own numbers.
      embed: data.shipped ? embedOf(slide, canvas, { title, here }) : null,
      citation: citationOf(canvas, place, { talk: talkOf(slide), data, link }),
      csv: fileOf(slot),
      runs: place.entry?.runs ? runsUrl(slot.url) : null,
      attempts: attemptsBehind(place),
      commands: commandsFor(place),
      picture: pictureFor(slide, slot),
    };
  });
}

/** A chart's file: its address and the name to save it under; null for data written on the slide. */
export function fileOf(slot) {
  return slot.url ? { url: slot.url, name: wholeFileName(slot.url) } : null;
}

/** Takes a picture of a chart; null if there is nothing to take. */
export function pictureFor(slide, slot) {
  if (!slot.chart || slot.error) return null;
  return () => {
    const heading = headingOf(slot.canvas);
    return pictureOf(slot.canvas, {
      title: [slideTitle(slide), heading].filter(Boolean).join(" – "),
      label: labelText(slide),
      colors: { page: colorOf("--page"), ink: colorOf("--ink"), muted: colorOf("--ink-muted") },
    });
  };
}

function talkOf({ ownerDocument }) {
  return JSON.parse(ownerDocument.getElementById("talk").textContent);
}

/** The element that frames a chart in another page; null of a deck that is not published. */
function embedOf(slide, canvas, { title, here }) {
  const page = slide.ownerDocument;
  if (!page.querySelector('meta[name="replay:published"]') || !canvas.dataset.chartSrc) return null;
  const number = [...slide.querySelectorAll("canvas[data-chart]")].indexOf(canvas) + 1;
  const src = new URL(embedFile(talkOf(slide).name, slide.id, number), here).href;
  return element(page, "iframe", { src, title, width: 800, height: 500, loading: "lazy" }).outerHTML;
}

/** The text of a slide's label, without the controls next to it. */
function labelText(slide) {
  const label = slide.querySelector(":scope > .provenance");
  return [...(label?.childNodes ?? [])]
    .filter((node) => !node.classList?.contains("chart-controls"))
    .map((node) => node.textContent)
    .join("")
    .trim();
}
