/** The scenarios: which talk is opened, at which slide, and what each round measures on both sides. */
/* global document -- in functions that run in the page */

import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { ensureBundle } from "../bundle.js";
import { benchmarksRoot, talkRoot } from "../data-sets.js";
import { talkOfCharts, talkOfPoints, writeTalk } from "./generated-talk.js";
import { measureChanges, measureHover, measureLoad } from "./measures.js";
import { startPerfServer } from "./perf-server.js";

/** The delay of each answer, in milliseconds: from this machine, and from a distant server. */
const NEAR_MS = 0;
const FAR_MS = 50;

/** Bundles the plain approach. */
async function buildPlain(outDir) {
  const { build } = await import("vite");
  await build({
    root: path.join(import.meta.dirname, "plain"),
    base: "./",
    publicDir: false,
    configFile: false,
    logLevel: "error",
    build: { outDir, emptyOutDir: true, cssTarget: ["chrome123"], modulePreload: { polyfill: false } },
  });
}

/**
 * Prepares both sides: bundles, generated talks, and a server for each talk.
 * @param {{charts: number, points: number, changes: number}} sizes
 * @returns {Promise<{scenarios: object[], close: () => Promise<void>}>}
 *   scenarios: `{title, measure(browser, side)}`; side is `deck` or `plain`
 */
export async function readyScenarios({ charts, points, changes }) {
  const root = await mkdtemp(path.join(tmpdir(), "replay-perf-"));
  const servers = [];
  const remove = () => rmSync(root, { recursive: true, force: true });
  process.on("exit", remove);
  const close = async () => {
    await Promise.all(servers.map((server) => server.close()));
    process.off("exit", remove);
    remove();
  };
  try {
    const plain = path.join(root, "plain");
    const [{ folder: deck }] = await Promise.all([ensureBundle(), buildPlain(plain)]);
    const serve = async (talk) => {
      const server = await startPerfServer({ deck, plain, ...talk });
      servers.push(server);
      return server;
    };
    const talk = await serve({
      slides: path.join(talkRoot(), "slides"),
      benchmarks: benchmarksRoot(),
    });
    const many = await serve(await writeTalk(path.join(root, "charts"), talkOfCharts(charts)));
    const long = await serve(await writeTalk(path.join(root, "points"), talkOfPoints(points)));
    const talkStart = firstSlideWithChart(talk);
    const scenarios = [
      scenario("The talk", talk, talkStart, (page) => measureChanges(page, changes)),
      scenario(`The talk, each answer ${FAR_MS} ms late`, talk, talkStart, null, FAR_MS),
      scenario(
        `${charts} charts`,
        many,
        () => "chart-1",
        (page) => measureChanges(page, Math.min(changes, charts - 1)),
      ),
      scenario(`One chart of ${points} points`, long, () => "chart-1", measureHover),
    ];
    return { scenarios, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function scenario(title, server, startOf, more, latency = NEAR_MS) {
  let start = null;
  return {
    title,
    async measure(browser, side) {
      server.delay(NEAR_MS);
      start ??= await startOf(browser);
      server.delay(latency);
      const url = side === "deck" ? server.deckUrl : server.plainUrl;
      return measureLoad(browser, `${url}#/${start}`, more ?? undefined);
    },
  };
}

/** The id of the talk's first slide with a chart, from the deck's own page. */
function firstSlideWithChart({ deckUrl }) {
  return async (browser) => {
    const page = await browser.newPage();
    try {
      await page.goto(deckUrl);
      await page.waitForSelector("html[data-deck-ready]");
      return await page.evaluate(() => document.querySelector("canvas[data-chart]").closest("section").id);
    } finally {
      await page.close();
    }
  };
}
