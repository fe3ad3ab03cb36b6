/** Opens the deck in a real browser, on a copy of the fixture's data that a test may change. */

import { cp, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { launchChromium } from "../../../scripts/deck/chromium.js";
import { startPresentServer } from "../../../scripts/deck/server.js";

export const FIXTURE = path.resolve(import.meta.dirname, "../../fixtures/benchmarks");
export const SHIPPED = path.resolve(import.meta.dirname, "../../../benchmarks/reference");

/**
 * A browser and a present server with the fixture's data.
 * @returns {Promise<{browser: import("playwright-core").Browser, benchmarks: string, url: string,
 *                    openDeck: Function, replaceFile: Function, close: () => Promise<void>}>}
 */
export async function startDeck() {
  const benchmarks = await mkdtemp(path.join(tmpdir(), "replay-deck-"));
  await cp(FIXTURE, benchmarks, { recursive: true });
  const [browser, server] = await Promise.all([
    launchChromium(),
    startPresentServer({ port: 0, benchmarks, followSources: false }),
  ]);
  return {
    browser,
    benchmarks,
    url: server.url,

    /**
     * A page that shows the deck; `page.complaints` are its console errors and broken policies.
     * `prepare` gets the page before the deck is fetched.
     */
    async openDeck(query = "?data=fixture", { hash = "", prepare = () => {}, ...options } = {}) {
      const page = await browser.newPage({
        viewport: { width: 1280, height: 720 },
        reducedMotion: "reduce",
        ...options,
      });
      page.complaints = [];
      page.on("pageerror", (error) => page.complaints.push(String(error)));
      page.on("console", (message) => {
        // Companions of a chart (bounds, counts) are optional: that one is not there is no complaint.
        if (message.type() === "error" && !/status of 404/.test(message.text()))
          page.complaints.push(message.text());
      });
      await prepare(page);
      await page.goto(`${server.url}${query}${hash}`);
      await page.waitForSelector("html[data-deck-ready]");
      return page;
    },

    /** Writes a file of the data as derive does: beside its place, then renamed. */
    async replaceFile(name, text) {
      const file = path.join(benchmarks, name);
      await writeFile(`${file}.tmp`, text);
      await rename(`${file}.tmp`, file);
    },

    /** Lends the data that ship, under the name `shipped`, without raw output. Returns what takes them away again. */
    async lendShipped() {
      const folder = path.join(benchmarks, "shipped");
      await cp(SHIPPED, folder, { recursive: true, filter: (name) => !/\/raw(?:\/|$)/.test(name) });
      return () => rm(folder, { recursive: true });
    },

    async close() {
      await browser.close();
      await server.close();
      await rm(benchmarks, { recursive: true, force: true });
    },
  };
}

/** Goes to each slide, the appendix included, shows all its fragments, and calls `visit` with its id. */
export async function eachSlide(page, visit) {
  const ids = await page.evaluate(() =>
    [...document.querySelectorAll(".slides section:not(.stack)")].map((slide) => slide.id),
  );
  for (const id of ids) {
    await goTo(page, id);
    await visit(id);
  }
  return ids;
}

/** Shows a slide with all its fragments, and waits for its charts. */
export async function goTo(page, id) {
  await page.evaluate(async (slideId) => {
    const { deck, charts } = window.replay;
    const slide = document.getElementById(slideId);
    const { h, v } = deck.getIndices(slide);
    deck.slide(h, v, slide.querySelectorAll(".fragment").length - 1);
    await charts.ready();
    const slots = [...slide.querySelectorAll("canvas[data-chart]")].map((canvas) =>
      charts.charts.get(canvas),
    );
    const end = Date.now() + 5000;
    while (slots.some(({ model, error }) => !model && !error) && Date.now() < end) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  }, id);
}

/** What the charts of a slide draw: `{src, url, labels, series: {name: values}, hidden}` or `{src, error}`. */
export function chartsOf(page, id) {
  return page.evaluate((slideId) => {
    const { charts } = window.replay;
    // A long file gives points, a wide one values over labels.
    const valueOf = (point) => (point !== null && typeof point === "object" ? point.y : point);
    const xsOf = (datasets) => [...new Set(datasets.flatMap(({ data }) => data.map(({ x }) => x)))];
    return [...document.getElementById(slideId).querySelectorAll("canvas[data-chart]")].map((canvas) => {
      const { src, url, chart, error } = charts.charts.get(canvas);
      if (!chart || error) return { src, url, error: error?.message ?? "no chart" };
      return {
        src,
        url,
        labels: chart.data.labels?.length ? [...chart.data.labels] : xsOf(chart.data.datasets),
        series: Object.fromEntries(chart.data.datasets.map(({ label, data }) => [label, data.map(valueOf)])),
        shown: chart.data.datasets.filter((_, i) => chart.isDatasetVisible(i)).map(({ label }) => label),
      };
    });
  }, id);
}
