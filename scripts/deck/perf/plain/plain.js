/**
 * A plain deck, with which the talk is compared: as soon as the slides are there, it requests the files of all charts at
 * once, and draws each chart when its file has come; no bands, no labels, no decimation. Same versions of reveal.js and
 * Chart.js, same style sheets, same slides, same files.
 */

import { Chart, registerables } from "chart.js";
import Reveal from "reveal.js";
import RevealMarkdown from "reveal.js/plugin/markdown";

import "../../../../css/deck.css";

const STAGE_WIDTH = 1136;
const CHART_HEIGHT = 420;
const KINDS = ["bar", "line", "scatter"];

Chart.register(...registerables);

async function read(src) {
  const response = await fetch(src);
  return response.ok ? response.text() : "";
}

/** Splits at commas and line ends only. */
function datasetsOf(text) {
  const [header, ...rows] = text
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  const look = { borderWidth: 3, pointRadius: rows.length > 100 ? 0 : 5 };
  if (header[0] !== "series")
    return {
      labels: header.slice(1),
      datasets: rows.map(([label, ...cells]) => ({ ...look, label, data: cells.map(Number) })),
    };
  const series = new Map();
  for (const [label, x, y] of rows) {
    if (!series.has(label)) series.set(label, []);
    series.get(label).push({ x: Number(x), y: Number(y) });
  }
  return { datasets: [...series].map(([label, data]) => ({ ...look, label, data })) };
}

async function draw(canvas) {
  const inSlide = canvas.closest("section").querySelectorAll("canvas[data-chart]").length;
  canvas.width = inSlide > 1 ? STAGE_WIDTH / 2 : STAGE_WIDTH;
  canvas.height = inSlide > 2 ? CHART_HEIGHT / 2 : CHART_HEIGHT;
  const data = datasetsOf(await read(canvas.dataset.chartSrc));
  const kind = canvas.dataset.chart;
  const long = !data.labels && kind !== "bar";
  // What Chart.js does not have is here a line chart of which only the dots are drawn.
  const known = KINDS.includes(kind);
  new Chart(canvas, {
    type: known ? kind : "line",
    data,
    options: {
      responsive: false,
      animation: false,
      ...(!known && { showLine: false }),
      interaction: { mode: "nearest", axis: "x", intersect: false },
      ...(long && { scales: { x: { type: "linear" } } }),
    },
  });
  canvas.dispatchEvent(new Event("chart-csv:ready", { bubbles: true }));
}

const deck = new Reveal(document.querySelector(".reveal"), {
  width: 1280,
  height: 720,
  margin: 0,
  center: false,
  display: "flex",
  controls: false,
  hash: true,
  transition: "none",
  backgroundTransition: "none",
  plugins: [RevealMarkdown],
});
await deck.initialize();
await Promise.all([...document.querySelectorAll("canvas[data-chart]")].map(draw));

window.plain = { deck };
document.documentElement.dataset.deckReady = "true";
