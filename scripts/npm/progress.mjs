// Shows what a program is doing: on a terminal one line that counts the seconds and leaves nothing behind, elsewhere a
// line for each step. It writes to standard error, so that another program can read the output.

import { onInterrupt, statusOfSignal } from "./processes.mjs";

const TICK_MS = 1000;
const CLEAR_LINE = "\r\u001b[K";

/**
 * @param {{isTTY?: boolean, columns?: number, write: (text: string) => void}} [stream]
 * @returns {{step: (text: string) => void, end: () => void}} step: says what begins now; end: call it before you print anything else
 */
export function progress(stream = process.stderr) {
  let step = null;
  let began = 0;
  let timer = null;

  function draw() {
    const seconds = Math.floor((performance.now() - began) / 1000);
    const line = `${step} …${seconds > 0 ? ` ${seconds} s` : ""}`;
    stream.write(`${CLEAR_LINE}${line.slice(0, Math.max(0, (stream.columns || 80) - 1))}`);
  }

  function end() {
    clearInterval(timer);
    if (step !== null && stream.isTTY) stream.write(CLEAR_LINE);
    step = null;
  }

  return {
    step(text) {
      end();
      [step, began] = [text, performance.now()];
      if (!stream.isTTY) {
        stream.write(`${text} …\n`);
        return;
      }
      draw();
      timer = setInterval(draw, TICK_MS);
      timer.unref();
    },
    end,
  };
}

/**
 * Ends the program at Ctrl-C with a sentence about its work. Code that must tidy up listens to the process's `exit`.
 * @param {{end: () => void}} shown   from `progress`
 * @param {string} sentence
 * @returns {() => void} restores the default
 */
export function endWhenInterrupted(shown, sentence) {
  return onInterrupt((signal) => {
    shown.end();
    console.error(sentence);
    process.exit(statusOfSignal(signal));
  });
}
