import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";

import { portOf, requireCount, requireDataSetName, requireOneOf } from "../../scripts/npm/program.mjs";
import { temporaryFolder } from "../support/folders.mjs";

const MODULE = pathToFileURL(path.resolve(import.meta.dirname, "../../scripts/npm/program.mjs")).href;
const PROGRAM = `
import { optionsOf, portOf } from ${JSON.stringify(MODULE)};
const options = optionsOf({
  command: "npm run bake --",
  help: "Bakes.",
  options: { out: { type: "string", default: "cake" }, port: { type: "string" }, hot: { type: "boolean" } },
  check: ({ port }) => portOf(port),
});
console.log(JSON.stringify(options));`;

/** Runs a program with these arguments. */
const bake = (...args) =>
  spawnSync(process.execPath, ["--input-type=module", "-e", PROGRAM, "--", ...args], { encoding: "utf8" });

describe("the options of a small program", () => {
  it("come from the command line and its defaults", () => {
    assert.deepEqual(JSON.parse(bake("--hot").stdout), { hot: true, out: "cake" });
    assert.deepEqual(JSON.parse(bake("--out=pie", "--port", "80").stdout), { out: "pie", port: "80" });
  });

  it("are explained by --help, even beside a wrong value", () => {
    for (const flag of ["--help", "-h"]) {
      const { status, stdout } = bake(flag, "--port=eighty");
      assert.deepEqual([status, stdout], [0, "Bakes.\n"]);
    }
  });

  it("that are wrong are named, with where the right ones are", () => {
    for (const [args, what] of [
      [["--cold"], "Unknown option '--cold'"],
      [["cake"], "Unexpected argument 'cake'"],
      [["--hot=very"], "Option '--hot' does not take an argument"],
      [["--out"], "Option '--out <value>' argument missing"],
      [["--port", "eighty"], "--port wants a number up to 65535, not 'eighty'"],
    ]) {
      const { status, stdout, stderr } = bake(...args);
      assert.deepEqual([status, stdout], [2, ""]);
      assert.equal(stderr, `npm run bake: ${what}\n  next: see npm run bake -- --help\n`);
    }
  });
});

describe("the packages of a program", () => {
  const LOCK = "package-lock.json";

  /** A checkout in which `npm` is a program of these lines; returns how to run a program of Replay there. */
  function checkoutWith(t, npm) {
    const checkout = temporaryFolder(t);
    const module = "scripts/npm/program.mjs";
    cpSync(path.resolve(import.meta.dirname, "../..", module), path.join(checkout, module));
    const lock = {
      packages: { "": {}, "node_modules/a": { version: "1.0.0" }, "node_modules/b": { optional: true } },
    };
    writeFileSync(path.join(checkout, LOCK), JSON.stringify(lock));
    mkdirSync(path.join(checkout, "node_modules"));
    const calls = path.join(checkout, "calls");
    const program = path.join(checkout, "npm.cjs");
    writeFileSync(
      program,
      `require("node:fs").appendFileSync(${JSON.stringify(calls)}, process.argv.slice(2).join(" ") + "\\n");\n${npm}`,
    );
    const run = () =>
      spawnSync(
        process.execPath,
        [
          "--input-type=module",
          "-e",
          `(await import("./${module}")).installPackages(); console.log("goes on")`,
        ],
        { cwd: checkout, encoding: "utf8", env: { ...process.env, npm_execpath: program } },
      );
    return { run, called: () => readFileSync(calls, "utf8") };
  }

  it("are installed as the lock says, once", (t) => {
    const npm = `require("node:fs").copyFileSync("${LOCK}", "node_modules/.${LOCK}");`;
    const { run, called } = checkoutWith(t, npm);
    const first = run();
    assert.equal(first.stdout, "goes on\n");
    assert.match(first.stderr, /^Installing the packages of package-lock\.json .*: npm ci\n/);
    assert.deepEqual([run().stderr, called()], ["", "ci --no-audit --no-fund\n"]);
  });

  it("that cannot be installed end it, with what to do", (t) => {
    const { status, stdout, stderr } = checkoutWith(t, "process.exit(1);").run();
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(stderr, /npm ci failed\.\n {2}next: see that this machine is online/);
    assert.match(stderr, /after an edit of package\.json, first: npm install\n/);
  });
});

it("a port is a valid number", () => {
  assert.equal(portOf(undefined), undefined);
  assert.equal(portOf("0"), 0);
  assert.equal(portOf("65535"), 65535);
  for (const wrong of ["65536", "-1", "80a", "", "1e3", "123456"])
    assert.throws(() => portOf(wrong), /--port/);
});

it("an option with a list of words accepts no other", () => {
  requireOneOf("cut", ["20", "40"], undefined);
  requireOneOf("cut", ["20", "40"], "20");
  assert.throws(() => requireOneOf("cut", ["20", "40"], "30"), /--cut 30: expected one of 20, 40/);
});

it("a data set's name fits into a path and an address", () => {
  for (const name of [undefined, "reference", "16-2", ["mine", "yours"]]) requireDataSetName("data", name);
  for (const name of ["Bad_Name", "", "-x", "a.b", "../x", ["mine", "Yours"]])
    assert.throws(
      () => requireDataSetName("data", name),
      /^Error: --data: '.*' is not a valid data set name/,
    );
});

it("a count is a whole number from 1", () => {
  for (const right of [undefined, "7"]) requireCount("rounds", right);
  for (const wrong of ["0", "-1", "1.5", "many", ""])
    assert.throws(() => requireCount("rounds", wrong), /--rounds wants a whole number from 1, not '/);
});
