/** Opens pages in a real Chromium: decks of reveal.js with the plugin, and single charts without a deck. */
import assert from "node:assert/strict";
import { after, before, test as nodeTest } from "node:test";
import { SKIP, launchBrowser } from "./browser.js";
import { startServer } from "./server.js";

/** How many times longer deadlines are than the reference machine needs: they only end hangs. */
export const PATIENCE = Number(process.env.REPLAY_TEST_PATIENCE ?? 3);

const server = await startServer();
export const { csv, origin, requests, routes } = server;
/** The pages of the test that runs. */
const opened = [];
let browser;
before(async () => {
  if (!SKIP) browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await server.close();
});

/**
 * A test in a browser. Its pages keep nothing, are closed at its end, and fail it by any uncaught error or console error.
 * @param {string} name
 * @param {() => Promise<void>} body
 */
export function test(name, body) {
  nodeTest(name, { skip: SKIP, timeout: 90_000 * PATIENCE }, async () => {
    routes.clear();
    requests.length = 0;
    try {
      await body();
      assert.deepEqual(
        opened.flatMap(({ faults }) => faults),
        [],
      );
    } finally {
      await Promise.all(opened.splice(0).map((page) => page.close()));
    }
  });
}

/** The markup of a chart on a slide. */
export function canvas(src, kind = "line", inner = "", attributes = "") {
  return `<canvas data-chart="${kind}" data-chart-src="${src}" ${attributes}>${inner}</canvas>`;
}

/**
 * A deck of `sections` (HTML of the slides). `options` is the source text of the plugin's options, `config` of
 * further reveal.js settings, `reveal` the package of reveal.js. In the page `deck`, `plugin` and `Chart` are globals; `faults` collects what went wrong (a broken policy is a console error, too).
 */
export async function openDeck({
  sections,
  options = "{}",
  config = "{}",
  query = "",
  policy,
  css = "",
  reveal = "reveal.js",
  ...context
}) {
  const path = "/deck/";
  routes.set("/deck.css", { type: "text/css", body: css });
  server.page(path, {
    policy,
    reveal,
    head: `<link rel="stylesheet" href="/packages/${reveal}/dist/reveal.css"><link rel="stylesheet" href="/deck.css">`,
    body: `<div class="reveal"><div class="slides">${sections.map((s) => (s.startsWith("<section") ? s : `<section>${s}</section>`)).join("")}</div></div>`,
    script: `
      import Reveal from "reveal.js";
      import Markdown from "reveal.js/plugin/markdown";
      import { Chart } from "chart.js";
      import { RevealChartCsv } from "chartjs-plugin-csv/reveal";
      const plugin = RevealChartCsv(${options});
      const deck = new Reveal(document.querySelector(".reveal"), {
        width: 1280, height: 720, margin: 0, transition: "none", hash: false, embedded: false,
        plugins: [Markdown, plugin], ...${config},
      });
      Object.assign(window, { deck, plugin, Chart });
      await deck.initialize();
      window.started = true;`,
  });
  const page = await newPage(context);
  await page.goto(`${origin}${path}${query}`);
  await page.waitForFunction(() => window.started);
  if (!/print/.test(query)) await page.evaluate(() => window.plugin.ready());
  return page;
}

/** A single chart; `script` runs with `Chart`, the plugin's exports and `canvas` in scope. */
export async function openChart({ script, ...context }) {
  const path = "/chart/";
  server.page(path, {
    body: `<main><div id="place"><canvas id="chart"></canvas></div></main>`,
    script: `
      import { Chart, registerables } from "chart.js";
      import * as csv from "chartjs-plugin-csv";
      const { ChartCsv, csvOf, EndLabels, Log2Scale } = csv;
      Chart.register(...registerables, ChartCsv, EndLabels, Log2Scale);
      const canvas = document.getElementById("chart");
      Object.assign(window, { Chart, csv, csvOf, canvas });
      ${script}
      window.started = true;`,
  });
  const page = await newPage(context);
  await page.goto(`${origin}${path}`);
  await page.waitForFunction(() => window.started);
  return page;
}

const contexts = new Map();

/** A context for each kind of page, with an empty page: while it is open, the process of the site lives. */
async function contextOf(options) {
  const key = JSON.stringify(options);
  if (!contexts.has(key)) {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(30_000 * PATIENCE);
    const keeper = await context.newPage();
    await keeper.route("**", (route) => route.fulfill({ contentType: "text/html", body: "" }));
    await keeper.goto("http://127.0.0.1/");
    contexts.set(key, context);
  }
  return contexts.get(key);
}

async function newPage({
  viewport = { width: 1280, height: 720 },
  deviceScaleFactor = 1,
  hasTouch = false,
  colorScheme = "light",
}) {
  const context = await contextOf({ viewport, deviceScaleFactor, hasTouch, colorScheme });
  const page = await context.newPage();
  opened.push(page);
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) =>
      window.violations.push(event.violatedDirective),
    );
  });
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(String(error)));
  page.on("console", (message) => {
    // The browser also reports a 404 that the plugin expected and handled.
    if (message.type() === "error" && !/Failed to load resource/.test(message.text()))
      page.faults.push(message.text());
  });
  return page;
}

/** Goes to a slide; resolves when the charts near it are drawn. */
export async function goTo(page, at) {
  await page.evaluate((h) => window.deck.slide(h), at);
  await page.evaluate(() => window.plugin.ready());
}

/** How many pixels of the n-th canvas are painted. */
export function painted(page, n = 0) {
  return page.evaluate((index) => {
    const one = document.querySelectorAll("canvas")[index];
    const { data } = one.getContext("2d").getImageData(0, 0, one.width, one.height);
    let count = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i] !== 0) count += 1;
    return count;
  }, n);
}

/** Where the names of the n-th chart's series were drawn, in a chart of which size. */
export function labelsIn(page, n = 0) {
  return page.evaluate(async (index) => {
    const { placedLabels } = await import("/plugin/src/labels.js");
    const chart = window.Chart.getChart(document.querySelectorAll("canvas")[index]);
    return { labels: placedLabels(chart), width: chart.width, height: chart.height, area: chart.chartArea };
  }, n);
}

/** What the chart of the n-th canvas holds: labels, and per dataset its label, data and colour. Null without a chart. */
export function chartData(page, n = 0) {
  return page.evaluate((index) => {
    const chart = window.Chart.getChart(document.querySelectorAll("canvas")[index]);
    if (!chart) return null;
    const plain = (value) => JSON.parse(JSON.stringify(value ?? null));
    return {
      type: chart.config.type,
      labels: plain(chart.data.labels),
      datasets: chart.data.datasets.map(({ label, data, borderColor }) => ({
        label,
        data: plain(data),
        borderColor,
      })),
      size: { width: chart.width, height: chart.height, pixels: [chart.canvas.width, chart.canvas.height] },
      scales: Object.fromEntries(
        Object.entries(chart.scales).map(([id, scale]) => [
          id,
          { type: scale.type, min: scale.min, max: scale.max, ticks: scale.ticks.map((tick) => tick.label) },
        ]),
      ),
    };
  }, n);
}
