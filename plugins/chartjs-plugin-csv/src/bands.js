/**
 * Draws the model's `low` to `high`: as a translucent band behind a line, as whiskers on bars and scattered points.
 * The bounds stay out of `chart.data`, whose datasets hold the file's values and nothing else.
 */

const BAND_ALPHA = 0.16;
/** Half the width of a whisker's ends, px. */
const WHISKER = 6;

/**
 * Runs of consecutive points that have both bounds. A gap in the data is a gap in the band, unless the line itself
 * is drawn across it (`spanGaps`). Pure.
 */
export function boundedRuns(points, spanGaps = false) {
  const runs = [];
  let run = null;
  points.forEach((point, index) => {
    if (point.low === null || point.high === null) {
      if (!spanGaps) run = null;
      return;
    }
    if (!run) runs.push((run = []));
    run.push({ ...point, index });
  });
  return runs;
}

/** Smallest low and largest high of a model's series, or null where it has none. Pure. */
export function boundsOf(series) {
  let bounds = null;
  for (const { points } of series) {
    for (const { low, high } of points) {
      if (low === null || high === null) continue;
      bounds = bounds ? { low: Math.min(bounds.low, low), high: Math.max(bounds.high, high) } : { low, high };
    }
  }
  return bounds;
}

/** Draws within the chart area, `margin` px wider at both sides (whiskers at the first and last x stay whole). */
function clipped(chart, margin, draw) {
  const { ctx, chartArea } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(chartArea.left - margin, chartArea.top, chartArea.width + 2 * margin, chartArea.height);
  ctx.clip();
  draw(ctx);
  ctx.restore();
}

function visibleSeries(chart, model) {
  return model.series
    .map((series) => ({ series, index: chart.data.datasets.findIndex(({ label }) => label === series.name) }))
    .filter(({ index }) => index >= 0 && chart.isDatasetVisible(index));
}

/** A line from high to low with ends, at a point that no band can show. */
function strokeWhisker(ctx, centre, top, bottom) {
  ctx.beginPath();
  ctx.moveTo(centre, top);
  ctx.lineTo(centre, bottom);
  for (const end of [top, bottom]) {
    ctx.moveTo(centre - WHISKER, end);
    ctx.lineTo(centre + WHISKER, end);
  }
  ctx.stroke();
}

/** Bands of a line chart, and whiskers at points that stand alone; call before the datasets are drawn. */
export function drawBands(chart, model) {
  const { x, y } = chart.scales;
  clipped(chart, WHISKER + 1, (ctx) => {
    ctx.lineWidth = 2;
    for (const { series, index } of visibleSeries(chart, model)) {
      const dataset = chart.data.datasets[index];
      ctx.fillStyle = ctx.strokeStyle = dataset.borderColor;
      for (const run of boundedRuns(series.points, Boolean(dataset.spanGaps))) {
        if (run.length < 2) {
          ctx.globalAlpha = 1;
          const [{ x: at, low, high }] = run;
          strokeWhisker(ctx, pixelOf(x, at), y.getPixelForValue(high), y.getPixelForValue(low));
          continue;
        }
        ctx.globalAlpha = BAND_ALPHA;
        ctx.beginPath();
        for (const point of run) ctx.lineTo(pixelOf(x, point.x), y.getPixelForValue(point.high));
        for (const point of run.reverse()) ctx.lineTo(pixelOf(x, point.x), y.getPixelForValue(point.low));
        ctx.closePath();
        ctx.fill();
      }
    }
  });
}

/** Whiskers of bars and scattered points; call after the datasets are drawn. */
export function drawWhiskers(chart, model, color) {
  const { y } = chart.scales;
  clipped(chart, WHISKER + 1, (ctx) => {
    ctx.lineWidth = 2;
    for (const { series, index } of visibleSeries(chart, model)) {
      const elements = chart.getDatasetMeta(index).data;
      ctx.strokeStyle = chart.config.type === "bar" ? color : chart.data.datasets[index].borderColor;
      for (const run of boundedRuns(series.points)) {
        for (const { index: at, x: xValue, low, high } of run) {
          const centre = elements[at]?.x ?? pixelOf(chart.scales.x, xValue);
          strokeWhisker(ctx, centre, y.getPixelForValue(high), y.getPixelForValue(low));
        }
      }
    }
  });
}

function pixelOf(scale, value) {
  return scale.getPixelForValue(scale.type === "category" ? scale.getLabels().indexOf(value) : value);
}
