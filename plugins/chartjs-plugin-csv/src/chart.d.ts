// What a program cannot say in JSDoc: that Chart.js' own types and options now include those of the plugins here.
import type { CartesianScaleOptions, ChartType } from "chart.js";
import type { CsvOptions } from "./plugin.js";
import type { LabelOptions } from "./labels.js";
import type { MarkOptions } from "./marks.js";

type Log2ScaleOptions = CartesianScaleOptions & {
  suggestedMin?: number;
  suggestedMax?: number;
  ticks: { values?: number[]; maxTicksLimit?: number; between?: boolean };
};

declare module "chart.js" {
  interface ChartTypeRegistry {
    chain: ChartTypeRegistry["scatter"];
    dumbbell: ChartTypeRegistry["scatter"];
    forest: ChartTypeRegistry["scatter"];
    heatmap: ChartTypeRegistry["scatter"];
    quadrant: ChartTypeRegistry["scatter"];
    response: ChartTypeRegistry["scatter"];
    share: ChartTypeRegistry["scatter"];
    squares: ChartTypeRegistry["scatter"];
    strip: ChartTypeRegistry["scatter"];
  }
  interface PluginOptionsByType<TType extends ChartType> {
    csv?: CsvOptions | false;
    csvLabels?: LabelOptions | false;
    csvMarks?: MarkOptions | false;
  }
  interface CartesianScaleTypeRegistry {
    log2: { options: Log2ScaleOptions };
  }
}
