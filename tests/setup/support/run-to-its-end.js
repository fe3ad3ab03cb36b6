// Runs a program as `npm test` runs a step: run-to-its-end.js LOG BOUND_MS COMMAND [ARGUMENT...]; prints the outcome.

import { runToItsEnd } from "../../../scripts/npm/test-run.mjs";

const [log, bound, ...argv] = process.argv.slice(2);
console.log(JSON.stringify(await runToItsEnd(argv, { bound: Number(bound), log })));
