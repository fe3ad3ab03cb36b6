/**
 * Chart.js plugin: corrects pointer positions under a CSS transform or zoom, for mouse and touch. Chart.js reads a
 * touch in scaled px, but draws the chart in unscaled px; the canvas gives the ratio of both.
 */
export const ScaledPointer = {
  id: "csvScaledPointer",

  beforeEvent(chart, args) {
    const { native } = args.event;
    const point = native?.touches?.[0] ?? native?.changedTouches?.[0] ?? native;
    if (point?.clientX === undefined) return;
    const rect = chart.canvas.getBoundingClientRect();
    if (rect.width === 0 || rect.height === 0) return;
    args.event.x = ((point.clientX - rect.left) * chart.width) / rect.width;
    args.event.y = ((point.clientY - rect.top) * chart.height) / rect.height;
    args.inChartArea = chart.isPointInArea(args.event);
  },
};
