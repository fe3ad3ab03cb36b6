#!/usr/bin/env node
/** Measures the talk side by side with a plain deck of the same slides, and prints ratios: `npm run perf`. */

import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";

import { talkRoot } from "./deck/data-sets.js";
import { POINTS_FILE, pointsCsv, pointsPage } from "./deck/perf/points.js";
import { compare, machineLine, tableOf } from "./deck/perf/report.js";
import { installPackages, optionsOf, requireCount, ROOT } from "./npm/program.mjs";
import { endWhenInterrupted, progress } from "./npm/progress.mjs";

const HELP = `Measures the talk in Chromium, side by side with a plain deck: the same slides and files, without the deck's code and
the CSV plugin. It requests all files at once, and draws each chart of the talk when its file is there. Both sides take
turns in each round. The same of a page with one chart of 100,000 points.

Usage: npm run perf -- [options]

  --rounds N     number of rounds (7), after one more round that warms up and does not count
  --changes N    slide changes in each round (60)
  --json FILE    also write every figure to this file
  --help         show this text`;

const options = optionsOf({
  command: "npm run perf --",
  help: HELP,
  options: {
    rounds: { type: "string", default: "7" },
    changes: { type: "string", default: "60" },
    json: { type: "string" },
  },
  check({ rounds, changes }) {
    requireCount("rounds", rounds);
    requireCount("changes", changes);
  },
});
installPackages();
const { build } = await import("vite");
const { launchChromium } = await import("./deck/chromium.js");
const { measure } = await import("./deck/perf/measures.js");
const { buildSite } = await import("./deck/site.js");
const { serveFolder } = await import("./deck/static-server.js");
const { chapterElement } = await import("./deck/talk-page.js");
const { readTalkFile } = await import("./deck/talk-file.js");

const [rounds, changes] = [options.rounds, options.changes].map(Number);
const shown = progress();
const site = mkdtempSync(path.join(os.tmpdir(), "replay-perf-"));
process.on("exit", () => rmSync(site, { recursive: true, force: true }));
endWhenInterrupted(shown, "Stopped before the last round, so there are no figures.");

const measured = { deck: [], plain: [] };
let machine;
try {
  shown.step("Building both sides");
  // The talk may not say yet where people clone it; what is built here is not published.
  process.env.REPLAY_REPOSITORY ||= "https://people.example/talk";
  await buildSite({ outDir: site, preview: false });
  const plain = path.join(site, "plain");
  await buildPlain(plain);
  for (const folder of [site, plain]) writePoints(folder);
  const server = await serveFolder(site);
  const browser = await launchChromium();
  try {
    const start = await firstSlideWithChart(browser, server.url);
    const urls = {
      deck: { talk: `${server.url}?stage#/${start}`, points: `${server.url}points.html?stage` },
      plain: {
        talk: `${server.url}plain/index.html#/${start}`,
        points: `${server.url}plain/points.html`,
      },
    };
    for (let round = 0; round <= rounds; round += 1) {
      shown.step(round === 0 ? "Warming up" : `Round ${round} of ${rounds}`);
      // The sides take turns at going first.
      for (const side of round % 2 ? ["deck", "plain"] : ["plain", "deck"]) {
        const values = await measure(browser, urls[side], changes);
        if (round > 0) measured[side].push(values);
      }
    }
    machine = {
      cpu: os.cpus()[0].model.trim(),
      cores: os.cpus().length,
      memoryBytes: os.totalmem(),
      chromium: browser.version(),
      node: process.versions.node,
      date: new Date().toISOString().slice(0, 10),
    };
  } finally {
    await browser.close();
    await server.close();
  }
  shown.end();
} catch (error) {
  shown.end();
  console.error(`The deck was not measured: ${error.message}`);
  process.exit(1);
}
console.log(tableOf(compare(measured.deck, measured.plain)));
console.log(`\nMedian of ${rounds} rounds (smallest to largest); ratios are computed within each round.`);
console.log(machineLine(machine));
if (options.json)
  writeFileSync(options.json, `${JSON.stringify({ machine, rounds, changes, measured }, null, 2)}\n`);
process.exit(0);

/** Bundles the plain deck beside the site, whose data it reads. */
async function buildPlain(outDir) {
  await build({
    root: path.join(ROOT, "scripts/deck/perf/plain"),
    base: "./",
    publicDir: false,
    configFile: false,
    logLevel: "error",
    build: { outDir, emptyOutDir: true, cssTarget: ["chrome123"], modulePreload: { polyfill: false } },
  });
  const { chapters } = readTalkFile(talkRoot());
  const page = path.join(outDir, "index.html");
  const sections = chapters.map((file) => chapterElement(file)).join("");
  writeFileSync(
    page,
    readFileSync(page, "utf8").replace('<div class="slides">', () => `<div class="slides">${sections}`),
  );
  cpSync(path.join(talkRoot(), "slides"), path.join(outDir, "slides"), { recursive: true });
  symlinkSync(path.join("..", "benchmarks"), path.join(outDir, "benchmarks"));
}

/** Beside a side's page, one with very many points. */
function writePoints(folder) {
  const page = readFileSync(path.join(folder, "index.html"), "utf8");
  writeFileSync(path.join(folder, "points.html"), pointsPage(page));
  writeFileSync(path.join(folder, POINTS_FILE), pointsCsv());
}

/** The id of the talk's first slide with a chart, from the deck's own page. */
async function firstSlideWithChart(browser, url) {
  const page = await browser.newPage();
  await page.goto(`${url}?stage`);
  await page.waitForSelector("html[data-deck-ready]");
  // eslint-disable-next-line no-undef -- runs in the page
  const id = await page.evaluate(() => document.querySelector("canvas[data-chart]").closest("section").id);
  await page.close();
  return id;
}
