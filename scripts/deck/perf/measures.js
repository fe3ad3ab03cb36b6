/** Measures one side of the comparison in a fresh browser profile, so that nothing is cached. */
/* global document, window, requestAnimationFrame -- in functions that run in the page */

import { gzipSync } from "node:zlib";

import { quantile } from "./report.js";

const VIEWPORT = { width: 1280, height: 720 };
const FRAMES_EACH = 8;
const PATIENCE_MS = 120_000;

/**
 * Opens the talk, waits until the charts of its slide are drawn, then changes slides; and opens the page of very many points.
 * @param {import("playwright-core").Browser} browser
 * @param {{talk: string, points: string}} addresses
 * @param {number} changes   how many slide changes
 * @returns {Promise<Record<string, number>>} milliseconds until the slide was seen, `firstSlide`, and until its charts were
 *   drawn, `chartsReady`; `scriptKilobytes` (of 1024 bytes) of the scripts that had arrived by then, each compressed by
 *   gzip; the longest frame of a change in milliseconds, `changeMedian` and `changeP95`; `canvasMegabytes` at the end;
 *   `pointsReady`, milliseconds until very many points were drawn
 */
export async function measure(browser, { talk, points }, changes) {
  const figures = await opened(browser, talk, async (page, seen) => {
    const scripts = await page.evaluate(scriptsBefore, seen.chartsReady);
    const frames = await page.evaluate(changeSlides, { changes, framesEach: FRAMES_EACH });
    return {
      ...seen,
      scriptKilobytes: await compressedKilobytes(page, scripts),
      changeMedian: quantile(frames, 0.5),
      changeP95: quantile(frames, 0.95),
      canvasMegabytes: (await page.evaluate(canvasBytes)) / 1e6,
    };
  });
  return { ...figures, pointsReady: await opened(browser, points, (_, { chartsReady }) => chartsReady) };
}

/** What `look` finds on a page whose charts are drawn. */
async function opened(browser, url, look) {
  const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: "reduce" });
  try {
    const page = await context.newPage();
    await page.addInitScript(watchLoading);
    await page.goto(url);
    await page.waitForFunction(() => window.perfSeen.chartsReady !== null, null, { timeout: PATIENCE_MS });
    await page.waitForSelector("html[data-deck-ready]", { timeout: PATIENCE_MS });
    return await look(page, await page.evaluate(() => window.perfSeen));
  } finally {
    await context.close();
  }
}

async function compressedKilobytes(page, addresses) {
  let bytes = 0;
  for (const address of addresses) {
    const response = await page.request.get(address);
    if (!response.ok()) throw new Error(`${address}: the server answered ${response.status()}`);
    bytes += gzipSync(await response.body()).length;
  }
  return bytes / 1024;
}

// In the page -----------------------------------------------------------------------------------------------------------

/**
 * Runs before the page's own scripts. Notes when the heading of the current slide, and when all of its charts, were
 * first visible: `performance.now()` of the frame, which is the time since the navigation began.
 */
function watchLoading() {
  const seen = (window.perfSeen = { firstSlide: null, chartsReady: null });
  const drawn = new WeakSet();
  document.addEventListener("chart-csv:ready", ({ target }) => drawn.add(target), true);

  const look = () => {
    const slide = document.querySelector(".reveal.ready .slides section.present:not(.stack)");
    const heading = slide?.querySelector("h1, h2");
    if (seen.firstSlide === null && heading?.getClientRects().length > 0 && heading.textContent.trim())
      seen.firstSlide = performance.now();
    const canvases = slide ? [...slide.querySelectorAll("canvas[data-chart]")] : [];
    if (seen.firstSlide !== null && canvases.length > 0 && canvases.every((canvas) => drawn.has(canvas)))
      seen.chartsReady = performance.now();
    if (seen.chartsReady === null) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** Addresses of the scripts that had arrived at a time, given in ms since the navigation began. */
function scriptsBefore(time) {
  return performance
    .getEntriesByType("resource")
    .filter(({ name, responseEnd }) => /\.m?js$/.test(new URL(name).pathname) && responseEnd <= time)
    .map(({ name }) => name);
}

/** Bytes of all canvases of the page: four for each pixel. */
function canvasBytes() {
  return [...document.querySelectorAll("canvas")].reduce(
    (sum, { width, height }) => sum + 4 * width * height,
    0,
  );
}

/**
 * Goes from slide to slide, and returns the longest frame after each change, in milliseconds.
 * @param {{changes: number, framesEach: number}} options   the number of changes, and of frames to wait after each
 */
async function changeSlides({ changes, framesEach }) {
  const { deck } = window.replay ?? window.plain;
  const slides = deck.getSlides();
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const from = slides.indexOf(deck.getCurrentSlide());
  const longest = [];
  let before = await nextFrame();
  for (let change = 1; change <= changes; change += 1) {
    const { h, v } = deck.getIndices(slides[(from + change) % slides.length]);
    deck.slide(h, v);
    let worst = 0;
    for (let frame = 0; frame < framesEach; frame += 1) {
      const now = await nextFrame();
      worst = Math.max(worst, now - before);
      before = now;
    }
    longest.push(worst);
  }
  return longest;
}
