/** One chart of a slide on a page of its own, which other pages may frame. All data that it needs are in the page, packed. */

import "../../css/front-page.css";

import { PAGE_CHARTS, chartHost } from "./chart-host.js";
import { placeOf } from "../chart-tools/charted.js";
import { citationOf } from "../chart-tools/citation.js";
import { element } from "../page/elements.js";
import { applyTheme, onThemeChange } from "../page/theme.js";
import { Material } from "../stage/material.js";

/**
 * @param {string} packed   of `{section, files}` as JSON, gzip, then base64. section: the slide's HTML without all but the chart
 *   and what names it; files: the text of each file that is read, by its address
 * @param {{talk: object, usual: string, theme: string|null}} page   usual: the talk's data set
 */
export async function showEmbedded(packed, { talk, usual, theme }) {
  applyTheme({ theme });
  const { section, files } = await unpacked(packed);
  const fetchFile = (address) => {
    const { href } = new URL(address, document.baseURI);
    const path = decodeURIComponent(href.slice(new URL(".", document.baseURI).href.length));
    const isEmbedded = Object.hasOwn(files, path);
    return Promise.resolve(isEmbedded ? new Response(files[path]) : new Response("", { status: 404 }));
  };
  const material = Material({ search: "", usual, frozen: null, mode: { compare: null }, talk, fetchFile });
  const { data } = material;
  const page = document.createElement("main");
  page.className = "front-page embedded";
  page.innerHTML = section;
  document.querySelector(".reveal").replaceWith(page);
  await data.load();
  await material.writeTexts(page);
  writeCitation(page, { talk, data });
  const charts = await material.makeCharts(PAGE_CHARTS);
  const host = chartHost(page);
  charts.init(host);
  host.tell("ready");
  addEventListener("resize", () => host.tell("resize"));
  onThemeChange(() => charts.restyle());
  window.replay = { charts, data };
  document.documentElement.dataset.embeddedReady = "true";
}

function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** Below the chart, the line to cite it, with the address of the same chart in the talk. */
function writeCitation(page, { talk, data }) {
  const canvas = page.querySelector("canvas[data-chart]");
  const from = page.querySelector(".embedded-from");
  const link = from.querySelector("a").href;
  const line = citationOf(canvas, placeOf(canvas.dataset.chartSrc, data), { talk, data, link });
  const make = (...given) => element(document, ...given);
  from.after(make("details", { class: "to-cite" }, make("summary", {}, "To cite it"), make("p", {}, line)));
}
