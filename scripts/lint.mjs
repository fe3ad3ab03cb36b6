#!/usr/bin/env node
/** Runs every linter of the project: `npm run lint`. With --fix, fixes what it can: `npm run format`. */

import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";

import { passThrough } from "./npm/processes.mjs";
import { installPackages, optionsOf, ROOT } from "./npm/program.mjs";

const HELP = `Runs every linter of the project; npm run format also fixes what it can.

Usage: npm run lint
       npm run format`;

const { fix } = optionsOf({
  command: "npm run lint --",
  help: HELP,
  options: { fix: { type: "boolean", default: false } },
});
installPackages();
const setup = await passThrough(path.join(ROOT, "scripts/setup"), ["--for", "derive"]);
if (setup !== 0) process.exit(setup);

const MOST_BYTES = 2 ** 26;
const venv = (name) => path.join(ROOT, ".venv/bin", name);
const local = (name) => path.join(ROOT, "node_modules", name);
// Files that passed and have not changed are not checked again.
const cached = (name) => ["--cache", "--cache-strategy=content", `--cache-location=.cache/lint/${name}`];
// Prose, where line breaks part slides, is as its author wrote it; so are evidence and what is derived from it.
const PRETTY = [
  "**/*.{js,mjs,cjs,ts,css,html,json}",
  "!benchmarks/**",
  "!**/fixtures/**",
  "!package-lock.json",
];
const SHELL = [
  "replay",
  "scripts/setup",
  ...readdirSync(path.join(ROOT, "scripts/setup.d")).map((name) => `scripts/setup.d/${name}`),
  ".ci/run",
  "tests/setup/on-fresh-debian",
  "tests/setup/support/enter-system",
];

/** Each linter: what it checks with, and what it fixes with, if it can. */
const LINTERS = {
  "ruff check": { check: [venv("ruff"), "check", "."], fix: [venv("ruff"), "check", "--fix", "."] },
  "ruff format": { check: [venv("ruff"), "format", "--check", "."], fix: [venv("ruff"), "format", "."] },
  eslint: { check: eslint(...cached("eslint")), fix: eslint("--fix") },
  prettier: { check: prettier("--check", ...cached("prettier")), fix: prettier("--write") },
  snakefmt: { check: snakefmt("--check"), fix: snakefmt() },
  "snakemake --lint": { check: [venv("snakemake"), "--lint"], passes: isSoundSnakefile },
  "bash -n": { check: ["bash", "-c", 'for file; do bash -n "$file" || exit 1; done', "bash", ...SHELL] },
};

function snakefmt(...options) {
  return [venv("snakefmt"), ...options, "Snakefile", "workflow"];
}

function eslint(...options) {
  const configuration = ["--config", "scripts/eslint.config.js"];
  return [process.execPath, local("eslint/bin/eslint.js"), ...configuration, ...options, "."];
}

function prettier(...options) {
  return [process.execPath, local("prettier/bin/prettier.cjs"), ...options, ...PRETTY];
}

/** Snakemake has no switch for a single lint, and uv.lock locks the software, not an environment for each rule. */
function isSoundSnakefile({ output }) {
  const lints = [...output.matchAll(/^ {4}\* (.+?):?$/gm)].map(([, title]) => title);
  const ran = /^Lints for |Congratulations/m.test(output);
  return ran && lints.every((title) => title === "Specify a conda environment or container for each rule.");
}

/** Runs a program; resolves to whether it ended well, and all that it printed. */
function run([command, ...args]) {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: ROOT, maxBuffer: MOST_BYTES }, (error, stdout, stderr) =>
      resolve({ ended: error === null, output: stdout + stderr || (error?.message ?? "") }),
    );
  });
}

const failed = [];
const chosen = Object.entries(LINTERS).filter(([, linter]) => !fix || linter.fix);
// Linters that only look run at the same time. Those that change files run one after another.
const looking = chosen.map(([, { check }]) => (fix ? null : run(check)));
for (const [at, [name, linter]] of chosen.entries()) {
  const outcome = await (looking[at] ?? run(linter.fix));
  const passes = linter.passes?.(outcome) ?? outcome.ended;
  console.log(`\n== ${name}\n${passes && linter.passes ? "passed" : outcome.output.trimEnd()}`);
  if (!passes) failed.push(name);
}
console.log(failed.length ? `\nfailed: ${failed.join(", ")}` : "\nall linters passed");
process.exit(failed.length ? 1 : 0);
