// The options of `npm test`.

const HELP = `Runs the linters and all tests, and goes on after a failure; what failed is listed at the end.

Usage: npm test              everything, the sandbox included
       npm run test:quick    linters, unit tests and the fast Python tests
       npm test -- --only TEXT   only the steps whose name contains TEXT (repeatable)`;

/** @type {import("../program.mjs").Program} */
export default {
  command: "npm test --",
  help: HELP,
  options: { quick: { type: "boolean" }, only: { type: "string", multiple: true } },
};
