// Runs the steps of `npm test` one after the other, and a long one beside those that follow it: two steps fill the
// processors where one of them waits.

import { closeSync, openSync, readSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";

const LOOK_EVERY_MS = 200;
const AT_ONCE_BYTES = 65_536;

/**
 * Runs each step by `run(step, {index, output, sharing})`: `output` is null where its output is for the terminal, else
 * the file that takes it; `sharing` is how many steps run at that time. A step with `beside` runs beside those that
 * follow it, if there are any. Its output is shown after theirs: first what there is, then as it comes.
 * @template Row
 * @param {import("./test-steps.mjs").Step[]} steps
 * @param {object} how
 * @param {(step: import("./test-steps.mjs").Step, way: {index: number, output: string|null, sharing: number}) =>
 *   Promise<Row>} how.run
 * @param {(index: number) => string} how.fileOf  where the output of a step goes that runs beside others
 * @param {(line: string) => void} [how.say]
 * @param {(bytes: Buffer) => void} [how.show]
 * @param {() => boolean} [how.isStopped]  whether no further step is to begin
 * @returns {Promise<Row[]>} in the order of the steps; without those that did not begin
 */
export async function runSteps(
  steps,
  { run, fileOf, say = console.log, show = (bytes) => process.stdout.write(bytes), isStopped = () => false },
) {
  const rows = new Map();
  const beside = [];
  for (const [index, step] of steps.entries()) {
    if (isStopped()) break;
    if (step.beside && index < steps.length - 1) {
      say(`\n== ${step.name}: runs beside what follows, and is shown after it`);
      const output = fileOf(index);
      closeSync(openSync(output, "w"));
      const done = run(step, { index, output, sharing: 2 + beside.length });
      beside.push({ step, index, output, done });
      continue;
    }
    say(`\n== ${step.name}`);
    rows.set(index, await run(step, { index, output: null, sharing: 1 + beside.length }));
  }
  for (const { step, index, output, done } of beside) {
    say(`\n== ${step.name}`);
    rows.set(index, await showUntil(done, output, show));
  }
  return [...rows].sort(([a], [b]) => a - b).map(([, row]) => row);
}

/** Shows a file as it grows, until `done` resolves; then what is left of it. Resolves to what `done` resolves to. */
async function showUntil(done, file, show) {
  const from = openSync(file, "r");
  const buffer = Buffer.alloc(AT_ONCE_BYTES);
  const showRest = () => {
    for (let count; (count = readSync(from, buffer)) > 0;) show(Buffer.from(buffer.subarray(0, count)));
  };
  let ended = false;
  const end = done.finally(() => {
    ended = true;
  });
  try {
    while (!ended) {
      showRest();
      await Promise.race([end, after(LOOK_EVERY_MS)]);
    }
    showRest();
    return await end;
  } finally {
    closeSync(from);
  }
}
