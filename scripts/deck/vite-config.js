/**
 * How the deck is bundled: one configuration for `vite`, `npm run build` and `npm run present`.
 */

import { cp, mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";

import { statedAddresses } from "./addresses.js";
import { dataHandler } from "./data-handler.js";
import { PROJECT, benchmarksRoot, indexOf, scanBenchmarks, talkRoot, toPublish } from "./data-sets.js";
import { contentSecurityPolicy } from "./policy.js";
import { readTalkFile } from "./talk-file.js";
import { talkForPage, talkPage } from "./talk-page.js";
import { pinPage } from "./text/pin.js";

/**
 * @param {{outDir?: string, published?: boolean, copyFiles?: boolean, dataSets?: string[]|null, benchmarks?: string,
 *          frozen?: {name: string, chapters: Map<string, string>}|null, altered?: Record<string, object[]>}} options
 *   published: whether the page is to be a site that readers explore by themselves; copyFiles: whether slides and data
 *   sets are copied beside the bundle (a static site needs them; the present server reads them where they lie);
 *   dataSets: which data sets to copy, as for `copyRunTimeFiles`; frozen: the data set that the page is pinned to, and
 *   the texts of its chapters by file; altered: what the site says of files that are not as recorded, by data set
 * @returns {import("vite").UserConfig}
 * @throws {import("./checked-yaml.js").InvalidFile} if config/talk.yaml is not as it must be
 */
export function deckConfig({
  outDir = "dist",
  published = false,
  copyFiles = true,
  dataSets = null,
  benchmarks,
  frozen = null,
  altered = {},
} = {}) {
  const root = talkRoot();
  const talk = readTalkFile(root);
  const folders = { benchmarks: benchmarks ?? benchmarksRoot(), slides: path.join(root, "slides") };
  return {
    root: PROJECT,
    base: "./",
    appType: "mpa",
    publicDir: false,
    define: { __REPLAY_TALK__: JSON.stringify(talkForPage(talk, statedAddresses(talk))) },
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
      rolldownOptions: { output: { codeSplitting: { groups: [START] } } },
    },
    server: { host: "127.0.0.1", fs: { allow: [PROJECT], deny: ["**/benchmarks/**", "**/.*"] } },
    plugins: [deckPlugin(folders, { talk, published, copyFiles, dataSets, frozen, altered })],
  };
}

/**
 * What the first slide needs, in one file; else each module that a later part shares with it would be a file of its own.
 * Not the entry: it waits for later parts, which import from this file and so must not wait for the entry.
 */
const ENTRY = /\/(?:index\.html|deck\/main\.js)(?:\?|$)/;
const START = { name: "start", tags: ["$initial"], test: (id) => !ENTRY.test(id) };

/** Tells the page that it is a site for readers: it offers them more than a speaker wants on a stage. */
const PUBLISHED = { tag: "meta", attrs: { name: "replay:published", content: "true" }, injectTo: "head" };

function deckPlugin(folders, { talk, published, copyFiles, dataSets, frozen, altered }) {
  let outDir;
  return {
    name: "replay-deck",
    configResolved(config) {
      outDir = config.build.outDir;
    },
    transformIndexHtml: (html) => ({
      html: frozen ? pinPage(talkPage(html, talk), frozen.name) : talkPage(html, talk),
      tags: [
        {
          tag: "meta",
          attrs: { "http-equiv": "Content-Security-Policy", content: contentSecurityPolicy() },
          injectTo: "head-prepend",
        },
        ...(published ? [PUBLISHED] : []),
      ],
    }),
    configureServer(server) {
      server.middlewares.use(dataHandler(folders));
    },
    async writeBundle() {
      if (copyFiles)
        await copyRunTimeFiles(folders, outDir, { dataSets, chapters: frozen?.chapters ?? null, altered });
    },
  };
}

/**
 * Copies slides, CSV files and JSON files to where the page will ask for them; raw output stays behind.
 * @param {{benchmarks: string, slides: string}} folders
 * @param {string} outDir
 * @param {object} [wanted]
 * @param {string[]|null} [wanted.dataSets]   which to copy; null for all derived ones but the private one
 * @param {Map<string, string>|null} [wanted.chapters]   slides as they are to be written, by file; null to copy all as
 *   they are
 * @param {Record<string, object[]>} [wanted.altered]   as for `deckConfig`
 */
export async function copyRunTimeFiles(
  { benchmarks, slides },
  outDir,
  { dataSets = null, chapters = null, altered = {} } = {},
) {
  await mkdir(path.join(outDir, "slides"), { recursive: true });
  if (chapters) {
    for (const [file, text] of chapters) await writeFile(path.join(outDir, file), text);
  } else {
    for (const name of await readdir(slides)) {
      if (name.endsWith(".md")) await cp(path.join(slides, name), path.join(outDir, "slides", name));
    }
  }
  const { files } = await scanBenchmarks(benchmarks);
  const { published } = toPublish(files, dataSets);
  for (const file of [...files.keys()]) if (!published.includes(file.split("/")[0])) files.delete(file);
  for (const file of files.keys()) {
    await cp(path.join(benchmarks, file), path.join(outDir, "benchmarks", file), { recursive: true });
  }
  await mkdir(path.join(outDir, "benchmarks"), { recursive: true });
  await writeFile(
    path.join(outDir, "benchmarks", "index.json"),
    `${JSON.stringify(indexOf(files, altered), null, 2)}\n`,
  );
}
