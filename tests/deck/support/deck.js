/** Opens the deck in a real browser, on a copy of the fixture's data that a test may change. */

import { cp, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { startPresentServer } from "../../../scripts/deck/server.js";
import { patient } from "../../support/patience.mjs";
import { launchPatiently } from "./browser.js";
import { withWideChart } from "./chapters.js";
import { writeFixture } from "./fixture.js";

/** The data sets that the talk's slides show, its own first. */
const SHIPPED = ["tentacle", "stretch", "headline-16", "headline-18", "headline-20"];
const BENCHMARKS = path.resolve(import.meta.dirname, "../../../benchmarks");

/**
 * A browser and a present server with the fixture's data, and with `shipped` also with those that ship.
 * @param {{shipped?: boolean}} [options]
 * @returns {Promise<{browser: Awaited<ReturnType<typeof launchPatiently>>, benchmarks: string, url: string,
 *                    openDeck: Function, replaceFile: Function, lendShipped: Function, close: () => Promise<void>}>}
 */
export async function startDeck({ shipped = false } = {}) {
  const benchmarks = await mkdtemp(path.join(tmpdir(), "replay-deck-"));
  await writeFixture(benchmarks);
  if (shipped) await copyShipped(benchmarks);
  // The server first: a deck that does not build must leave no browser behind, which would keep the tests from ending.
  const server = await startPresentServer({ port: 0, benchmarks, followSources: false });
  const browser = await launchPatiently().catch(async (error) => {
    await server.close();
    throw error;
  });
  return {
    browser,
    benchmarks,
    url: server.url,

    /**
     * A page that shows the deck, whose talk has one more slide, of `withWideChart`. Its complaints are also requests that
     * leave the deck's own server. `prepare` gets the page before the deck is fetched.
     */
    openDeck(query = "?data=fixture", { hash = "", prepare = () => {}, ...options } = {}) {
      return browser.open(`${server.url}${query}${hash}`, {
        ...options,
        async prepare(page) {
          page.on("request", (request) => {
            const address = request.url();
            if (!address.startsWith(server.url) && !/^(?:data|blob):/.test(address))
              page.complaints.push(`asks another server: ${address}`);
          });
          await withWideChart(page);
          await prepare(page);
        },
      });
    },

    /** Writes a file of the data as derive does: beside its place, then renamed. */
    async replaceFile(name, text) {
      const file = path.join(benchmarks, name);
      await writeFile(`${file}.tmp`, text);
      await rename(`${file}.tmp`, file);
    },

    /** Adds the shipped data, without raw output. Returns a function that removes them. */
    async lendShipped() {
      const folders = await copyShipped(benchmarks);
      return () => Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
    },

    async close() {
      await browser.close();
      await server.close();
      await rm(benchmarks, { recursive: true, force: true });
    },
  };
}

/** Copies the shipped data, without raw output; resolves to their folders. */
function copyShipped(benchmarks) {
  // A hidden file is one that derive is writing, and may be gone before it is copied.
  const filter = (name) => !/\/raw(?:\/|$)/.test(name) && !path.basename(name).startsWith(".");
  return Promise.all(
    SHIPPED.map(async (name) => {
      const folder = path.join(benchmarks, name);
      await cp(path.join(BENCHMARKS, name), folder, { recursive: true, filter });
      return folder;
    }),
  );
}

/**
 * Opens the speaker view.
 * @returns {Promise<{speaker: import("playwright-core").Page, frames: import("playwright-core").Frame[],
 *                    current: import("playwright-core").Frame}>}
 *   frames: the slide on show, which is `current`, and the next one, both ready
 */
export async function openSpeakerView(page) {
  const opened = page.waitForEvent("popup");
  let speaker = null;
  // One that has just been closed may still count as open, and then the key only goes to it.
  while (speaker === null) {
    await page.keyboard.press("s");
    speaker = await Promise.race([opened, delay(2000, null)]);
  }
  await speaker.waitForFunction(
    () =>
      [...document.querySelectorAll("iframe")].filter(
        ({ contentDocument: inner }) => inner?.documentElement?.dataset.deckReady,
      ).length === 2,
  );
  const frames = speaker.frames().filter((frame) => frame.url().includes("receiver"));
  return { speaker, frames, current: frames.find((frame) => frame.url().includes("postMessageEvents")) };
}

/** The ids of all slides, the appendix included. */
export function slideIds(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll(".slides section:not(.stack)")].map((slide) => slide.id),
  );
}

/**
 * Goes to each slide that has an element of the selector `with`, all by default, and shows its fragments, within one
 * call: `looks` are functions of a slide's id that run in the page and return what they find. It does not wait for
 * charts, but their places exist. A place follows its slide's text a frame later, so what is found counts only if it is
 * still there two frames later.
 * @returns {Promise<{ids: string[], found: string[]}>}
 */
export function lookAtEachSlide(page, looks, { with: part = "*" } = {}) {
  // Source text, because the page's policy allows only the debugger to evaluate code.
  return page.evaluate(`(async () => {
    const looks = [${looks.map(String).join(",")}];
    const { deck } = window.replay;
    const slides = [...document.querySelectorAll(".slides section:not(.stack)")].filter((slide) =>
      slide.querySelector(${JSON.stringify(part)}),
    );
    const found = [];
    for (const slide of slides) {
      const steps = [...slide.querySelectorAll(".fragment")].map((one) => Number(one.dataset.fragmentIndex ?? 0));
      const { h, v } = deck.getIndices(slide);
      deck.slide(h, v, steps.length ? Math.max(...steps) : -1);
      await new Promise((resolve) => setTimeout(resolve));
      const here = () => looks.flatMap((look) => look(slide.id));
      if (here().length === 0) continue;
      for (let frame = 0; frame < 2; frame += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
      found.push(...here());
    }
    return { ids: slides.map(({ id }) => id), found };
  })()`);
}

/** Shows a slide with all its fragments, and waits for its charts. */
export async function goTo(page, id) {
  await page.evaluate(
    async ([slideId, patience]) => {
      const { deck, charts } = window.replay;
      const slide = document.getElementById(slideId);
      const { h, v } = deck.getIndices(slide);
      // The last step has the highest index; several fragments may share one.
      const steps = [...slide.querySelectorAll(".fragment")].map((one) =>
        Number(one.dataset.fragmentIndex ?? 0),
      );
      deck.slide(h, v, steps.length ? Math.max(...steps) : -1);
      await charts.ready();
      // Texts that the current verdicts rule out are never drawn.
      const canvases = [...slide.querySelectorAll("canvas[data-chart]:not([data-when][hidden] *)")];
      const slots = canvases.map((canvas) => charts.charts.get(canvas));
      const end = Date.now() + patience;
      while (slots.some(({ model, error }) => !model && !error) && Date.now() < end) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    },
    [id, patient(5000)],
  );
}

/**
 * What the charts of a slide draw: `{src, url, labels, series, bounds, shown}` or `{src, url, error}`; `series` holds the
 * values by name, `bounds` low, high and n of each, `shown` the names of those that are not hidden.
 * A logarithmic chart (`isLogarithmic`) has no place for what is not above zero.
 */
export function chartsOf(page, id) {
  return page.evaluate((slideId) => {
    const { charts } = window.replay;
    // A long file gives points, a wide one values over labels.
    const valueOf = (point) => (point !== null && typeof point === "object" ? point.y : point);
    const xsOf = (datasets) => [...new Set(datasets.flatMap((one) => pointsOf(one).map(({ x }) => x)))];
    // If there are many points, Chart.js draws some of them, and keeps all beside them.
    const pointsOf = (dataset) => dataset._data ?? dataset.data;
    const canvases = document
      .getElementById(slideId)
      .querySelectorAll("canvas[data-chart]:not([data-when][hidden] *)");
    return [...canvases].map((canvas) => {
      const { src, url, chart, model, error } = charts.charts.get(canvas);
      const { chart: kind, chartMore: more = "", chartSeconds } = canvas.dataset;
      const seconds = Number(chartSeconds ?? 0);
      if (!chart || error) return { src, url, kind, more, error: error?.message ?? "no chart" };
      const { datasets } = chart.data;
      return {
        src,
        url,
        kind,
        more,
        seconds,
        labels: chart.data.labels?.length ? [...chart.data.labels] : xsOf(datasets),
        series: Object.fromEntries(datasets.map((one) => [one.label, pointsOf(one).map(valueOf)])),
        bounds: Object.fromEntries(
          model.series.map(({ name, points }) => [
            name,
            points.map(({ low, high, n }) => ({ low, high, n })),
          ]),
        ),
        isLogarithmic: chart.scales.y?.type === "logarithmic",
        shown: datasets.filter((_, i) => chart.isDatasetVisible(i)).map(({ label }) => label),
      };
    });
  }, id);
}
