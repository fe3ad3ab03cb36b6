/** Shows a slide of an open deck to a program that looks at it. */
/* global document, requestAnimationFrame, window -- in functions that run in the page */

/**
 * Runs in the page: shows a slide at a step, and waits until its charts are drawn.
 * @param {{position: number, step?: number|null}} wanted   position: among all slides; step: from -1, nothing revealed, null
 *   for the last
 */
export async function showSlide({ position, step = null }) {
  // So long a chart that is not created ahead may take to appear.
  const MOST_FRAMES = 300;
  const { deck, charts } = window.replay;
  const slide = document.querySelectorAll(".slides section:not(.stack)")[position];
  const { h, v } = deck.getIndices(slide);
  const steps = [...slide.querySelectorAll(".fragment")].map((fragment) =>
    Number(fragment.dataset.fragmentIndex ?? 0),
  );
  deck.slide(h, v, step ?? Math.max(-1, ...steps));
  await charts.ready();
  const canvases = slide.querySelectorAll("canvas[data-chart]:not([data-when][hidden] *)");
  const slots = [...canvases].map((canvas) => charts.charts.get(canvas));
  for (let frame = 0; frame < MOST_FRAMES && slots.some(({ model, error }) => !model && !error); frame += 1) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
}
