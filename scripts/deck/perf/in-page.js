/** Measures within the page. These functions are passed to the browser as they are. */
/* global document, window, requestAnimationFrame -- in functions that run in the page */

/**
 * Runs before the page's own scripts. Notes when the heading of the current slide, and when all of its charts, were
 * first visible: `performance.now()` of the frame, which is the time since the navigation began.
 */
export function watchLoading() {
  const seen = (window.perfSeen = { firstSlide: null, chartsReady: null });
  const drawn = new WeakSet();
  document.addEventListener("chart-csv:ready", ({ target }) => drawn.add(target), true);

  const look = () => {
    const slide = document.querySelector(".reveal.ready .slides section.present:not(.stack)");
    const heading = slide?.querySelector("h1, h2");
    if (seen.firstSlide === null && heading?.getClientRects().length > 0 && heading.textContent.trim())
      seen.firstSlide = performance.now();
    const canvases = slide ? [...slide.querySelectorAll("canvas[data-chart]")] : [];
    if (seen.firstSlide !== null && canvases.length > 0 && canvases.every((canvas) => drawn.has(canvas)))
      seen.chartsReady = performance.now();
    if (seen.chartsReady === null) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** Addresses of the scripts that had arrived at a time, given in ms since the navigation began. */
export function scriptsBefore(time) {
  return performance
    .getEntriesByType("resource")
    .filter(({ name, responseEnd }) => /\.m?js$/.test(new URL(name).pathname) && responseEnd <= time)
    .map(({ name }) => name);
}

/** Bytes of all canvases of the page: four for each pixel. */
export function canvasBytes() {
  return [...document.querySelectorAll("canvas")].reduce(
    (sum, { width, height }) => sum + 4 * width * height,
    0,
  );
}

/**
 * Goes from slide to slide, and returns the longest frame after each change, in milliseconds.
 * @param {{changes: number, framesEach: number}} options   the number of changes, and of frames to wait after each
 */
export async function changeSlides({ changes, framesEach }) {
  const { deck } = window.replay ?? window.plain;
  const slides = deck.getSlides();
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const from = slides.indexOf(deck.getCurrentSlide());
  const longest = [];
  let before = await nextFrame();
  for (let change = 1; change <= changes; change += 1) {
    const { h, v } = deck.getIndices(slides[(from + change) % slides.length]);
    deck.slide(h, v);
    let worst = 0;
    for (let frame = 0; frame < framesEach; frame += 1) {
      const now = await nextFrame();
      worst = Math.max(worst, now - before);
      before = now;
    }
    longest.push(worst);
  }
  return longest;
}

/** Starts to note how long each frame takes; `window.perfFrames()` stops and returns the milliseconds of all. */
export function recordFrames() {
  const times = [];
  let before = null;
  let running = true;
  const note = (now) => {
    if (before !== null) times.push(now - before);
    before = now;
    if (running) requestAnimationFrame(note);
  };
  requestAnimationFrame(note);
  window.perfFrames = () => {
    running = false;
    return times;
  };
}
