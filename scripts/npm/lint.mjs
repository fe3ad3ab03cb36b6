#!/usr/bin/env node
// `npm run lint` and, with --fix, `npm run format`.

import { lint as program } from "./declared.mjs";
import { LINTERS } from "./linters.mjs";
import { onInterrupt, statusOfSignal, Task } from "./processes.mjs";
import { optionsOf } from "./program.mjs";
import { runSetup } from "./tasks.mjs";

const { fix } = optionsOf(program);

const running = new Set();
let stopSignal = null;
onInterrupt((signal) => {
  stopSignal = signal;
  for (const task of running) task.signalAll(signal);
});

/** Runs a program; resolves to its exit status and all that it printed. */
async function run([command, ...rest]) {
  const task = new Task(command, rest, { stdio: ["ignore", "pipe", "pipe"] });
  running.add(task);
  let said = "";
  const read = [task.child.stdout, task.child.stderr].map(async (stream) => {
    for await (const data of stream.setEncoding("utf8")) said += data;
  });
  const [status] = await Promise.all([task.done, ...read]);
  running.delete(task);
  return { status, said };
}

for (const level of ["present", "derive"]) {
  const outcome = await runSetup(level, (task) => {
    running.clear();
    running.add(task);
  });
  running.clear();
  if (outcome === "failed") process.exit(stopSignal ? statusOfSignal(stopSignal) : 1);
}

const chosen = LINTERS.filter((linter) => (fix ? linter.fix : linter.check));
// Linters that only look run at the same time. Those that change files run one after another.
const looking = fix ? null : chosen.map((linter) => run(linter.check));
const failed = [];
for (const [index, linter] of chosen.entries()) {
  const { status, said } = await (looking?.[index] ?? run(linter.fix));
  console.log(`\n== ${linter.name}\n${said.trimEnd()}`);
  if (status !== 0) failed.push(linter.name);
  if (stopSignal) process.exit(statusOfSignal(stopSignal));
}
console.log(failed.length ? `\nfailed: ${failed.join(", ")}` : "\nall linters passed");
process.exit(failed.length ? 1 : 0);
