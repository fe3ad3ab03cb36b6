/** For pages without modules: global `ChartCsv`, registered with the global `Chart`. */
import { Chart } from "chart.js";
import { Log2Scale } from "./log2-scale.js";
import { ChartCsv } from "./plugin.js";

export * from "./index.js";

// Labels and marks are for the page to register: they would show in charts that take nothing from CSV.
Chart.register(ChartCsv, Log2Scale);
