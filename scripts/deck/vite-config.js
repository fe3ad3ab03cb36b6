/**
 * How the deck is bundled: one configuration for `npm run build` and `npm run present`.
 */

import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { statedFacts } from "./addresses.js";
import { PUBLISHED } from "./constants.js";
import { PROJECT, benchmarksRoot, indexOf, placeWithin, scanBenchmarks, talkRoot } from "./data-sets.js";
import { lookFiles } from "./look.js";
import { ownDigests } from "./own-charts.js";
import { contentSecurityPolicy } from "./policy.js";
import { readTalks } from "./talk-file.js";
import { RENDERED_MARK, talkForPage, talkPage, talkPageFile } from "./talk-page.js";

/**
 * @typedef {object} Site   what a published site holds beside the bundle
 * @property {Map<string, string>} slides   HTML by file, as `renderChapters` makes it
 * @property {string[]} dataSets
 * @property {string|null} frozen   the data set that the page is pinned to
 * @property {Record<string, object[]>} altered   what it says of files that are not as recorded, by data set
 */

/**
 * @param {{outDir: string, benchmarks?: string, site?: Site|null}} options
 *   site: null for the bundle alone, for servers that read slides and data where they lie
 * @returns {import("vite").UserConfig}
 * @throws {import("./checked-yaml.js").InvalidFile} if slides/<talk>/talk.yaml is not as it must be
 */
export function deckConfig({ outDir, benchmarks = benchmarksRoot(), site = null }) {
  const [talk, ...others] = readTalks(talkRoot());
  const talks = site?.frozen ? [pinned(talk, site)] : [talk, ...others];
  return {
    root: PROJECT,
    base: "./",
    publicDir: false,
    build: {
      outDir: path.resolve(PROJECT, outDir),
      // light-dark() and :has() are used as they are.
      cssTarget: ["chrome123", "firefox121", "safari17.5"],
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      // budget.js says what is too heavy.
      chunkSizeWarningLimit: 700,
      rolldownOptions: {
        output: { codeSplitting: { groups: [START, CHARTS, KINDS] } },
        // Chart.js's classes copy the defaults of others. Such a read has no effect, so the scales that no chart here has
        // are left out. Nothing may force a layout by a bare read of a property: eslint's no-unused-expressions.
        treeshake: { propertyReadSideEffects: false },
      },
    },
    plugins: [deckPlugin(benchmarks, { talks, site })],
  };
}

/**
 * What the first slide needs, in one file; else each module that a later part shares with it would be a file of its own.
 * Not the entry: it waits for later parts, which import from this file and so must not wait for the entry.
 */
const ENTRY = /\/(?:index\.html|deck\/main\.js)(?:\?|$)/;
const START = { name: "start", tags: ["$initial"], test: (id) => !ENTRY.test(id) };
/** What not every chart needs: kinds, tables, dates, names and marks, and what moves charts from slide to slide. */
const LATER =
  "kinds/|tables|html-table|trials|place|date-scale|moments|labels\\.js|marks|reveal/(?:morph|names)";
/** What every chart needs, in one file, which is smaller than its parts. */
const CHART_MODULES = new RegExp(
  `/(?:chart\\.js/dist|@kurkle/color|chartjs-plugin-csv/src(?!/(?:${LATER})\\b)|deck/chart-tools/(?:charted|sentence|views)\\b)`,
);
const CHARTS = { name: "charts", test: CHART_MODULES };
/** What kinds share; what only one needs is in a file of its own. */
const KIND_MODULES =
  /\/chartjs-plugin-csv\/src\/(?:place|trials|kinds\/(?:around-plot|base|drawing|in-chart|lanes|mark|models|pen|words))\b/;
const KINDS = { name: "kinds", test: KIND_MODULES };

/** A talk that is pinned to a data set has that one as its own; beside it the deck finds the others of the site. */
function pinned(talk, { frozen, dataSets }) {
  return { ...talk, dataSet: frozen, otherDataSets: dataSets.filter((name) => name !== frozen) };
}

/** Tells the page that it is a site for readers: it offers them more than a speaker wants on a stage. */
const PUBLISHED_MARK = { name: PUBLISHED, content: "true" };

function deckPlugin(benchmarks, { talks, site }) {
  const marks = site ? [PUBLISHED_MARK, RENDERED_MARK] : [];
  if (site?.frozen) marks.push({ name: "replay:frozen", content: site.frozen });
  let outDir;
  return {
    name: "replay-deck",
    configResolved(config) {
      outDir = config.build.outDir;
    },
    transformIndexHtml: () => [
      {
        tag: "meta",
        attrs: { "http-equiv": "Content-Security-Policy", content: contentSecurityPolicy() },
        injectTo: "head-prepend",
      },
      ...marks.map((attrs) => ({ tag: "meta", attrs, injectTo: "head" })),
    ],
    async writeBundle() {
      await writePages(talks, outDir);
      if (site) await writeRunTimeFiles(site, { benchmarks, talks: talks.map(({ name }) => name), outDir });
    },
  };
}

/** Fills the bundled page in for each talk; the first one's is index.html. */
async function writePages(talks, outDir) {
  const html = await readFile(path.join(outDir, "index.html"), "utf8");
  const pages = talks.map((talk, at) => {
    const { name, title } = talk;
    return { talk, name, title, page: at === 0 ? "index.html" : talkPageFile(name) };
  });
  for (const { talk, page } of pages) {
    const others = pages.filter((other) => other.page !== page).map(({ talk: _, ...other }) => other);
    const filled = talkPage(html, talk, talkForPage(talk, statedFacts(talk), others));
    await writeFile(path.join(outDir, page), filled);
  }
}

/** Puts slides, what lies beside them, CSV and JSON files where the page will ask for them; raw output stays behind. */
async function writeRunTimeFiles({ slides, dataSets, altered }, { benchmarks, talks, outDir }) {
  for (const [file, html] of slides) {
    await mkdir(path.dirname(path.join(outDir, file)), { recursive: true });
    await writeFile(path.join(outDir, file), html);
  }
  const slidesFolder = path.join(talkRoot(), "slides");
  const own = await ownDigests(slidesFolder, talks);
  const looks = talks.flatMap((talk) => lookFiles(talkRoot(), talk));
  for (const file of [...looks, ...Object.keys(own)]) {
    const place = await placeWithin(slidesFolder, file.slice("slides/".length));
    if (place === null)
      throw new Error(`${file} is a link that leads out of slides/: put the file itself there`);
    await cp(place, path.join(outDir, file));
  }
  const { files } = await scanBenchmarks(benchmarks);
  for (const file of [...files.keys()]) if (!dataSets.includes(file.split("/")[0])) files.delete(file);
  for (const file of files.keys()) {
    // A link would lead nowhere where the site will be.
    await cp(path.join(benchmarks, file), path.join(outDir, "benchmarks", file), { dereference: true });
  }
  await mkdir(path.join(outDir, "benchmarks"), { recursive: true });
  await writeFile(
    path.join(outDir, "benchmarks", "index.json"),
    `${JSON.stringify(indexOf(files, altered, own), null, 2)}\n`,
  );
}
