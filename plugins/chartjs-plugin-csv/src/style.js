/**
 * How a series looks, decided by its **name**, so that it looks the same in every chart of a page.
 *
 * @typedef {{color: string, dash: number[], pointStyle: string}} SeriesStyle
 */

/** Fallback styles. Each tells apart by colour, dash and marker; a page overrides the colours as `--series-1` to `-6`. */
export const PALETTE = [
  { color: "var(--series-1, #1b1d22)", dash: [], pointStyle: "circle" },
  { color: "var(--series-2, #c4500a)", dash: [10, 5], pointStyle: "rect" },
  { color: "var(--series-3, #0072b2)", dash: [2, 5], pointStyle: "triangle" },
  { color: "var(--series-4, #00785a)", dash: [14, 4, 3, 4], pointStyle: "rectRot" },
  { color: "var(--series-5, #8f3f71)", dash: [5, 3], pointStyle: "rectRounded" },
  { color: "var(--series-6, #5a5f6b)", dash: [16, 6], pointStyle: "star" },
];

/** name → slot of the palette; page-wide, so a name keeps its slot across charts and refreshes. */
const slots = new Map();

/** FNV-1a, 32 bits. */
function hash(text) {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  }
  return value;
}

function slotOf(name, size) {
  if (!slots.has(name)) {
    const taken = new Set([...slots.values()].map((slot) => slot % size));
    const wanted = hash(name) % size;
    const free = Array.from({ length: size }, (_, i) => (wanted + i) % size).find((slot) => !taken.has(slot));
    slots.set(name, free ?? wanted);
  }
  return slots.get(name) % size;
}

/**
 * The style of a series: what `styles` says for its name, completed from the palette. The palette's slot comes
 * from a hash of the name; a slot already taken by another name is passed over while there are free ones.
 *
 * @param {string} name
 * @param {{styles?: Record<string, Partial<SeriesStyle>>, palette?: SeriesStyle[]}} [options]
 * @returns {SeriesStyle}
 */
export function styleOf(name, { styles = {}, palette = PALETTE } = {}) {
  const given = Object.hasOwn(styles, name) ? styles[name] : {};
  if (given.color && given.dash && given.pointStyle) return { ...given };
  return { ...palette[slotOf(name, palette.length)], ...given };
}

/** Forgets which name has which slot of the palette (for tests, and for pages that change their subject). */
export function forgetStyles() {
  slots.clear();
}

/**
 * A CSS colour as the browser computes it at `element`: custom properties, `currentcolor`, `light-dark()`, and
 * `color-mix()` become a plain colour that a canvas understands. Other values come back as they are.
 */
export function resolveColor(element, value) {
  if (typeof value !== "string" || !/var\(|currentcolor|light-dark\(|color-mix\(/i.test(value)) return value;
  const before = element.style.color;
  element.style.color = value;
  const computed = getComputedStyle(element).color;
  element.style.color = before;
  return computed || value;
}

/** How much of its colour a second data set's line keeps; its markers and its name keep all. */
const FADED = "75%";

/** A series' style as a canvas understands it at this place of the page; `faded` is the colour of a second data set's line. */
export function lookAt(canvas, name, options, { faded = false } = {}) {
  const style = styleOf(name, options);
  const look = { ...style, color: resolveColor(canvas, style.color) };
  if (!faded) return look;
  return {
    ...look,
    faded: resolveColor(canvas, `color-mix(in srgb, ${style.color} ${FADED}, transparent)`),
  };
}

/** Text and grid colours, and the font, as they are computed at the canvas. */
export function themeAt(canvas, { text, grid, font }) {
  return {
    text: resolveColor(canvas, text),
    grid: resolveColor(canvas, grid),
    font: { family: getComputedStyle(canvas).fontFamily || undefined, ...font },
  };
}
