/** A claim's ratio as a small picture: the point, its interval, the region that the claim needs, and a line at 1. */

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 160;
const HEIGHT = 28;

/**
 * The positions of the parts, on a logarithmic axis that covers the interval, the region and 1. Pure.
 * @param {{estimate: number|null, low: number|null, high: number|null, region: {low: number|null, high: number|null}}} condition
 * @param {number} [width]   px
 * @param {object[]} [among]   the conditions that share its axis
 * @returns {{one: number, region: [number, number], interval: [number, number]|null, point: number}|null} px;
 *   null without an estimate
 */
export function forestPlot(condition, width = WIDTH, among = [condition]) {
  const { estimate, low, high, region } = condition;
  if (!(estimate > 0)) return null;
  const ends = [1, ...among.flatMap(endsOf)].filter((value) => value > 0);
  const from = Math.log(Math.min(...ends) / 1.25);
  const to = Math.log(Math.max(...ends) * 1.25);
  const at = (value) => ((Math.log(value) - from) / (to - from)) * width;
  return {
    one: at(1),
    region: [region.low > 0 ? at(region.low) : 0, region.high > 0 ? at(region.high) : width],
    interval: low > 0 && high > 0 ? [at(low), at(high)] : null,
    point: at(estimate),
  };
}

function endsOf({ estimate, low, high, region }) {
  return [estimate, low, high, region.low, region.high];
}

/**
 * Draws a condition of a claim.
 * @param {object} condition   as claims.json has it
 * @param {Document} page
 * @param {{width?: number, among?: object[]}} [options]   as `forestPlot` takes them
 * @returns {SVGElement|null} null without an estimate
 */
export function drawForestPlot(condition, page, { width = WIDTH, among } = {}) {
  const plot = forestPlot(condition, width, among);
  if (!plot) return null;
  const svg = page.createElementNS(SVG, "svg");
  const set = (element, attributes) => {
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const add = (name, attributes) => svg.append(set(page.createElementNS(SVG, name), attributes));
  set(svg, {
    viewBox: `0 0 ${width} ${HEIGHT}`,
    width,
    height: HEIGHT,
    role: "img",
    "aria-label": `${condition.says}: ${condition.reason}`,
  });
  const middle = HEIGHT / 2;
  const [left, right] = plot.region;
  add("rect", { class: "region", x: left, y: 4, width: Math.max(1, right - left), height: HEIGHT - 8 });
  add("path", { class: "one", d: `M${plot.one} 0V${HEIGHT}` });
  if (plot.interval)
    add("path", { class: "interval", d: `M${plot.interval[0]} ${middle}H${plot.interval[1]}` });
  add("circle", { class: "point", cx: plot.point, cy: middle, r: 5 });
  return svg;
}
