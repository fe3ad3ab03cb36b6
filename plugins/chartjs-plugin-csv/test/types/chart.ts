/** What the README shows of a chart, as a program in strict TypeScript has it. */
import {
  CategoryScale,
  Chart,
  LineController,
  LineElement,
  LinearScale,
  PointElement,
  Tooltip,
} from "chart.js";
import ChartCsvDefault, {
  ChartCsv,
  CsvError,
  EndLabels,
  Log2Scale,
  Marks,
  PALETTE,
  companionUrl,
  csvOf,
  describePoint,
  drawTable,
  formatValue,
  loadKind,
  loadModel,
  runsUrl,
  readModel,
  seriesNames,
  styleOf,
  summarize,
  tablesOf,
  toHtmlTable,
  withSeries,
} from "chartjs-plugin-csv";
import type { CsvEventDetail, CsvOptions, Mark, Model, SeriesStyle } from "chartjs-plugin-csv";

Chart.register(LineController, LineElement, PointElement, LinearScale, CategoryScale, Tooltip);
Chart.register(ChartCsv, EndLabels, Marks, Log2Scale);
Chart.register([ChartCsvDefault]);

const canvas = document.querySelector("canvas") as HTMLCanvasElement;
const marks: Mark[] = [
  { axis: "y", value: 1, dash: [] },
  { axis: "x", low: 4096, high: null },
  { x: "a", y: 2 },
];
const csv: CsvOptions = {
  url: "csv/throughput-write-seq.csv",
  yUnit: "bytes_per_second",
  orientation: "columns",
  delimiter: ";",
  decimal: ",",
  comment: false,
  missing: ["NA"],
  styles: { "With journal": { color: "#c4500a" } },
  datasets: { "With journal": { borderColor: "red" } },
};
const chart = new Chart(canvas, {
  type: "line",
  data: { datasets: [] },
  options: {
    plugins: {
      csv,
      csvLabels: { font: { size: 20 } },
      csvMarks: { items: (one) => (one.width ? marks : []) },
    },
    scales: { x: { type: "log2", min: 4096 }, y: { type: "linear", beginAtZero: true } },
  },
});
const plain: Chart = new Chart(canvas, {
  type: "bar",
  data: { datasets: [] },
  options: { plugins: { csv: { text: "a,1\nb,2\n" }, csvLabels: false } },
});
await loadKind("forest");
const forest = new Chart(canvas, {
  type: "forest",
  data: { datasets: [] },
  options: { plugins: { csv: { url: "effects.csv", lineName: "no effect" } } },
});
await csvOf(forest)?.ready;

const changed: boolean | undefined = await csvOf(chart)?.ready;
const controller = csvOf(plain);
if (controller) {
  const model: Model | null = controller.model;
  await controller.change({ scale: "log", overlay: { url: "b.csv", label: "mine" } });
  if (model)
    console.log(summarize(withSeries(model, seriesNames("a | b")), { type: "line", notes: ["n", null] }));
}
// @ts-expect-error a chart may be without the plugin
csvOf(chart).ready.then(() => changed);
// @ts-expect-error there is no such orientation
const wrong: CsvOptions = { orientation: "sideways" };

const { model } = await loadModel("a.csv", { bands: "auto", reading: { delimiter: "\t" } });
const read: Model = readModel("x,a\n1,2\n", { orientation: "columns" });
const first = read.series[0]?.points[0];
if (first) console.log(describePoint(first, { yUnit: "seconds" }), formatValue(first.y, "ratio"));
document.body.append(toHtmlTable(model, { caption: "IOPS" }));
const axes = { xLabel: null, xUnit: null, yUnit: null };
for (const table of tablesOf([{ heading: null, quantity: null, model, shown: [], axes }]))
  document.body.append(drawTable(table, { details: false }));
const style: SeriesStyle = styleOf("a", { palette: PALETTE });
canvas.addEventListener("chart-csv:error", (event) => {
  const { detail } = event as CustomEvent<CsvEventDetail>;
  if (detail.error instanceof CsvError)
    console.log(detail.error.row, detail.error.kind === "ambiguous", style, wrong);
});
console.log(companionUrl("a.csv", "spread"), runsUrl("a.csv"));
