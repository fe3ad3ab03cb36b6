// The options of `npm test`.

const HELP = `Runs the linters and all tests. Continues after a failure and lists all failures at the end.

Usage: npm test                  everything, including the sandbox
       npm run test:quick        linters and fast tests, without a cluster or a browser
       npm run test:releases     what depends on Ceph's release, on sandboxes of 18 and 20, which are fetched first
       npm test -- --only TEXT   only the steps whose name contains TEXT (repeatable)`;

/** @type {import("../program.mjs").Program} */
export default {
  command: "npm test --",
  help: HELP,
  options: {
    quick: { type: "boolean" },
    releases: { type: "boolean" },
    only: { type: "string", multiple: true },
  },
};
