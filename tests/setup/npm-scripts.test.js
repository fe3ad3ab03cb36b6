import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { runInNewContext } from "node:vm";

import { temporaryFolder } from "../support/folders.mjs";
import { patient } from "../support/patience.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const { engines, scripts } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));
const VERSION_CHECK = path.join(ROOT, "scripts/npm/node-version.cjs");

const listOf = (folder) => readdirSync(folder, { recursive: true }).sort();

/** What scripts/npm/node-version.cjs says of a version of Node, and its exit status; null if it lets the program go on. */
function saidOf(version) {
  const outcome = { said: "", status: null };
  runInNewContext(readFileSync(VERSION_CHECK, "utf8"), {
    require: createRequire(VERSION_CHECK),
    console: { error: (text) => (outcome.said += `${text}\n`) },
    process: { versions: { node: version }, exit: (status) => (outcome.status = status) },
  });
  return outcome.status === null ? null : outcome;
}

describe("a Node that is too old", () => {
  it("is named, with how to get a newer one", () => {
    const [major, minor] = /(\d+)\.(\d+)/.exec(engines.node).slice(1).map(Number);
    const { said, status } = saidOf("18.20.4");
    assert.equal(status, 1);
    assert.match(said, /^Node 18\.20\.4 is too old: Replay needs 20\.19 or later\.\n {2}next: .*nodejs\.org/);
    assert.match(saidOf(`${major}.${minor - 1}.9`).said, /too old/);
    assert.equal(saidOf(`${major}.${minor}.0`), null);
    assert.equal(saidOf(`${major + 4}.0.0`), null);
  });

  it("meets it before any program of an npm script", () => {
    for (const [name, script] of Object.entries(scripts))
      assert.match(
        script,
        /^node -r \.\/scripts\/npm\/node-version\.cjs scripts\/[a-z]+\.mjs( [a-z-]+)?$/,
        name,
      );
  });
});

describe("an npm script, in a checkout where nothing is installed", () => {
  const names = ["start", "test", "present", "build", "check", "wording", "freeze", "pdf", "perf", "lint"];
  names.push("golden");
  const checkout = temporaryFolder({ after });
  before(() => {
    for (const part of ["package.json", "package-lock.json", "scripts", "deck", "config"])
      cpSync(path.join(ROOT, part), path.join(checkout, part), { recursive: true });
  });
  const run = (name, ...args) => {
    const installed = listOf(checkout);
    const done = spawnSync(process.execPath, [`scripts/${name}.mjs`, ...args], {
      cwd: checkout,
      encoding: "utf8",
      timeout: patient(20_000),
    });
    assert.deepEqual(listOf(checkout), installed, "something was installed");
    return done;
  };

  for (const name of names)
    it(`${name} answers --help without installing anything`, () => {
      const { status, stdout, stderr } = run(name, "--help");
      assert.equal(status, 0, stderr);
      assert.match(stdout, new RegExp(`npm (run )?${name}`));
      assert.equal(stderr, "");
    });

  for (const name of names)
    it(`${name} refuses an unknown option`, () => {
      const { status, stdout, stderr } = run(name, "--zzz=1");
      assert.equal(status, 2);
      assert.match(stderr, /^npm [\w ]+: Unknown option '--zzz'\n {2}next: see npm .* -- --help\n$/);
      assert.equal(stdout, "");
    });

  for (const name of ["present", "build", "pdf", "wording", "freeze"])
    it(`${name} refuses an invalid data set name`, () => {
      const { status, stderr } = run(name, "--data", "Bad_Name");
      assert.equal(status, 2);
      assert.match(
        stderr,
        /^.*: --data: 'Bad_Name' is not a valid data set name: .*\n {2}next: see .* --help\n$/,
      );
    });
});

describe("where there is Node and nothing else, neither a shell nor Python", () => {
  const folder = temporaryFolder({ after });
  mkdirSync(path.join(folder, "bin"));

  // tests/deck/browser/site.test.js has the site that is built there.
  it("the talk is presented", async () => {
    const program = spawn(process.execPath, ["scripts/present.mjs", "--no-open", "--port", "0"], {
      cwd: ROOT,
      env: { PATH: path.join(folder, "bin"), HOME: folder },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise((resolve) => program.once("exit", resolve));
    let said = "";
    for await (const part of program.stdout.setEncoding("utf8")) {
      said += part;
      const address = /http:\/\/127\.0\.0\.1:\d+\//.exec(said)?.[0];
      if (!said.includes("Ctrl-C") || !address) continue;
      assert.equal((await fetch(address)).status, 200);
      program.kill("SIGINT");
    }
    assert.equal(await ended, 0, said);
  });
});
