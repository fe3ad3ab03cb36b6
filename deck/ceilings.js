/**
 * Reference lines: `<canvas data-chart-ceiling="media_write_bytes_per_second">` draws what the data set's baseline found
 * that nothing can exceed, as a dashed line with its name. Several names are parted by blanks. A data set without that
 * ceiling, or a chart of another unit, has no line.
 */

import { formatValue } from "chartjs-plugin-csv";

import { unbroken } from "./format.js";

const DASH = [14, 8];
/** Of a line's name, px: its size, and how far apart the names of close lines stay. */
const FONT_SIZE = 20;
const LINE_HEIGHT = 24;
/** Of the greatest value that an axis has to show, so that the line is no part of the frame. */
const HEADROOM = 1.06;
const SCALED = /_(?:bytes|operations)_per_second$/;

/**
 * The ceilings that a canvas asks for, as far as a manifest has them.
 * @param {string|undefined} names   the attribute's value
 * @param {object|null} manifest
 * @returns {{name: string, words: string, unit: string, value: number, text: string, n: number}[]} greatest first
 */
export function ceilingsOf(names, manifest) {
  return namesIn(names)
    .map((name) => {
      const found = Object.hasOwn(manifest?.ceilings ?? {}, name) ? manifest.ceilings[name] : {};
      const { unit, n } = found;
      const value = found[`median_${unit}`];
      if (!Number.isFinite(value)) return null;
      const words = name.replace(SCALED, "").replaceAll("_", " ");
      return { name, words, unit, value, n, text: `${words}: ${formatValue(value, unit)}` };
    })
    .filter(Boolean)
    .sort((a, b) => b.value - a.value);
}

/** The names that an attribute holds. */
export function namesIn(names) {
  return (names ?? "").split(/\s+/).filter(Boolean);
}

/** A sentence on a slide's lines, for who cannot see them; empty where it has none. */
export function ceilingWords(ceilings) {
  const texts = new Set(ceilings.map(({ text, n }) => `${text} (n = ${n})`));
  return texts.size ? unbroken(`dashed: ${[...texts].join(", ")}`) : "";
}

/**
 * The Chart.js plugin. It is inert in charts whose canvas asks for no ceiling.
 * @param {{manifestOf: (src: string) => object|null, entryOf: (src: string) => object|null,
 *          colorOf: (token: string) => string}} data   of a chart's address as written on the slide
 */
export function CeilingLines({ manifestOf, entryOf, colorOf }) {
  const linesOf = ({ canvas }) => {
    const { chartCeiling, chartSrc } = canvas.dataset;
    if (!chartCeiling || !chartSrc) return [];
    const unit = entryOf(chartSrc)?.y?.unit;
    return ceilingsOf(chartCeiling, manifestOf(chartSrc)).filter((one) => one.unit === unit);
  };
  return {
    id: "replayCeilings",

    /** The axis reaches up to the highest line, unless somebody set its end. */
    afterDataLimits(chart, { scale }) {
      if (scale.axis !== "y" || scale.getUserBounds().maxDefined) return;
      const [highest] = linesOf(chart);
      if (highest) scale.max = Math.max(scale.max, highest.value * HEADROOM);
    },

    afterDatasetsDraw(chart) {
      const { ctx, chartArea, scales } = chart;
      const lines = linesOf(chart);
      if (lines.length === 0 || !scales.y) return;
      ctx.save();
      const [ink, page] = ["--ink", "--page"].map(colorOf);
      ctx.fillStyle = ink;
      ctx.lineJoin = "round";
      ctx.font = `600 ${FONT_SIZE}px ${getComputedStyle(chart.canvas).fontFamily}`;
      ctx.textAlign = "left";
      // Below its line: above it may be the frame.
      ctx.textBaseline = "top";
      let free = -Infinity;
      for (const { value, text } of lines) {
        const y = scales.y.getPixelForValue(value);
        if (y < chartArea.top || y > chartArea.bottom) continue;
        ctx.strokeStyle = ink;
        ctx.lineWidth = 2;
        ctx.setLineDash(DASH);
        ctx.beginPath();
        ctx.moveTo(chartArea.left, y);
        ctx.lineTo(chartArea.right, y);
        ctx.stroke();
        const top = Math.max(y + 5, free);
        free = top + LINE_HEIGHT;
        // The colour of the page around it, so that it can be read over lines and bands.
        ctx.strokeStyle = page;
        ctx.lineWidth = 5;
        ctx.setLineDash([]);
        ctx.strokeText(text, chartArea.left + 10, top);
        ctx.fillText(text, chartArea.left + 10, top);
      }
      ctx.restore();
    },
  };
}
