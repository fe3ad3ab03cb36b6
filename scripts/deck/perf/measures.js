/** Measures one side of the comparison in a fresh browser profile, so that nothing is cached. */
/* global window -- in functions that run in the page */

import { gzipSync } from "node:zlib";

import { canvasBytes, changeSlides, recordFrames, scriptsBefore, watchLoading } from "./in-page.js";
import { quantile } from "./statistics.js";

const VIEWPORT = { width: 1280, height: 720 };
const FRAMES_EACH = 8;
const HOVER_STEPS = 40;
const PATIENCE_MS = 120_000;

/**
 * Opens a page and waits until the charts of its slide are drawn; `more` is called with the page for further measures.
 * @returns {Promise<Record<string, number>>} milliseconds: `firstSlide`, `chartsReady`; `scriptKilobytes` (of 1024 bytes) of
 *   all scripts that had arrived by then, each compressed by gzip; and the results of `more`
 */
export async function measureLoad(browser, url, more = () => ({})) {
  const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: "reduce" });
  try {
    const page = await context.newPage();
    await page.addInitScript(watchLoading);
    await page.goto(url);
    await page.waitForFunction(() => window.perfSeen.chartsReady !== null, null, { timeout: PATIENCE_MS });
    await page.waitForSelector("html[data-deck-ready]", { timeout: PATIENCE_MS });
    const seen = await page.evaluate(() => window.perfSeen);
    const scripts = await page.evaluate(scriptsBefore, seen.chartsReady);
    const further = await more(page);
    return { ...seen, scriptKilobytes: await compressedKilobytes(page, scripts), ...further };
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

/** The longest frames of slide changes, and the memory of canvases afterwards. */
export async function measureChanges(page, changes) {
  const frames = await page.evaluate(changeSlides, { changes, framesEach: FRAMES_EACH });
  const bytes = await page.evaluate(canvasBytes);
  return {
    changeMedian: quantile(frames, 0.5),
    changeP95: quantile(frames, 0.95),
    canvasMegabytes: bytes / 1e6,
  };
}

/** The frames while the pointer moves along the chart and the tooltip follows it. */
export async function measureHover(page) {
  const box = await page.locator("section.present canvas[data-chart]").first().boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + 0.1 * box.width, y);
  await page.evaluate(recordFrames);
  for (let step = 0; step < HOVER_STEPS; step += 1)
    await page.mouse.move(box.x + (0.1 + (0.8 * step) / HOVER_STEPS) * box.width, y);
  const frames = await page.evaluate(() => window.perfFrames());
  return { hoverMedian: quantile(frames, 0.5), hoverP95: quantile(frames, 0.95) };
}
