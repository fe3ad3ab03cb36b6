import { Chart, registerables } from "chart.js";
import { ChartCsv, EndLabels, Marks, kindOf, loadKind } from "chartjs-plugin-csv";
import { EXAMPLES } from "./examples.js";

Chart.register(...registerables, ChartCsv, EndLabels, Marks);
Chart.defaults.maintainAspectRatio = false;

const AXISLESS = ["pie", "radar"];

function element(name, text = "") {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

// With ?flip in the address each kind lies on its other side.
const isFlipped = new URLSearchParams(location.search).has("flip");
const otherAxis = (type) => ((Chart.overrides[type]?.indexAxis ?? "x") === "y" ? "x" : "y");
await Promise.all(EXAMPLES.map(({ type = "line" }) => loadKind(type)));

window.charts = EXAMPLES.map(({ title, type = "line", csv, data = { datasets: [] }, options = {} }) => {
  const section = element("section");
  const place = element("div");
  place.className = "place";
  const canvas = document.createElement("canvas");
  place.append(canvas);
  const shown = Object.keys(options).length ? `options: ${JSON.stringify(options, null, 2)}` : "";
  section.append(element("h2", title), place, element("pre", csv), element("pre", shown));
  document.querySelector("main").append(section);
  const plugins = { legend: { display: AXISLESS.includes(type) }, ...options.plugins };
  plugins.csv = { text: csv, ...plugins.csv };
  const lying = isFlipped && kindOf(type) ? { indexAxis: otherAxis(type) } : {};
  return new Chart(canvas, { type, data, options: { ...options, ...lying, plugins } });
});
