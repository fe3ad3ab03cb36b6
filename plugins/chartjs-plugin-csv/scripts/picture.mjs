#!/usr/bin/env node
/** Photographs the first charts of the demo, for the README: `node scripts/picture.mjs`. */
/* global document, window -- in functions that run in the page */

import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";
import { createServer } from "vite";

import { BROWSER, FLAGS } from "../test/support/deck.js";

const DEMO = fileURLToPath(new URL("../demo", import.meta.url));
const SHOWN = 2;

const server = await createServer({ root: DEMO, configFile: false, logLevel: "silent", server: { port: 0 } });
await server.listen();
const browser = await chromium.launch({ executablePath: BROWSER.path, args: FLAGS });
try {
  const page = await browser.newPage({ viewport: { width: 880, height: 700 }, colorScheme: "light" });
  await page.goto(server.resolvedUrls.local[0]);
  await page.waitForFunction(() => window.charts);
  await page.evaluate((shown) => {
    const main = document.querySelector("main");
    [...main.children].slice(shown).forEach((section) => section.remove());
    main.querySelectorAll("pre").forEach((text) => text.remove());
    main.style.cssText = "width: 848px; padding: 0 16px; background: #fff";
  }, SHOWN);
  await page.waitForTimeout(1000); // charts take their new size
  await page.locator("main").screenshot({ path: `${DEMO}/charts.png` });
} finally {
  await browser.close();
  await server.close();
}
