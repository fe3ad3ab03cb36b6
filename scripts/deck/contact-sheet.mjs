#!/usr/bin/env node
/** Takes screenshots of all slides and lays them out on sheets. */
/* global document -- in functions that run in the page */

import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import { optionsOf, requireCount, requireOneOf } from "../npm/program.mjs";
import { launchChromium } from "./chromium.js";
import { talkRoot } from "./data-sets.js";
import { startPresentServer } from "./server.js";
import { showSlide } from "./show-slide.js";
import { readTalkFile } from "./talk-file.js";

const HELP = `Takes a screenshot of every slide, with all steps shown, and combines them into sheets.

Usage: node scripts/deck/contact-sheet.mjs --out DIR [options]

  --out DIR      where to write <theme>-NN-<slide>.png and <theme>-sheet-N.png or .jpeg
  --data NAME    the data set to show
  --talk NAME    the talk slides/NAME/ (the lead)
  --theme NAME   light, dark or both (light)
  --cut MINUTES  only the slides of that cut, such as 20, and the appendix (the first in slides/<talk>/talk.yaml)
  --only TEXT    only slides whose id contains this text
  --no-appendix  without the slides of the appendix
  --width PX     width of a screenshot on the sheet (640)
  --columns N    screenshots side by side (3)
  --rows N       rows on a sheet (4)
  --type TYPE    of the sheets, png or jpeg, which is smaller (png)
  --help         show this text`;

const THEMES = { light: ["light"], dark: ["dark"], both: ["light", "dark"] };
const TYPES = ["png", "jpeg"];
const NUMBERS = ["width", "columns", "rows"];
const GAP_PX = 16;

const options = optionsOf({
  command: "node scripts/deck/contact-sheet.mjs",
  help: HELP,
  options: {
    out: { type: "string" },
    data: { type: "string" },
    talk: { type: "string" },
    theme: { type: "string", default: "light" },
    cut: { type: "string" },
    only: { type: "string", default: "" },
    "no-appendix": { type: "boolean", default: false },
    width: { type: "string", default: "640" },
    columns: { type: "string", default: "3" },
    rows: { type: "string", default: "4" },
    type: { type: "string", default: "png" },
  },
  check(values) {
    if (!values.out) throw new Error("--out DIR is missing");
    requireOneOf("theme", Object.keys(THEMES), values.theme);
    requireOneOf("type", TYPES, values.type);
    const cuts = readTalkFile(talkRoot()).cuts.map(({ minutes }) => minutes);
    requireOneOf("cut", cuts.toSorted((a, b) => a - b).map(String), values.cut);
    for (const name of NUMBERS) requireCount(name, values[name]);
  },
});
const out = path.resolve(options.out);
const [width, columns, rows] = NUMBERS.map((name) => Number(options[name]));

await mkdir(out, { recursive: true });
const server = await startPresentServer({ port: 0, data: options.data ?? null, followSources: false });
const browser = await launchChromium();
try {
  for (const theme of THEMES[options.theme]) {
    const photographs = await photograph(theme);
    const sheets = await layOut(photographs, theme);
    console.log(`${theme}: ${photographs.length} slides on ${sheets.join(", ")}`);
  }
} finally {
  await browser.close();
  await server.close();
}

/** Photographs the slides in one theme. @returns {Promise<{id: string, file: string}[]>} */
async function photograph(theme) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, reducedMotion: "reduce" });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) console.error(`page: ${message.text()}`);
  });
  const address = new URL(server.url);
  address.searchParams.set("theme", theme);
  if (options.cut) address.searchParams.set("cut", options.cut);
  await page.goto(address.href);
  await page.waitForSelector("html[data-deck-ready]");
  // All slides, those of the appendix included, which reveal does not count.
  const slides = await page.evaluate(() =>
    [...document.querySelectorAll(".slides section:not(.stack)")].map(({ id, dataset }) => ({
      id,
      isAppendix: dataset.visibility === "uncounted",
    })),
  );
  const taken = [];
  for (const [position, { id, isAppendix }] of slides.entries()) {
    if (!id.includes(options.only) || (isAppendix && options["no-appendix"])) continue;
    await page.evaluate(showSlide, { position });
    const file = path.join(out, `${theme}-${String(position).padStart(3, "0")}-${id}.png`);
    await page.screenshot({ path: file });
    taken.push({ id, file });
  }
  await page.close();
  return taken;
}

/** Lays photographs out, `columns` by `rows` on a sheet. @returns {Promise<string[]>} the sheets' names */
async function layOut(photographs, theme) {
  const perSheet = columns * rows;
  const sheets = [];
  for (let from = 0; from < photographs.length; from += perSheet) {
    const name = `${theme}-sheet-${sheets.length + 1}.${options.type}`;
    await writeSheet(photographs.slice(from, from + perSheet), path.join(out, name));
    sheets.push(name);
  }
  return sheets;
}

async function writeSheet(photographs, target) {
  const page = await browser.newPage({
    viewport: { width: width * columns + GAP_PX * (columns + 1), height: 100 },
  });
  const figures = photographs.map(
    ({ id, file }) =>
      `<figure><img src="${path.basename(file)}" alt=""><figcaption>${id}</figcaption></figure>`,
  );
  const html = path.join(out, "sheet.html");
  const style = `body{margin:${GAP_PX}px;display:grid;grid-template-columns:repeat(${columns},${width}px);gap:${GAP_PX}px;
    background:#888;font:16px sans-serif}figure{margin:0}img{width:${width}px;display:block}`;
  await writeFile(html, `<!doctype html><meta charset="utf-8"><style>${style}</style>${figures.join("")}`);
  await page.goto(`file://${html}`);
  await page.screenshot({ path: target, type: options.type, fullPage: true });
  await page.close();
  await rm(html);
}
