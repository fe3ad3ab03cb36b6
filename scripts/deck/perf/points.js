/** A chart over time of very many points, and a page of either side of the comparison that shows nothing else. Pure. */

export const POINTS = 100_000;
/** The file that the chart reads, beside the page. */
export const POINTS_FILE = "points.csv";

/** A slow wave, a fast one, and a spike now and then, like those of a replay lag. */
export function pointsCsv(count = POINTS) {
  const rows = Array.from({ length: count }, (_, at) => {
    const value = 3 + 2 * Math.sin(at / 9000) + Math.sin(at / 7) + (at % 997 === 0 ? 4 : 0);
    return `Replay lag,${(at / 10).toFixed(1)},${value.toFixed(4)},,,`;
  });
  return `${["series,x,y,low,high,n", ...rows].join("\n")}\n`;
}

const SLIDES = '<div class="slides">';

/** A page of a deck with that chart in place of its chapters. */
export function pointsPage(html) {
  const chart = `<canvas data-chart="line" data-chart-src="${POINTS_FILE}"></canvas>`;
  const slide = `<section id="points" data-timing="30"><h2>${POINTS} points</h2>${chart}</section>`;
  return html
    .replace(/<section data-markdown=[^]*?><\/section>/g, "")
    .replace(SLIDES, () => `${SLIDES}${slide}`);
}
