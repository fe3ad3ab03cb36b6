// The options of `npm run lint` and `npm run format`, which is the same program with --fix.

const HELP = `Runs every linter of the project; npm run format also fixes what it can.

Usage: npm run lint
       npm run format`;

/** @type {import("../program.mjs").Program} */
export default {
  command: "npm run lint --",
  help: HELP,
  options: { fix: { type: "boolean" } },
};
