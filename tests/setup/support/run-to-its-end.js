// Runs a program as `npm test` runs a step: run-to-its-end.js LOG BOUND_MS COMMAND [ARGUMENT...]; prints the outcome.

import { patient } from "../../../scripts/npm/patience.mjs";
import { runToItsEnd } from "../../../scripts/npm/test-run.mjs";

// Measured once, and not again for each program: that takes longer than most of what the tests run in this way.
const measure = () => patient(1000) / 1000;
const [log, bound, ...argv] = process.argv.slice(2);
console.log(JSON.stringify(await runToItsEnd(argv, { bound: Number(bound), log, measure })));
