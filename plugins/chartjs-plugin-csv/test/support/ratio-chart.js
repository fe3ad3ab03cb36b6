/** A chart of ratios over I/O sizes, as tables and sentences read it. */

export const point = (x, y, more = {}) => ({ x, y, low: null, high: null, n: null, ...more });
export const bounded = (x, y, low, high, n = 10) => point(x, y, { low, high, n });
export const RATIO_AXES = { xLabel: "I/O size", xUnit: "bytes", yUnit: "ratio" };

export function ratioChart(heading, values, name = "With journal") {
  const xs = [4096, 65536, 4194304];
  return {
    kind: "line",
    heading,
    quantity: "Throughput: Without journal ÷ each line",
    model: {
      kind: "wide",
      xLabel: "I/O size",
      xs,
      series: [
        { name, points: xs.map((x, at) => bounded(x, values[at], values[at] - 0.5, values[at] + 0.5)) },
      ],
    },
    shown: [name],
    axes: RATIO_AXES,
  };
}
