#!/usr/bin/env node
/** Films the recorded run of a slide: an animated PNG of its charts as they fill, such as the README's. */
/* global document, window -- in functions that run in the page */

import { writeFile } from "node:fs/promises";

import { optionsOf, requireCount } from "../npm/program.mjs";
import { animatedPng } from "./animated-png.js";
import { launchChromium } from "./chromium.js";
import { startPresentServer } from "./server.js";

const HELP = `Films the recorded run of a slide as an animated PNG.

Usage: node scripts/deck/moving-picture.mjs --out FILE --slide ID [options]

  --out FILE     where to write it
  --slide ID     the slide, whose charts fill as they did while they were measured
  --clicks N     how often to click first, on a slide that shows its charts step by step (0)
  --data NAME    the data set to show
  --seconds N    how long the film is (8)
  --width PX     its width (800)
  --help         show this text`;

const STAGE = { width: 1280, height: 720 };
const FRAMES_A_SECOND = 4;
/** How long the last picture stays before the film begins again. */
const LAST_SECONDS = 3;

const options = optionsOf({
  command: "node scripts/deck/moving-picture.mjs",
  help: HELP,
  options: {
    out: { type: "string" },
    slide: { type: "string" },
    clicks: { type: "string" },
    data: { type: "string" },
    seconds: { type: "string", default: "8" },
    width: { type: "string", default: "800" },
  },
  check(values) {
    for (const name of ["out", "slide"]) if (!values[name]) throw new Error(`--${name} is missing`);
    for (const name of ["clicks", "seconds", "width"]) requireCount(name, values[name]);
  },
});

const seconds = Number(options.seconds);
const server = await startPresentServer({ port: 0, data: options.data ?? null, followSources: false });
const browser = await launchChromium();
try {
  const page = await browser.newPage({
    viewport: STAGE,
    deviceScaleFactor: Number(options.width) / STAGE.width,
  });
  const address = new URL(server.url);
  // The deck plays no run in less than five seconds.
  address.searchParams.set("run", String(Math.max(5, seconds)));
  address.searchParams.set("theme", "light");
  address.hash = `#/${options.slide}`;
  await page.goto(address.href);
  await page.waitForSelector("html[data-deck-ready]");
  const shown = await page.evaluate(() => window.replay.deck.getCurrentSlide().id);
  if (shown !== options.slide) throw new Error(`there is no slide “${options.slide}”`);
  for (let click = 0; click < Number(options.clicks ?? 0); click += 1)
    await page.keyboard.press("ArrowRight");
  const pictures = await film(page, seconds * FRAMES_A_SECOND);
  const bytes = animatedPng(pictures, {
    millisecondsEach: 1000 / FRAMES_A_SECOND,
    lastMilliseconds: LAST_SECONDS * 1000,
  });
  await writeFile(options.out, bytes);
  console.log(`${options.out}: ${pictures.length} pictures, ${Math.round(bytes.length / 1000)} KB`);
} finally {
  await browser.close();
  await server.close();
}

/** Photographs the page at even distances. @returns {Promise<Buffer[]>} PNGs */
async function film(page, count) {
  const began = performance.now();
  const pictures = [];
  for (let number = 0; number < count; number += 1) {
    const due = began + (number * 1000) / FRAMES_A_SECOND;
    await page.waitForTimeout(Math.max(0, due - performance.now()));
    pictures.push(await page.screenshot());
  }
  await page.keyboard.press("q");
  await page.evaluate(() => document.fonts.ready);
  await page.waitForTimeout(1000);
  return [...pictures, await page.screenshot()];
}
