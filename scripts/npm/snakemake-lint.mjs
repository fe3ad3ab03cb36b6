// `snakemake --lint` without one lint that does not apply: uv.lock and Debian's packages lock Replay's software, not a
// conda environment or a container for each rule. Snakemake has no switch for a single lint.

import { spawnSync } from "node:child_process";
import path from "node:path";

import { ROOT } from "./processes.mjs";

const LOCKED_BY_UV = "Specify a conda environment or container for each rule.";

/** The titles of the lints in `text`, the linter's report, that apply here. */
export function lintsThatApply(text) {
  return [...text.matchAll(/^ {4}\* (.+?):?$/gm)]
    .map(([, title]) => title)
    .filter((title) => title !== LOCKED_BY_UV);
}

function main() {
  const snakemake = path.join(ROOT, ".venv/bin/snakemake");
  const done = spawnSync(snakemake, ["--lint"], { cwd: ROOT, encoding: "utf8" });
  const text = `${done.stdout ?? ""}${done.stderr ?? ""}${done.error?.message ?? ""}`;
  // The exit status is the same for "lints were found" and "it did not run".
  const ran = /^Lints for |Congratulations/m.test(text);
  if (ran && lintsThatApply(text).length === 0) {
    console.log("no applicable lints");
    return 0;
  }
  console.log(text);
  return 1;
}

if (process.argv[1] === import.meta.filename) process.exitCode = main();
