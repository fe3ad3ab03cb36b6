/** What the README shows of a deck, in strict TypeScript. */
import Reveal from "reveal.js";
import { RevealChartCsv } from "chartjs-plugin-csv/reveal";
import type { ChartSlot } from "chartjs-plugin-csv/reveal";

const charts = RevealChartCsv({
  styles: { "With journal": { color: "#c4500a" } },
  options: { plugins: { csv: { bands: "auto" } } },
  chartOptions: (kind, src) => (kind === "line" && src !== null ? { scales: { y: { min: 0 } } } : null),
  marks: (slot) => (slot.model ? [{ axis: "y", value: 1 }] : null),
  labelFor: (_, model) => `${model.series.length} series`,
  summaryFor: ({ model }) => (model ? null : "nothing yet"),
  alignIn: ".panels",
  shareIn: ".panels.shared",
});
const deck = new Reveal({ plugins: [charts] });
await deck.initialize();
await charts.ready();
const slots: ChartSlot[] = [...charts.charts.values()];
await charts.refresh((slot) => slot.moved || slot.reads("csv/a.csv"));
await charts.remake();
for (const slot of slots) {
  slot.setShown(slot.state.shown);
  slot.setRange({ low: 0, high: 1 });
  if (!(await slot.showRuns(true))) console.log(slot.runsError?.message);
}
