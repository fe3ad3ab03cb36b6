#!/usr/bin/env node
/** Compares what Replay makes of the committed data with what it made at an earlier commit: `npm run golden`. */

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { installPackages, optionsOf, requireLinux, ROOT } from "./npm/program.mjs";

const HELP = `Records what Replay made of the committed data at an earlier commit, and names each difference of what it makes now.
Derives everything twice, which takes minutes.

Usage: npm run golden -- --since COMMIT [--site]

  --since COMMIT  such as main or HEAD~3
  --site          also compare the built site
  --help          show this text`;

const { since, site } = optionsOf({
  command: "npm run golden --",
  help: HELP,
  options: { since: { type: "string" }, site: { type: "boolean" } },
  check({ since: commit }) {
    if (commit === undefined) throw new Error("--since COMMIT is missing");
  },
});
requireLinux("npm run golden");
installPackages();

const folder = mkdtempSync(path.join(tmpdir(), "replay-golden-"));
const before = path.join(folder, "before");
const record = path.join(folder, "record");

/** Runs a program; ends this one if it fails. */
function run(command, ...args) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: "inherit" });
  if (status === 0) return;
  if (error) console.error(`${command}: ${error.message}`);
  process.exit(status ?? 1);
}
const golden = (tree, ...args) =>
  run(
    path.join(ROOT, ".venv/bin/python"),
    path.join(tree, "tests/golden/golden.py"),
    ...args,
    ...(site ? ["--site"] : []),
  );

process.on("exit", () => {
  spawnSync("git", ["worktree", "remove", "--force", before], { cwd: ROOT, stdio: "ignore" });
  rmSync(folder, { recursive: true, force: true });
});
run(path.join(ROOT, "scripts/setup"), "--for", "derive");
run("git", "worktree", "add", "--quiet", "--detach", before, since);
// Today's program looks at both trees.
cpSync(path.join(ROOT, "tests/golden"), path.join(before, "tests/golden"), { recursive: true });
for (const name of [".venv", "node_modules"]) symlinkSync(path.join(ROOT, name), path.join(before, name));
golden(before, "record", record);
golden(ROOT, "compare", record);
