/**
 * Another talk on other data: slides about operations in flight (tests/fixtures/talk-of-five), with a look and a chart of its
 * own. Its evidence is that of an experiment that ships; its tables are derived here, under its own experiments and claims.
 */

import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { runNode } from "../../support/programs.mjs";

const FIXTURE = path.join(PROJECT, "tests/fixtures/talk-of-five");
const EVIDENCE = "rados-threads/raw";
/** What `replay derive` has Snakemake do, which takes longer to start than this. */
const DERIVE = `
import sys
from pathlib import Path
from replay.claims.data_set import derive_data_set
derive_data_set(Path(sys.argv[1]))
`;
/** Stands for the font of an employer. */
const FONT = path.join(PROJECT, "node_modules/@fontsource/inter/files/inter-latin-500-normal.woff2");

/**
 * Copies the talk and derives its data.
 * @param {string} root   an empty folder, for the talk
 * @returns {Promise<{root: string, run: Function}>} run: runs a Node program of the project on this talk
 */
export async function makeTalkOfFive(root) {
  await cp(FIXTURE, root, { recursive: true });
  await cp(FONT, path.join(root, "slides/five/look/acme.woff2"));
  const [shipped, own] = [path.join(PROJECT, "benchmarks/tentacle"), path.join(root, "benchmarks/threads")];
  await cp(path.join(shipped, EVIDENCE), path.join(own, EVIDENCE), { recursive: true });
  const environment = {
    REPLAY_TALK: root,
    REPLAY_BENCHMARKS: path.join(root, "benchmarks"),
    REPLAY_CONFIG: path.join(root, "config"),
    REPLAY_HOMEPAGE: "",
    REPLAY_REPOSITORY: "",
  };
  await promisify(execFile)(path.join(PROJECT, ".venv/bin/python"), ["-c", DERIVE, own], {
    cwd: PROJECT,
    env: { ...process.env, ...environment, PYTHONPATH: path.join(PROJECT, "scripts") },
  });
  return { root, run: (program, ...args) => runNode(program, args, environment) };
}
