/**
 * A page for each chart of a built site, `embed/<talk>.<slide>.<number>.html`, which other pages may frame: the chart, its
 * title, its origin and the line to cite. The page holds all data that it reads, packed, and no more of them than the chart
 * needs.
 */

import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

import { JSDOM } from "jsdom";

import { embedFile } from "../../deck/chart-tools/chart-address.js";
import { isInCut } from "../../deck/stage/cut.js";
import { canvasesOf } from "../../deck/text/canvases.js";
import { renderedFile } from "../../deck/text/chapters.js";
import { partsByDataSet } from "../../deck/text/slide-data.js";
import { chooseTexts } from "../../deck/text/verdict-text.js";
import { BUDGET } from "./budget.js";
import { documentOf, filesOfChart } from "./embed-data.js";
import { escapeHtml } from "./text/escape.js";

/**
 * @param {{outDir: string, talks: {stated: import("./talk-file.js").TalkFile, dataSet: string, page: string}[],
 *          slides: Map<string, string>}} site   dataSet: the one that a talk is told with; page: the file of its page; slides:
 *   HTML by file
 * @returns {Promise<string[]>} what a publisher should know: pages that are larger than a frame should be
 */
export async function writeEmbedPages({ outDir, talks, slides }) {
  await mkdir(path.join(outDir, "embed"), { recursive: true });
  const remarks = [];
  for (const { stated, dataSet, page } of talks) {
    const shell = shellOf(await readFile(path.join(outDir, page), "utf8"));
    for (const chapter of stated.chapters) {
      const { window } = new JSDOM(slides.get(renderedFile(chapter)) ?? "");
      const { body } = window.document;
      // No page for a chart that the verdicts hide.
      for (const { part, named } of partsByDataSet(body))
        chooseTexts(part, await documentOf(outDir, named ?? dataSet, "claims.json"));
      for (const { slide, canvas, number, position } of chartsIn(body)) {
        const query = `${cutQuery(slide, stated.cuts)}chart=${position}`;
        const section = sectionOf(slide, canvas, `../${page}?${query}#/${slide.id}`, stated.title);
        const files = await filesOfChart(outDir, { section, canvas, usual: dataSet });
        if (files === null) continue;
        const packed = await promisify(gzip)(JSON.stringify({ section, files }), { level: 9 });
        const element = `<script type="text/plain" id="embedded">${packed.toString("base64")}</script>`;
        const html = shell.replace("</head>", () => `${element}\n</head>`);
        const file = embedFile(stated.name, slide.id, number);
        await writeFile(path.join(outDir, file), html);
        if (html.length > BUDGET.embed)
          remarks.push(
            `${file} has ${html.length} bytes, more than ${BUDGET.embed}: show fewer series in that chart.`,
          );
      }
      window.close();
    }
  }
  return remarks;
}

/** A talk's page without its slides, for a folder of the site. */
function shellOf(html) {
  return html
    .replace(/<section data-markdown[^>]*><\/section>/g, "")
    .replace(/<template id="front-page">[\s\S]*?<\/template>/, "")
    .replaceAll(/"\.\/(assets|slides)\//g, '"../$1/');
}

/** The charts of a chapter that have files; from 1, number: among all charts of the slide; position: among those on show. */
function* chartsIn(body) {
  for (const slide of body.querySelectorAll("section[id]")) {
    const all = [...slide.querySelectorAll("canvas[data-chart]")];
    for (const [at, canvas] of canvasesOf(slide).entries())
      if (canvas.dataset.chartSrc) yield { slide, canvas, number: all.indexOf(canvas) + 1, position: at + 1 };
  }
}

/** The cut to ask for, of a slide that the usual one lacks. */
function cutQuery(slide, [usual]) {
  const named = slide.getAttribute("data-cut");
  return isInCut(named, usual.minutes) ? "" : `cut=${named.trim().split(/\s+/)[0]}&`;
}

/** A slide's HTML with one of its charts, what names it, and the way to the talk. */
function sectionOf(slide, canvas, address, title) {
  canvas.setAttribute("data-embedded", "");
  const copy = slide.cloneNode(true);
  canvas.removeAttribute("data-embedded");
  const chosen = copy.querySelector("[data-embedded]");
  chosen.removeAttribute("data-embedded");
  const panel = chosen.closest(".panel");
  for (const child of [...copy.children]) {
    if (child.contains(chosen) || child.matches("h1, h2, p.measure")) continue;
    child.remove();
  }
  for (const other of copy.querySelectorAll(".panel, canvas"))
    if (other !== panel && other !== chosen) other.remove();
  for (const step of copy.querySelectorAll(".fragment")) step.classList.remove("fragment");
  // The slide's title is that of the page; styles and scripts know it by its name.
  for (const [level, name] of ["h1, h2", "h3"].entries())
    for (const heading of copy.querySelectorAll(name)) {
      heading.setAttribute("role", "heading");
      heading.setAttribute("aria-level", String(level + 1));
    }
  copy.removeAttribute("class");
  copy.insertAdjacentHTML(
    "beforeend",
    `<p class="embedded-from">From <a href="${escapeHtml(address)}" target="_blank" rel="noopener">${escapeHtml(title)}</a></p>`,
  );
  return copy.outerHTML;
}
