/**
 * reveal.js's auto-animate for charts: on slides with `data-auto-animate`, a chart begins where the chart with its `data-id`
 * stood that was shown last, also if another slide came between, and moves from there, series by series.
 */

const MOTION = { duration: 700, easing: "easeInOutCubic" };

/** @typedef {import("./slot.js").Slot} Slot */

export class Morphs {
  /** By `data-id`. @type {Map<string, Slot>} */
  #last = new Map();

  /**
   * Moves charts to what their slide shows, unless the viewer wants no motion.
   * @param {Slot[]} left   the charts of the slide that was left
   * @param {Slot[]} shown   those of the slide that is shown now
   */
  follow(left, shown) {
    for (const slot of left.filter(isNamed)) this.#last.set(slot.canvas.dataset.id, slot);
    if (globalThis.matchMedia?.("(prefers-reduced-motion: reduce), print").matches) return;
    for (const slot of shown.filter(isNamed)) {
      const before = this.#last.get(slot.canvas.dataset.id);
      if (slot.chart && before?.chart && before !== slot && before.kind === slot.kind) move(before, slot);
    }
  }
}

function isNamed({ canvas, slide }) {
  return Boolean(canvas.dataset.id && slide?.hasAttribute("data-auto-animate"));
}

function move(before, { box, chart }) {
  const metas = new Map(before.chart.getSortedVisibleDatasetMetas().map((meta) => [meta.label, meta]));
  const [from, to] = [placeInSlide(before.box), placeInSlide(box)];
  const offset = { x: from.x - to.x, y: from.y - to.y };
  for (const { label, data } of chart.getSortedVisibleDatasetMetas())
    data.forEach((element, index) => {
      const old = metas.get(label)?.data[index];
      if (old && !old.skip && !element.skip) Object.assign(element, placeOf(old, offset));
    });
  const { animation } = chart.options;
  chart.options.animation = MOTION;
  chart.update();
  chart.options.animation = animation;
}

/** Where the box of a chart is in its slide, px of the unscaled slide. */
function placeInSlide(box) {
  const slide = box.closest("section");
  const [inner, outer] = [box, slide].map((element) => element.getBoundingClientRect());
  const scale = outer.width / slide.offsetWidth || 1;
  return { x: (inner.left - outer.left) / scale, y: (inner.top - outer.top) / scale };
}

/** Where a mark stands and how large it is, px: what Chart.js moves. */
function placeOf(mark, { x, y }) {
  const moved = { x, y, base: mark.horizontal ? x : y, width: 0, height: 0 };
  const finite = Object.entries(moved).filter(([name]) => Number.isFinite(mark[name]));
  return Object.fromEntries(finite.map(([name, by]) => [name, mark[name] + by]));
}
