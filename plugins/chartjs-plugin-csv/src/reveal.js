import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  Decimation,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  ScatterController,
  Tooltip,
} from "chart.js";
import { Log2Scale } from "./log2-scale.js";
import { ChartCsv } from "./plugin.js";
import { SharedAxis, alignPlots, shareAxes } from "./reveal/align.js";
import { Groups } from "./reveal/groups.js";
import { IdleQueue, PATIENCE } from "./reveal/idle.js";
import { nearSlides, slidesOf, surplus } from "./reveal/near.js";
import { ScaledPointer } from "./reveal/pointer.js";
import { Slot } from "./reveal/slot.js";

const SELECTOR = "canvas[data-chart]";
const MAX_PIXEL_RATIO = 4;
/** A chart's default share of the slide's height. */
const HEIGHT_SHARE = 0.58;

/**
 * @typedef {import("./reveal/slot.js").Slot} ChartSlot   one canvas of the deck, with or without a live chart
 *
 * @typedef {object} RevealChartCsvOptions   REFERENCE.md says what each is for
 * @property {(src: string, canvas: HTMLCanvasElement) => string} [resolve]
 * @property {Record<string, Partial<import("./style.js").SeriesStyle>>} [styles]
 * @property {import("./style.js").SeriesStyle[]} [palette]
 * @property {import("chart.js").ChartOptions} [options]
 * @property {(kind: string, src: string|null, slot: ChartSlot) => import("chart.js").ChartOptions|null|Promise<import("chart.js").ChartOptions|null>} [chartOptions]
 * @property {Record<string, () => Promise<{default: import("./kinds.js").Kind}>>} [kinds]
 * @property {(slot: ChartSlot) => import("./marks.js").Mark[]|null} [marks]
 * @property {(src: string|null, model: import("./table.js").Model) => string|Node|null|Promise<string|Node|null>} [labelFor]
 * @property {(slot: ChartSlot) => string|null|undefined} [summaryFor]
 * @property {typeof globalThis.fetch} [fetch]
 * @property {string} [alignIn]
 * @property {string} [shareIn]
 * @property {number} [prefetch]
 * @property {number} [limit]
 * @property {number} [height]
 */

/**
 * The reveal.js plugin: fills every `<canvas data-chart data-chart-src>` of a deck from its CSV. List it after
 * Markdown in `plugins`. REFERENCE.md documents the options, the attributes, the events and the public members.
 *
 * @param {RevealChartCsvOptions} [options]
 */
export function RevealChartCsv(options = {}) {
  /** @type {Map<HTMLCanvasElement, ChartSlot>} */
  const charts = new Map();
  const { prefetch = 2, limit = 12 } = options;
  /** The choices for canvases that left the deck, by their place: copies of them may come back. */
  const left = new Map();
  const slotsIn = (group) =>
    [...group.querySelectorAll(SELECTOR)].map((canvas) => charts.get(canvas)).filter(Boolean);
  // Axes first: a changed axis may need more room beside its plot.
  const groups = [
    new Groups(options.shareIn ?? null, slotsIn, shareAxes, layOut),
    new Groups(options.alignIn ?? null, slotsIn, alignPlots, layOut),
  ];
  /** Charts to be fitted to their boxes, or laid out again. */
  const due = new IdleQueue((slot) => {
    slot.resize();
    slot.settle();
  });
  const ahead = new IdleQueue((slot) => {
    if (!slot.wanted) return null;
    slot.create();
    return slot.ready;
  });
  let deck = null;
  let printing = false;
  let observers = null;
  let reader = options.fetch ?? null;
  /** Moves charts from slide to slide, once its code is there, which is fetched if a slide asks for that. */
  let morphs = null;
  let fetchingMorphs = null;
  let fetchingNames = null;

  const context = {
    ...options,
    resolve: options.resolve ?? ((src) => src),
    kinds: options.kinds ?? {},
    styles: options.styles ?? {},
    height: 420,
    moved: (slot) => groups.forEach((group) => group.touch(slot)),
    make,
    fetchNames,
    fetch: (...request) => (reader ?? globalThis.fetch)(...request),
    pixelRatio() {
      const ratio = window.devicePixelRatio || 1;
      return Math.min(MAX_PIXEL_RATIO, printing ? Math.max(2, ratio) : ratio * scaleOf(deck));
    },
  };

  /** Makes a chart that is in sight at once, another one when there is time. */
  function make(slot) {
    if (slot.inSight) slot.create();
    else if (!slot.live) ahead.add(slot);
  }

  function fetchMorphs() {
    if (!deck.getSlidesElement().querySelector("[data-auto-animate]")) return null;
    fetchingMorphs ??= import("./reveal/morph.js").then(({ Morphs }) => {
      morphs = new Morphs();
    });
    return fetchingMorphs;
  }

  /** What a chart without an axis of values does not have: names at its lines, marks. */
  function fetchNames() {
    fetchingNames ??= import("./reveal/names.js").then(({ EndLabels, Marks }) => {
      // Marks extend an axis before it is shared.
      Chart.unregister(SharedAxis);
      Chart.register(EndLabels, Marks, SharedAxis);
    });
    return fetchingNames;
  }

  /** What is in sight is laid out before the next frame, the rest when there is time. */
  function layOut(slot) {
    if (slot.inSight) slot.settle();
    else due.add(slot);
  }

  /** A slide that is left shows all of its steps, so that its charts may get another size, which nobody sees. */
  function resized(slot) {
    if (slot.inSight || !slot.chart) slot.resize();
    else due.add(slot);
  }

  /** In the overview charts are small. A browser that shrinks a large picture that far makes it jagged. */
  function overview() {
    sync();
    for (const slot of charts.values()) resized(slot);
  }

  /** Adds canvases that are new in the deck, and drops those that left it. */
  function scan() {
    const canvases = new Set(deck.getSlidesElement().querySelectorAll(SELECTOR));
    for (const [canvas, slot] of charts) {
      if (canvases.has(canvas)) continue;
      observers.size.unobserve(slot.box);
      observers.sight.unobserve(slot.box);
      ahead.delete(slot);
      due.delete(slot);
      if (slot.key !== null) left.set(slot.key, slot.state);
      slot.destroy();
      charts.delete(canvas);
    }
    for (const canvas of canvases) {
      if (charts.has(canvas)) continue;
      const slot = new Slot(canvas, context);
      slot.restore(left.get(slot.key));
      left.delete(slot.key);
      charts.set(canvas, slot);
      observers.size.observe(slot.box);
      observers.sight.observe(slot.box);
    }
  }

  /**
   * Makes the charts in sight at once and the next ones when there is time, and releases distant ones if there are too
   * many. If the deck shows one slide at a time, its neighbours lie at the same place, so the deck decides what is in
   * sight, not the observer.
   */
  function sync() {
    const slides = slidesOf(deck.getSlidesElement());
    const current = deck.getCurrentSlide();
    const near = nearSlides(slides, current, prefetch);
    const many = Boolean(deck.isOverview?.() || deck.isScrollView?.());
    for (const slot of charts.values()) {
      const { slide } = slot;
      slot.inSight = printing || slide === current || (many && slot.intersecting);
      slot.wanted = slot.inSight || near.has(slide);
      if (slot.inSight || !slot.wanted) ahead.delete(slot);
      if (!slot.inSight) continue;
      make(slot);
      if (due.delete(slot)) slot.resize();
      slot.settle();
    }
    // What the next slide needs does not keep waiting what is in sight.
    const shown = painted();
    ahead.after(shown);
    shown.then(fetchMorphs);
    for (const slot of charts.values()) if (slot.wanted) make(slot);
    const live = [...charts.values()].filter((slot) => slot.chart || slot.wanted);
    if (live.length <= limit) return;
    const place = new Map(slides.map((slide, index) => [slide, index]));
    const at = place.get(current) ?? 0;
    const distances = live.map((slot) => ({
      item: slot,
      wanted: slot.wanted,
      distance: Math.abs((place.get(slot.slide) ?? 0) - at),
    }));
    for (const slot of surplus(distances, limit)) slot.release();
  }

  function observe() {
    const slotOf = (box) => charts.get(box.querySelector(SELECTOR));
    observers = {
      size: new ResizeObserver((entries) => {
        for (const slot of entries.map(({ target }) => slotOf(target))) if (slot) resized(slot);
      }),
      // Overview and scroll view show more than the current slide.
      sight: new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries) {
          const slot = slotOf(target);
          if (slot) slot.intersecting = isIntersecting;
        }
        if (deck.isReady()) sync();
      }),
      // Leaving the scroll view replaces all slides by copies; a deck may also add slides while it runs.
      content: new MutationObserver((records) => {
        const touches = (node) =>
          node.nodeType === 1 && (node.matches(SELECTOR) || node.querySelector(SELECTOR));
        if (!records.some(({ addedNodes, removedNodes }) => [...addedNodes, ...removedNodes].some(touches)))
          return;
        scan();
        if (deck.isReady()) sync();
      }),
    };
  }

  /** Once the deck is ready, decides what is in sight. */
  async function started() {
    if (!deck.isReady()) await new Promise((resolve) => deck.on("ready", resolve));
    sync();
  }

  function resizeAll() {
    for (const slot of charts.values()) slot.resize();
  }

  async function print() {
    printing = true;
    scan();
    sync();
    resizeAll();
    await settled();
    document.documentElement.dataset.chartsReady = "true";
  }

  async function drawn(predicate) {
    await Promise.all([...charts.values()].filter(predicate).map((slot) => slot.settled()));
  }

  /** Resolves when the charts in sight, or their errors, are on the screen. */
  async function painted() {
    await drawn(({ inSight }) => inSight);
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }

  async function settled() {
    await drawn(({ inSight }) => inSight);
    ahead.flush();
    await Promise.all([drawn(({ wanted }) => wanted), fetchMorphs()]);
    do {
      for (const group of groups) group.flush();
      due.flush();
    } while (groups.some(({ isWaiting }) => isWaiting));
  }

  const listeners = {
    ready() {
      scan();
      sync();
    },
    slidechanged({ previousSlide, currentSlide }) {
      sync();
      morphs?.follow(previousSlide ? slotsIn(previousSlide) : [], slotsIn(currentSlide));
    },
    // reveal.js would stretch a canvas from the size of its namesake.
    autoanimate({ toSlide }) {
      for (const { canvas } of slotsIn(toSlide)) delete canvas.dataset.autoAnimateTarget;
    },
    overviewshown: overview,
    overviewhidden: overview,
    resize: resizeAll,
    "pdf-ready": print,
  };

  return {
    id: "chart-csv",
    /** Map of canvas → slot, see REFERENCE.md. */
    charts,

    init(reveal) {
      deck = reveal;
      Chart.register(
        ...[LineController, BarController, ScatterController, LineElement, BarElement, PointElement],
        ...[LinearScale, LogarithmicScale, CategoryScale, Log2Scale],
        ...[Tooltip, Decimation, ChartCsv, ScaledPointer, SharedAxis],
      );
      const { height } = deck.getConfig();
      context.height =
        options.height ?? (typeof height === "number" ? Math.round(height * HEIGHT_SHARE) : 420);
      observe();
      scan();
      observers.content.observe(deck.getSlidesElement(), { childList: true, subtree: true });
      for (const [type, listener] of Object.entries(listeners)) deck.on(type, listener);
    },

    destroy() {
      for (const [type, listener] of Object.entries(listeners)) deck.off(type, listener);
      for (const observer of Object.values(observers)) observer.disconnect();
      ahead.clear();
      due.clear();
      for (const slot of charts.values()) slot.destroy();
      charts.clear();
    },

    /** Resolves when the charts in sight, or their errors, are on the screen, or take too long. */
    async seen() {
      await started();
      await Promise.race([painted(), new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
    },

    /** Resolves when all charts that are wanted now are drawn or show their error. */
    async ready() {
      await started();
      await settled();
    },

    /**
     * Reads the CSVs of live charts again, in place: of all, or of those whose slot the predicate accepts.
     * @param {(slot: ChartSlot) => boolean} [predicate]
     */
    async refresh(predicate = () => true) {
      const chosen = [...charts.values()].filter((slot) => predicate(slot));
      await Promise.all(chosen.map((slot) => slot.refresh()));
    },

    /** Makes all charts again, with the options that the page gives now; resolves when those in sight are drawn. */
    async remake() {
      for (const slot of charts.values()) slot.drop();
      sync();
      await drawn(({ inSight }) => inSight);
    },

    /** Sets the function that reads files from now on; null: the page's `fetch`. Reads nothing itself. */
    readWith(fetch) {
      reader = fetch ?? options.fetch ?? null;
    },

    /** Draws all live charts again with the current colours of the page (after a change of theme). */
    restyle() {
      for (const slot of charts.values()) slot.restyle();
    },
  };
}

/** How large a slide's pixel is on the screen. The deck itself does not count what its overview shrinks. */
function scaleOf(deck) {
  if (!deck.isOverview?.()) return deck.getScale() || 1;
  const slides = deck.getSlidesElement();
  return slides.getBoundingClientRect().width / slides.offsetWidth || 1;
}

export default RevealChartCsv;
