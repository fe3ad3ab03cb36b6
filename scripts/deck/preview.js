/** The picture that messengers show of the site: the title slide of the very site that was built, photographed. */
/* global document, window -- in functions that run in the page */

import { launchChromium } from "./chromium.js";
import { serveFolder } from "./static-server.js";

/** Pixels, as services want them. */
export const PREVIEW = { width: 1200, height: 630 };
/** The stage is 16:9 and the picture a little wider: what is above and below its margins is cut. */
const STAGE = { width: 1280, height: 720 };
const READY_MS = 30_000;

/** The built site does not start in a browser. */
export class SiteDoesNotStart extends Error {}

/**
 * @param {string} folder   a built site
 * @param {{dataSet?: string|null, patience?: number}} [options]   dataSet: what to show instead of what the slides name;
 *   patience: milliseconds that the site may take to start
 * @returns {Promise<{png: Buffer, alt: string}>}
 * @throws {SiteDoesNotStart} with what the page complained of; {Error} when Chromium cannot be started
 */
export async function photographTitle(folder, { dataSet = null, patience = READY_MS } = {}) {
  const browser = await launchChromium();
  let server;
  try {
    server = await serveFolder(folder);
    const page = await browser.newPage({
      viewport: STAGE,
      deviceScaleFactor: PREVIEW.width / STAGE.width,
      reducedMotion: "reduce",
    });
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    const data = dataSet === null ? "" : `&data=${encodeURIComponent(dataSet)}`;
    await page.goto(`${server.url}?stage&theme=light${data}`);
    await page.waitForSelector("html[data-deck-ready]", { timeout: patience }).catch((error) => {
      throw new SiteDoesNotStart(complaints.join("; ") || error.message.split("\n", 1)[0], { cause: error });
    });
    const alt = await page.evaluate(async () => {
      window.replay.deck.configure({ progress: false, slideNumber: false, controls: false });
      await document.fonts.ready;
      return window.replay.deck.getCurrentSlide().querySelector("h1, h2")?.innerText.trim() ?? "";
    });
    const height = (STAGE.width * PREVIEW.height) / PREVIEW.width;
    const clip = { x: 0, y: (STAGE.height - height) / 2, width: STAGE.width, height };
    return { png: await page.screenshot({ clip }), alt: `Title slide: ${alt}` };
  } finally {
    await browser.close();
    await server?.close();
  }
}
