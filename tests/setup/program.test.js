import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { portOf, readOptions, requireOneOf } from "../../scripts/npm/program.mjs";

const PROGRAM = {
  command: "npm run bake --",
  help: "Bakes.",
  options: { out: { type: "string", default: "cake" }, port: { type: "string" }, hot: { type: "boolean" } },
  check({ port }) {
    portOf(port);
  },
};

describe("the options of a small program", () => {
  it("are what it was called with, and its defaults", () => {
    assert.deepEqual(readOptions(PROGRAM, ["--hot"]), { values: { out: "cake", hot: true } });
    assert.deepEqual(readOptions(PROGRAM, ["--out=pie", "--port", "80"]).values, { out: "pie", port: "80" });
    assert.deepEqual(readOptions({ command: "x", help: "y" }, []), { values: {} });
  });

  it("are explained by --help, even where one that it needs is missing", () => {
    const needy = {
      ...PROGRAM,
      check() {
        throw new Error("Name a cake.");
      },
    };
    for (const flag of ["--help", "-h"]) assert.deepEqual(readOptions(needy, [flag]), { help: "Bakes." });
  });

  it("that are wrong are named, with the way to the right ones", () => {
    const problem = (...args) => readOptions(PROGRAM, args).problem;
    assert.match(problem("--cold"), /--cold[^]*\nSee: npm run bake -- --help$/);
    assert.match(problem("cake"), /cake/);
    assert.match(problem("--port", "eighty"), /^--port wants a number up to 65535, not “eighty”\nSee:/);
  });
});

it("a port is a number that there is", () => {
  assert.equal(portOf(undefined), undefined);
  assert.equal(portOf("0"), 0);
  assert.equal(portOf("65535"), 65535);
  for (const wrong of ["65536", "-1", "80a", "", "1e3", "123456"])
    assert.throws(() => portOf(wrong), /--port/);
});

it("an option that takes certain words takes no other", () => {
  requireOneOf("cut", ["20", "40"], undefined);
  requireOneOf("cut", ["20", "40"], "20");
  assert.throws(() => requireOneOf("cut", ["20", "40"], "30"), /--cut wants 20 or 40, not “30”/);
});
