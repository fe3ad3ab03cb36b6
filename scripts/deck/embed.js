/**
 * A page for each chart of a built site, `embed/<talk>.<slide>.<number>.html`, which other pages may frame: the chart, its
 * title and its origin. The page holds all data that it reads, and no more of them than the chart needs.
 */

import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { JSDOM } from "jsdom";

import { embedFile } from "../../deck/chart-tools/chart-address.js";
import { partsOf } from "../../deck/data/data-set.js";
import { isOwnFile } from "../../deck/data/own-file.js";
import { renderedFile } from "../../deck/text/chapters.js";
import { escapeHtml } from "./text/escape.js";

/**
 * @param {{outDir: string, talks: {stated: import("./talk-file.js").TalkFile, page: string}[],
 *          slides: Map<string, string>}} site   page: the file of a talk's page; slides: HTML by file
 * @returns {Promise<number>} how many pages there are
 */
export async function writeEmbedPages({ outDir, talks, slides }) {
  const data = new Data(outDir);
  await mkdir(path.join(outDir, "embed"), { recursive: true });
  let count = 0;
  for (const { stated, page } of talks) {
    const shell = shellOf(await readFile(path.join(outDir, page), "utf8"));
    for (const chapter of stated.chapters) {
      const { window } = new JSDOM(slides.get(renderedFile(chapter)) ?? "");
      for (const { slide, canvas, number } of chartsIn(window.document)) {
        const section = sectionOf(slide, canvas, `../${page}#/${slide.id}`, stated.title);
        const files = await data.filesFor(section, canvas, stated.dataSet);
        if (files === null) continue;
        const embedded = JSON.stringify({ section, files }).replaceAll("<", "\\u003c");
        const element = `<script type="application/json" id="embedded">${embedded}</script>`;
        const html = shell.replace("</head>", () => `${element}\n</head>`);
        await writeFile(path.join(outDir, embedFile(stated.name, slide.id, number)), html);
        count += 1;
      }
      window.close();
    }
  }
  return count;
}

/** A talk's page without its slides, for a folder of the site. */
function shellOf(html) {
  return html
    .replace(/<section data-markdown[^>]*><\/section>/g, "")
    .replace(/<template id="front-page">[\s\S]*?<\/template>/, "")
    .replaceAll(/"\.\/(assets|slides)\//g, '"../$1/');
}

/** The charts of a chapter that have files; number: from 1, among all charts of the slide. */
function* chartsIn(document) {
  for (const slide of document.querySelectorAll("section[id]"))
    for (const [at, canvas] of [...slide.querySelectorAll("canvas[data-chart]")].entries())
      if (canvas.dataset.chartSrc) yield { slide, canvas, number: at + 1 };
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
  copy.removeAttribute("class");
  copy.insertAdjacentHTML(
    "beforeend",
    `<p class="embedded-from">From <a href="${escapeHtml(address)}" target="_blank" rel="noopener">${escapeHtml(title)}</a></p>`,
  );
  return copy.outerHTML;
}

/** What the data sets of a site say, of which each page gets what its chart reads. */
class Data {
  #root;
  #documents = new Map();

  constructor(root) {
    this.#root = root;
  }

  /** The text of each file, by its address; null if the chart's own is not published. `usual`: the talk's data set. */
  async filesFor(section, canvas, usual) {
    const { chartSrc, chartMore = "" } = canvas.dataset;
    const addresses = [chartSrc, ...chartMore.split("|").map((one) => one.trim())].filter(Boolean);
    const files = {};
    for (const address of addresses)
      for (const name of [address, address.replace(/\.csv$/, ".spread.csv")]) {
        const text = await this.#textOf(name);
        if (text !== null) files[name] = text;
      }
    if (!Object.hasOwn(files, chartSrc)) return null;
    // The texts around a file of the author's own are of the slide's data set.
    const around = canvas.closest("section[data-set]")?.dataset.set ?? usual;
    const dataSetOf = (address) => (isOwnFile(address) ? around : partsOf(address)?.dataSet);
    const dataSets = [...new Set(addresses.map(dataSetOf).filter(Boolean))];
    for (const name of dataSets) Object.assign(files, await this.#documentsOf(name, { section, addresses }));
    const listed = dataSets.map((name) => [
      name,
      Object.keys(files)
        .filter((file) => file.startsWith(`benchmarks/${name}/`))
        .map((file) => file.slice(`benchmarks/${name}/`.length)),
    ]);
    files["benchmarks/index.json"] = JSON.stringify({
      data_sets: dataSets,
      files: Object.fromEntries(listed),
      own: await this.#digestsOf(addresses),
    });
    return files;
  }

  /** The documents of a data set, with the claims that the section names and the entries of its charts alone. */
  async #documentsOf(name, { section, addresses }) {
    const [manifest, claims] = await Promise.all([
      this.#documentOf(name, "manifest.json"),
      this.#documentOf(name, "claims.json"),
    ]);
    const charts = addresses.map(partsOf).filter((parts) => parts?.dataSet === name);
    const files = {};
    const put = (file, document) => (files[`benchmarks/${name}/${file}`] = JSON.stringify(document));
    const named = Object.entries(claims?.claims ?? {}).filter(([id]) => section.includes(id));
    const answer = section.includes("answer.") ? await this.#textOf(`benchmarks/${name}/answer.csv`) : null;
    if (manifest) {
      const { experiments } = manifest;
      // Of a document, the experiments that it rests on.
      const behind = Object.keys(experiments).filter(
        (one) => named.some(([, claim]) => claim.experiment === one) || answer?.includes(one),
      );
      const wanted = charts.some(({ document }) => document)
        ? behind.map((experiment) => ({ experiment }))
        : charts;
      put("manifest.json", { ...manifest, experiments: entriesOf(experiments, wanted) });
    }
    if (claims) {
      put("claims.json", { ...claims, claims: Object.fromEntries(named) });
    }
    if (answer !== null) files[`benchmarks/${name}/answer.csv`] = answer;
    return files;
  }

  /** Digests of those files that are the author's own. */
  async #digestsOf(addresses) {
    const { own } = JSON.parse(await this.#textOf("benchmarks/index.json"));
    return Object.fromEntries(addresses.filter(isOwnFile).map((address) => [address, own[address]]));
  }

  async #documentOf(name, file) {
    const key = `${name}/${file}`;
    if (!this.#documents.has(key)) {
      const text = await this.#textOf(`benchmarks/${key}`);
      this.#documents.set(key, text === null ? null : JSON.parse(text));
    }
    return this.#documents.get(key);
  }

  #textOf(address) {
    const file = path.join(this.#root, address);
    return existsSync(file) ? readFile(file, "utf8") : Promise.resolve(null);
  }
}

/** What the manifest says of experiments, with the entries of these charts; the limits of each point are not drawn. */
function entriesOf(experiments, charts) {
  const wanted = (name) => charts.filter(({ experiment }) => experiment === name).map(({ chart }) => chart);
  return Object.fromEntries(
    Object.entries(experiments)
      .filter(([name]) => charts.some(({ experiment }) => experiment === name))
      .map(([name, { limits: _, charts: all, ...entry }]) => {
        const own = Object.entries(all ?? {}).filter(([chart]) => wanted(name).includes(chart));
        return [name, { ...entry, charts: Object.fromEntries(own) }];
      }),
  );
}
