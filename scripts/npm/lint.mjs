#!/usr/bin/env node
// `npm run lint` and, with --fix, `npm run format`.

import { LINTERS } from "./linters.mjs";
import { onInterrupt, statusOfSignal, Task } from "./processes.mjs";
import { runSetup } from "./tasks.mjs";

const HELP = `Runs every linter of the project; npm run format also mends what can be mended.

Usage: npm run lint
       npm run format`;

const args = process.argv.slice(2);
if (args.includes("--help") || args.includes("-h")) {
  console.log(HELP);
  process.exit(0);
}
const fix = args.includes("--fix");

let current = null;
let stopSignal = null;
onInterrupt((signal) => {
  stopSignal = signal;
  current?.signalAll(signal);
});

for (const level of ["present", "derive"]) {
  const outcome = await runSetup(level, (task) => {
    current = task;
  });
  if (outcome === "failed") process.exit(stopSignal ? statusOfSignal(stopSignal) : 1);
}

const failed = [];
for (const linter of LINTERS) {
  const argv = fix ? linter.fix : linter.check;
  if (!argv) continue;
  console.log(`\n== ${linter.name}`);
  const [command, ...rest] = argv;
  current = new Task(command, rest);
  if ((await current.done) !== 0) failed.push(linter.name);
  if (stopSignal) process.exit(statusOfSignal(stopSignal));
}
console.log(failed.length ? `\nfailed: ${failed.join(", ")}` : "\nall linters are content");
process.exit(failed.length ? 1 : 0);
