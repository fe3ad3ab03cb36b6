import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { nearest } from "../../scripts/npm/nearest.mjs";
import {
  portOf,
  readOptions,
  requireCount,
  requireDataSetName,
  requireOneOf,
} from "../../scripts/npm/program.mjs";

const PROGRAM = {
  command: "npm run bake --",
  help: "Bakes.",
  options: { out: { type: "string", default: "cake" }, port: { type: "string" }, hot: { type: "boolean" } },
  check({ port }) {
    portOf(port);
  },
};

describe("the options of a small program", () => {
  it("come from the command line and its defaults", () => {
    assert.deepEqual(readOptions(PROGRAM, ["--hot"]), { values: { out: "cake", hot: true } });
    assert.deepEqual(readOptions(PROGRAM, ["--out=pie", "--port", "80"]).values, { out: "pie", port: "80" });
    assert.deepEqual(readOptions({ command: "x", help: "y" }, []), { values: {} });
  });

  it("are explained by --help, even if a required one is missing", () => {
    const needy = {
      ...PROGRAM,
      check() {
        throw new Error("Name a cake.");
      },
    };
    for (const flag of ["--help", "-h"]) assert.deepEqual(readOptions(needy, [flag]), { help: "Bakes." });
  });

  it("that are wrong are named, with a hint on the right ones", () => {
    const problem = (...args) => readOptions(PROGRAM, args).problem;
    const said = (what, meant) =>
      `npm run bake: ${what}\n  next: ${meant ? `did you mean '${meant}'? ` : ""}see npm run bake -- --help`;
    assert.equal(problem("--cold"), said("there is no option --cold"));
    assert.equal(problem("--prot=80"), said("there is no option --prot", "--port"));
    assert.equal(problem("-x"), said("there is no option -x"));
    assert.equal(problem("cake"), said("'cake' is not understood: options begin with --"));
    assert.equal(problem("--hot", "--", "--out"), said("'--out' is not understood: options begin with --"));
    assert.equal(problem("--hot=very"), said("--hot takes no value"));
    assert.equal(problem("--out"), said("--out wants a value"));
    assert.equal(problem("--out", "--hot"), said("--out wants a value"));
    assert.equal(problem("--port", "eighty"), said("--port wants a number up to 65535, not 'eighty'"));
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
  requireCount("rounds", "7");
  for (const wrong of ["0", "-1", "1.5", "many", ""])
    assert.throws(() => requireCount("rounds", wrong), /--rounds wants a whole number from 1, not '/);
});

it("a typo is matched with the most similar known word, if there is one", () => {
  const known = ["reference", "release-18", "release-20", "local"];
  assert.equal(nearest("referense", known), "reference");
  assert.equal(nearest("Local", known), "local");
  assert.equal(nearest("release-2", known), "release-20");
  assert.equal(nearest("nowhere", known), null);
  assert.equal(nearest("", known), null);
  assert.equal(nearest("x", []), null);
});
