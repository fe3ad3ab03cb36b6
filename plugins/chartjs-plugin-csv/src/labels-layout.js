/**
 * Places labels along a vertical line so that none overlaps another, their order is that of `wanted`, all stay
 * within [top, bottom], and the sum of squared shifts is least. Pure.
 *
 * If the labels do not fit, heights and gap shrink by the common factor `scale` (< 1).
 *
 * @param {{y: number, height: number}[]} wanted desired centres, in px; sorted by y, ties in the given order
 * @param {{top: number, bottom: number, gap?: number}} bounds
 * @returns {{centres: number[], scale: number}} centres in the order of `wanted`
 */
export function placeLabels(wanted, { top, bottom, gap = 0 }) {
  if (wanted.length === 0) return { centres: [], scale: 1 };
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a].y - wanted[b].y || a - b);
  const needed = wanted.reduce((sum, { height }) => sum + height, 0) + gap * (wanted.length - 1);
  const room = Math.max(0, bottom - top);
  const scale = needed > room ? room / needed : 1;
  const heights = order.map((i) => wanted[i].height * scale);

  // With d_i the least distance of label i from label 0, centres c keep apart where z = c − d does not decrease:
  // an isotonic regression, solved by pooling adjacent violators.
  const distances = [0];
  for (let i = 1; i < heights.length; i += 1) {
    distances.push(distances[i - 1] + (heights[i - 1] + heights[i]) / 2 + gap * scale);
  }
  const pools = [];
  order.forEach((index, i) => {
    pools.push({ sum: wanted[index].y - distances[i], size: 1 });
    while (pools.length > 1 && mean(pools.at(-2)) > mean(pools.at(-1))) {
      const last = pools.pop();
      pools.at(-1).sum += last.sum;
      pools.at(-1).size += last.size;
    }
  });
  const low = top + heights[0] / 2;
  const high = Math.max(low, bottom - heights.at(-1) / 2 - distances.at(-1));
  const centres = new Array(wanted.length);
  let i = 0;
  for (const pool of pools) {
    const z = Math.min(high, Math.max(low, mean(pool)));
    for (let k = 0; k < pool.size; k += 1, i += 1) centres[order[i]] = z + distances[i];
  }
  return { centres, scale };
}

function mean({ sum, size }) {
  return sum / size;
}

/** Whether two boxes overlap. Boxes that only touch do not. Pure. */
export function overlap(box, other) {
  return box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
}

/** Whether a box is completely within an area. Pure. */
export function isInside(box, area) {
  return box.left >= area.left && box.right <= area.right && box.top >= area.top && box.bottom <= area.bottom;
}

/**
 * Breaks a name into lines no wider than `maxWidth` between its words, as `wordsOf` tells them, and a wider word after its
 * hyphens; what is left of it may be wider.
 * @param {(text: string) => number} measure width of a text
 */
export function wrapLabel(name, maxWidth, measure) {
  const lines = [];
  for (const word of wordsOf(name))
    (measure(word) > maxWidth ? word.split(/(?<=-)/) : [word]).forEach((part, at) => {
      const longer = lines.at(-1) + (at ? "" : " ") + part;
      if (lines.length && measure(longer) <= maxWidth) lines[lines.length - 1] = longer;
      else lines.push(part);
    });
  return lines;
}

/** What stays on one line: words, a number with what it counts, and what follows a middle dot. Pure. */
export function wordsOf(name) {
  return name.split(/(?<![·\d]) /);
}

/**
 * How names are written in the strip beside a chart: by the first plan in which their lines fit the height, else by the
 * last one. Pure.
 * @template {{width: number, height: number, size: number, lineHeight: number, gap: number}} Plan   width of the strip,
 *   available height, size of the font, height of a line in units of it, and gap between names; px
 * @param {string[]} names
 * @param {Plan[]} plans   the best first
 * @param {(text: string, size: number) => number} measure   width of a text
 * @returns {{plan: Plan, lines: string[][]}} the lines of each name
 */
export function planNames(names, plans, measure) {
  let chosen = null;
  for (const plan of plans) {
    const lines = names.map((name) => wrapLabel(name, plan.width, (text) => measure(text, plan.size)));
    chosen = { plan, lines };
    if (heightOf(lines, plan) <= plan.height) break;
  }
  return chosen;
}

/** The height of names one below the other. Pure. */
export function heightOf(lines, { size, lineHeight, gap }) {
  const count = lines.reduce((sum, nameLines) => sum + nameLines.length, 0);
  return count * size * lineHeight + gap * Math.max(0, lines.length - 1);
}
