/**
 * How a series looks, decided by its **name**, so that it looks the same in every chart of a page.
 *
 * @typedef {{color: string, dash: number[], pointStyle: string}} SeriesStyle
 */

/** Fallback styles, different in colour, dash and marker; a page overrides the colours as `--series-1` to `-6`. */
export const PALETTE = [
  { color: "var(--series-1, #1b1d22)", dash: [], pointStyle: "circle" },
  { color: "var(--series-2, #c4500a)", dash: [10, 5], pointStyle: "rect" },
  { color: "var(--series-3, #0072b2)", dash: [2, 5], pointStyle: "triangle" },
  { color: "var(--series-4, #00785a)", dash: [14, 4, 3, 4], pointStyle: "rectRot" },
  { color: "var(--series-5, #8f3f71)", dash: [5, 3], pointStyle: "rectRounded" },
  { color: "var(--series-6, #5a5f6b)", dash: [16, 6], pointStyle: "star" },
];

/** name → slot of the palette: a name keeps its look from chart to chart unless another line of the chart has it. */
const slots = new Map();

/** FNV-1a, 32 bits. */
function hash(text) {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  }
  return value;
}

/**
 * The styles of a chart's series: the style in `styles` for the name, completed from the palette. No two series of a
 * chart look alike, and no series from the palette has a colour that `styles` gives to a name. If possible, a name
 * keeps the look that it had before. If there are more series than styles, colours are repeated with other dashes and
 * markers.
 *
 * @param {string[]} names
 * @param {{styles?: Record<string, Partial<SeriesStyle>>, palette?: SeriesStyle[]}} [options]
 * @param {(color: string) => string} [plain]   converts a colour to a form that can be compared
 * @returns {Map<string, SeriesStyle>}
 */
export function stylesOf(names, { styles = {}, palette = PALETTE } = {}, plain = (color) => color) {
  const givenTo = (name) => (Object.hasOwn(styles, name) ? styles[name] : {});
  const isWhole = ({ color, dash, pointStyle }) => color && dash && pointStyle;
  const open = [...new Set(names)].filter((name) => !isWhole(givenTo(name)));
  const chosen = open.length ? slotsOf(open, freeSlots(styles, palette, plain)) : new Map();
  const styleFor = (name) => {
    if (!chosen.has(name)) return { ...givenTo(name) };
    const { slot, turn } = chosen.get(name);
    const other = palette[(slot + turn) % palette.length];
    return { ...palette[slot], dash: other.dash, pointStyle: other.pointStyle, ...givenTo(name) };
  };
  return new Map(names.map((name) => [name, styleFor(name)]));
}

/** Slots whose colour no name in `styles` has; all slots if none is left. */
function freeSlots(styles, palette, plain) {
  const reserved = new Set(
    Object.values(styles)
      .filter(({ color }) => color)
      .map(({ color }) => plain(color)),
  );
  const all = palette.map((_, slot) => slot);
  const free = reserved.size ? all.filter((slot) => !reserved.has(plain(palette[slot].color))) : all;
  return free.length ? free : all;
}

/** A slot for each name; `turn` counts how often the slot was given away before. */
function slotsOf(names, free) {
  const chosen = new Map();
  const taken = new Set();
  const take = (name, slot) => {
    let turn = 0;
    while (taken.has(`${slot} ${turn}`)) turn += 1;
    taken.add(`${slot} ${turn}`);
    chosen.set(name, { slot, turn });
  };
  const isOpen = (slot) => !taken.has(`${slot} 0`);
  for (const name of names) {
    const kept = slots.get(name);
    if (free.includes(kept) && isOpen(kept)) take(name, kept);
  }
  for (const name of names.filter((candidate) => !chosen.has(candidate))) {
    const wanted = hash(name) % free.length;
    const order = free.map((_, i) => free[(wanted + i) % free.length]);
    const elsewhere = new Set(slots.values());
    const slot =
      order.find((next) => isOpen(next) && !elsewhere.has(next)) ?? order.find(isOpen) ?? least(order, taken);
    take(name, slot);
    if (!slots.has(name)) slots.set(name, slot);
  }
  return chosen;
}

/** The slot that was given away least often, or the first of several. */
function least(order, taken) {
  const uses = (slot) => [...taken].filter((use) => use.startsWith(`${slot} `)).length;
  return order.reduce((best, slot) => (uses(slot) < uses(best) ? slot : best));
}

/** The style of one series, see `stylesOf`. */
export function styleOf(name, options = {}) {
  return stylesOf([name], options).get(name);
}

/** Forgets which name has which slot of the palette (for tests, and for pages that change their subject). */
export function forgetStyles() {
  slots.clear();
}

/**
 * A CSS colour as the browser computes it at `element`: custom properties, `currentcolor`, `light-dark()`, and
 * `color-mix()` become a plain colour that a canvas understands. Other values are returned unchanged.
 */
export function resolveColor(element, value) {
  if (typeof value !== "string" || !/var\(|currentcolor|light-dark\(|color-mix\(/i.test(value)) return value;
  return computedColor(element, value);
}

function computedColor(element, value) {
  const before = element.style.color;
  element.style.color = value;
  const computed = getComputedStyle(element).color;
  element.style.color = before;
  return computed || value;
}

/** How strong the colour of a second data set's line is; its markers and its name are not faded. */
const FADED = "75%";

/**
 * The styles of a chart's series in colours that a canvas understands; `faded` is the colour of a second data set's
 * line.
 * @returns {(name: string) => SeriesStyle & {faded?: string}}
 */
export function looksAt(canvas, names, options, { faded = false } = {}) {
  const styles = stylesOf(names, options, (color) => computedColor(canvas, color));
  return (name) => {
    const style = styles.get(name);
    const look = { ...style, color: resolveColor(canvas, style.color) };
    if (!faded) return look;
    const mixed = `color-mix(in srgb, ${style.color} ${FADED}, transparent)`;
    return { ...look, faded: resolveColor(canvas, mixed) };
  };
}

/** Colours and font as the browser computes them at the canvas. */
export function themeAt(canvas, { font, ...colors }) {
  return {
    ...Object.fromEntries(Object.entries(colors).map(([name, color]) => [name, resolveColor(canvas, color)])),
    font: { family: getComputedStyle(canvas).fontFamily || undefined, ...font },
  };
}
