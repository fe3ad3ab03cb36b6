// The linters, in one place: `npm run lint`, `npm run format` and `npm test` run the same ones.

import { readdirSync } from "node:fs";
import path from "node:path";

import { ROOT } from "./processes.mjs";

const venv = (name) => path.join(ROOT, ".venv/bin", name);
const local = (name) => path.join(ROOT, "node_modules/.bin", name);

// Files that passed and have not changed are not checked again.
const cached = (name) => ["--cache", "--cache-strategy=content", `--cache-location=.cache/lint/${name}`];

const shellScripts = () => [
  "replay",
  "scripts/setup",
  ".ci/run",
  "tests/setup/on-fresh-debian",
  "tests/setup/support/enter-system",
  ...readdirSync(path.join(ROOT, "scripts/setup.d")).map((name) => `scripts/setup.d/${name}`),
];

/** Every linter: its name, its check command, and its fix command if it has one. */
export const LINTERS = [
  { name: "ruff check", check: [venv("ruff"), "check", "."], fix: [venv("ruff"), "check", "--fix", "."] },
  {
    name: "ruff format",
    check: [venv("ruff"), "format", "--check", "."],
    fix: [venv("ruff"), "format", "."],
  },
  {
    name: "eslint",
    check: [local("eslint"), ...cached("eslint"), "."],
    fix: [local("eslint"), "--fix", "."],
  },
  {
    name: "prettier",
    check: [local("prettier"), "--check", ...cached("prettier"), "."],
    fix: [local("prettier"), "--write", "."],
  },
  {
    name: "snakefmt",
    check: [venv("snakefmt"), "--check", "Snakefile"],
    fix: [venv("snakefmt"), "Snakefile"],
  },
  { name: "snakemake --lint", check: [process.execPath, "scripts/npm/snakemake-lint.mjs"] },
  {
    name: "bash -n",
    check: ["bash", "-c", 'for file; do bash -n "$file" || exit 1; done', "bash", ...shellScripts()],
  },
];
