#!/usr/bin/env node
/** Runs a program of tests/ in the checkout's Python: `npm run drills`, `npm run crashes`. */

import path from "node:path";

import { passThrough } from "./npm/processes.mjs";
import { installPackages, requireLinux, ROOT } from "./npm/program.mjs";

const PRESENT_ONLY = 3;
/** What is set up for each. Drills measure, and serve and check the deck. */
const LEVELS = { drills: "start", crashes: "derive" };

const [name, ...args] = process.argv.slice(2);
requireLinux(`npm run ${name}`);
installPackages();
const setup = await passThrough(path.join(ROOT, "scripts/setup"), ["--for", LEVELS[name]]);
// Who asks for one program may have what it needs; the program itself says what is missing.
if (setup !== 0 && setup !== PRESENT_ONLY) process.exit(setup);
const env = { ...process.env, PYTHONPATH: path.join(ROOT, "tests") };
process.exit(await passThrough(path.join(ROOT, ".venv/bin/python"), ["-m", name, ...args], { env }));
