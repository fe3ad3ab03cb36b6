/** For pages without modules: global `ChartCsv`, registered with the global `Chart`. */
import { Chart } from "chart.js";
import { Log2Scale } from "./log2-scale.js";
import { ChartCsv } from "./plugin.js";

export * from "./index.js";

// The page registers labels and marks itself: here they would also appear in charts without CSV.
Chart.register(ChartCsv, Log2Scale);
