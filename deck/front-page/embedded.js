/** One chart of a slide on a page of its own, which other pages may frame. All data that it needs are in the page. */

import "../../css/front-page.css";

import { PAGE_CHARTS, chartHost } from "./chart-host.js";
import { applyTheme, onThemeChange } from "../page/theme.js";
import { Material } from "../stage/material.js";

/**
 * @param {{section: string, files: Record<string, string>}} embedded   section: the slide's HTML without all but the chart and
 *   what names it; files: the text of each file that is read, by its address
 * @param {{talk: object, usual: string, theme: string|null}} page   usual: the talk's data set
 */
export async function showEmbedded({ section, files }, { talk, usual, theme }) {
  applyTheme({ theme });
  const fetchFile = (address) => {
    const { href } = new URL(address, document.baseURI);
    const path = decodeURIComponent(href.slice(new URL(".", document.baseURI).href.length));
    const found = Object.hasOwn(files, path);
    return Promise.resolve(found ? new Response(files[path]) : new Response("", { status: 404 }));
  };
  const material = Material({ search: "", usual, frozen: null, mode: { compare: null }, talk, fetchFile });
  const page = document.createElement("main");
  page.className = "front-page embedded";
  page.innerHTML = section;
  document.querySelector(".reveal").replaceWith(page);
  await material.data.load();
  material.writeTexts(page);
  const charts = await material.makeCharts(PAGE_CHARTS);
  const host = chartHost(page);
  charts.init(host);
  host.tell("ready");
  addEventListener("resize", () => host.tell("resize"));
  onThemeChange(() => charts.restyle());
  window.replay = { charts, data: material.data };
  document.documentElement.dataset.embeddedReady = "true";
}
