/** The picture that messengers show of the site: one slide of the very site that was built, photographed at its last step. */
/* global document, window -- in functions that run in the page */

import { pictureIsASlide } from "./check/rules.js";
import { InvalidFile } from "./checked-yaml.js";
import { launchChromium } from "./chromium.js";
import { showSlide } from "./show-slide.js";
import { serveFolder } from "./static-server.js";

/** Pixels, as services want them. */
export const PREVIEW = { width: 1200, height: 630 };
/** The stage is 16:9 and the picture a little wider, so the stage has margins left and right. */
const WINDOW = { width: 1280, height: (1280 * PREVIEW.height) / PREVIEW.width };
const READY_MS = 30_000;

/** The built site does not start in a browser. */
export class SiteDoesNotStart extends Error {}

/**
 * The slide that is photographed: the one that the talk names, else its first with a chart, else its first. Pure.
 * @param {import("./talk-file.js").TalkFile} stated
 * @param {{slides: import("./check/chapters.js").Slide[]}[]} chapters
 * @returns {string} its id
 * @throws {InvalidFile} if the talk names a slide that it does not have
 */
export function slideOfPicture(stated, chapters) {
  const slides = chapters.flatMap((chapter) => chapter.slides).filter(({ front }) => !front);
  const [problem] = pictureIsASlide({ stated, slides });
  if (problem) throw new InvalidFile(`${problem.file}:${problem.line}: ${problem.message}`);
  const charted = slides.find(({ text }) => /<canvas\s[^>]*data-chart=/.test(text));
  return stated.picture ?? (charted ?? slides[0]).id;
}

/**
 * @param {string} folder   a built site
 * @param {{slide: string, dataSet?: string|null, patience?: number}} wanted   slide: its id; dataSet: what to show instead of
 *   what the slides name; patience: milliseconds that the site may take to start
 * @returns {Promise<{png: Buffer, alt: string}>} alt: what the slide's charts say of themselves, else its title
 * @throws {SiteDoesNotStart} with what the page complained of; {Error} when Chromium cannot be started
 */
export async function photographSlide(folder, { slide, dataSet = null, patience = READY_MS }) {
  const browser = await launchChromium();
  let server;
  try {
    server = await serveFolder(folder);
    const page = await browser.newPage({
      viewport: WINDOW,
      deviceScaleFactor: PREVIEW.width / WINDOW.width,
      reducedMotion: "reduce",
    });
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    const data = dataSet === null ? "" : `&data=${encodeURIComponent(dataSet)}`;
    await page.goto(`${server.url}?stage&theme=light${data}#/${slide}`);
    await page.waitForSelector("html[data-deck-ready]", { timeout: patience }).catch((error) => {
      throw new SiteDoesNotStart(complaints.join("; ") || error.message.split("\n", 1)[0], { cause: error });
    });
    const position = await page.evaluate(() => {
      const { deck } = window.replay;
      deck.configure({ slideNumber: false, controls: false });
      document.querySelector(".minutes").remove();
      return [...document.querySelectorAll(".slides section:not(.stack)")].indexOf(deck.getCurrentSlide());
    });
    await page.evaluate(showSlide, { position });
    const alt = await page.evaluate(async () => {
      await document.fonts.ready;
      const shown = window.replay.deck.getCurrentSlide();
      const charts = shown.querySelectorAll("canvas[data-chart]:not([data-when][hidden] *)");
      const labels = [...charts].map((canvas) => canvas.getAttribute("aria-label")).filter(Boolean);
      return labels.join(" ") || (shown.querySelector("h1, h2")?.innerText.trim() ?? "");
    });
    return { png: await page.screenshot(), alt };
  } finally {
    await browser.close();
    await server?.close();
  }
}
