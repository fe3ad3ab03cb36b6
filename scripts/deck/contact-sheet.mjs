#!/usr/bin/env node
/** Photographs every slide and lays the photographs out on one sheet. */
/* global document, window, requestAnimationFrame -- in functions that run in the page */

import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";

import { launchChromium } from "./chromium.js";
import { startPresentServer } from "./server.js";

const HELP = `Photographs every slide of the deck, with all fragments shown, and makes one sheet of them.

Usage: node scripts/deck/contact-sheet.mjs --out DIR [options]

  --out DIR      where to write NN-<slide>.png and sheet.png
  --data NAME    the data set to show
  --theme NAME   light or dark (light)
  --columns N    of the sheet (4)
  --only TEXT    only slides whose id contains this text
  --help         this text`;

const { values: options } = parseArgs({
  options: {
    out: { type: "string" },
    data: { type: "string" },
    theme: { type: "string", default: "light" },
    columns: { type: "string", default: "4" },
    only: { type: "string", default: "" },
    help: { type: "boolean", short: "h" },
  },
});
if (options.help || !options.out) {
  console.log(HELP);
  process.exit(options.help ? 0 : 2);
}

const out = path.resolve(options.out);
await mkdir(out, { recursive: true });
const server = await startPresentServer({ port: 0, data: options.data ?? null });
const browser = await launchChromium();
try {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 720 },
    reducedMotion: "reduce",
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) console.error(`page: ${message.text()}`);
  });
  const address = new URL(server.url);
  address.searchParams.set("theme", options.theme);
  await page.goto(address.href);
  await page.waitForSelector("html[data-deck-ready]");
  // All slides, those of the appendix included, which reveal does not count.
  const ids = await page.evaluate(() =>
    [...document.querySelectorAll(".slides section:not(.stack)")].map((s) => s.id),
  );
  const photographs = [];
  for (const [position, id] of ids.entries()) {
    if (!id.includes(options.only)) continue;
    await page.evaluate(async (at) => {
      const { deck, charts } = window.replay;
      const slide = document.querySelectorAll(".slides section:not(.stack)")[at];
      const { h, v } = deck.getIndices(slide);
      deck.slide(h, v, slide.querySelectorAll(".fragment").length - 1);
      await charts.ready();
      const slots = [...slide.querySelectorAll("canvas[data-chart]")].map((canvas) =>
        charts.charts.get(canvas),
      );
      // A chart beyond those that are made ahead is made when it comes into sight.
      for (let frame = 0; frame < 200 && slots.some(({ model, error }) => !model && !error); frame += 1) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    }, position);
    const file = path.join(out, `${String(position).padStart(2, "0")}-${id}.png`);
    await page.screenshot({ path: file });
    photographs.push(file);
  }
  await writeSheet(browser, photographs, Number(options.columns), path.join(out, "sheet.png"));
  console.log(`${photographs.length} slides, and ${path.join(options.out, "sheet.png")}`);
} finally {
  await browser.close();
  await server.close();
}

async function writeSheet(chromium, files, columns, target) {
  const page = await chromium.newPage({
    viewport: { width: 640 * columns + 16 * (columns + 1), height: 400 },
  });
  const images = files.map((file) => `<img src="file://${file}">`).join("");
  const html = path.join(out, "sheet.html");
  await writeFile(
    html,
    `<style>body{margin:16px;display:grid;grid-template-columns:repeat(${columns},640px);gap:16px;background:#888}img{width:640px;display:block}</style>${images}`,
  );
  await page.goto(`file://${html}`);
  await page.screenshot({ path: target, fullPage: true });
  await page.close();
  await rm(html);
}
