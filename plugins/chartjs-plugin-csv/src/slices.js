/**
 * Long work in slices, so that a page can draw and react meanwhile. The work is a generator, which yields where it may be
 * interrupted; nothing else depends on whether it is.
 */

/** How long a slice takes, ms: less than a frame. */
const SLICE_MS = 10;
/** What may follow in the same task, ms: after longer work the page gets its turn before whoever waits for the result. */
const SHORT_MS = 3;
/** How many items lie between two places where work may be interrupted. */
export const STEP = 1000;

/** Does all the work at once, and returns its result. */
export function finish(work) {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/**
 * Does the work in slices.
 * @template T
 * @param {Generator<void, T>} work
 * @param {{signal?: AbortSignal, now?: () => number}} [options]   now: the time in ms
 * @returns {Promise<T>} rejects with what the work throws, or with the signal's reason
 */
export async function inSlices(work, { signal, now = () => performance.now() } = {}) {
  let begun = now();
  for (;;) {
    const { done, value } = work.next();
    const spent = now() - begun;
    if (done && spent < SHORT_MS) return value;
    if (!done && spent < SLICE_MS) continue;
    await pause();
    signal?.throwIfAborted();
    if (done) return value;
    begun = now();
  }
}

/** Visits every item; may be interrupted between two of them. */
export function* visit(items, each) {
  for (let index = 0; index < items.length; index += 1) {
    each(items[index], index);
    if (index % STEP === STEP - 1) yield;
  }
}

/** Lets the page do what is due. Browsers slow down timers of pages that are not seen, but not messages. */
function pause() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
