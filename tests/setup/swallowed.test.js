import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";

import { patient } from "../../scripts/npm/patience.mjs";
import { keyOf, settingsIn, swallowed } from "../../scripts/npm/swallowed.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const OPTIONS = {
  data: { type: "string" },
  out: { type: "string" },
  "left-osds": { type: "string" },
  "dry-run": { type: "boolean" },
  "no-preview": { type: "boolean" },
};
/** The message if npm left `kept` in the environment and passed on `args`. */
const said = (kept, args = [], { name = "bake", words = [], own } = {}) => {
  const environment = Object.fromEntries(
    Object.entries(kept).map(([key, value]) => [`npm_config_${key}`, value]),
  );
  return swallowed({ name, args, options: OPTIONS, words, environment, own });
};
const lineOf = (text) => /\n {2}next: (.*)$/.exec(text)?.[1];

describe("an option that npm kept for itself", () => {
  it("is named, with the line to type instead", () => {
    assert.equal(
      said({ data: "x" }),
      "npm run bake: npm took --data=x as one of its own options, because there is no -- before it\n  next: npm run bake -- --data=x",
    );
    assert.equal(lineOf(said({ data: "x" }, [], { name: "start" })), "npm start -- --data=x");
  });

  it("is found with its value, with or without an equals sign", () => {
    assert.equal(
      lineOf(said({ data: "x", out: "y" }, ["--left-osds", "3"])).split(" -- ")[1],
      "--left-osds 3 --data=x --out=y",
    );
    assert.equal(lineOf(said({ data: "true" }, ["x"])), "npm run bake -- --data=x");
    assert.equal(lineOf(said({ data: "x\n\ny" })), "npm run bake -- --data=x --data=y");
    assert.equal(
      lineOf(said({ left_osds: "true" }, ["up", "3"], { words: ["up"] })),
      "npm run bake -- up --left-osds=3",
    );
    assert.equal(lineOf(said({ data: "a b" })), "npm run bake -- --data='a b'");
    assert.equal(lineOf(said({ data: "" })), "npm run bake -- --data=''");
  });

  it("leaves its value open if nobody can tell which it was", () => {
    assert.equal(lineOf(said({ data: "true" })), "npm run bake -- --data VALUE");
    assert.equal(
      lineOf(said({ data: "true", out: "true" }, ["x", "y"])),
      "npm run bake -- x y --data VALUE --out VALUE",
    );
  });

  it("may be a flag, also one that begins with no-", () => {
    assert.equal(lineOf(said({ dry_run: "true" }, ["--data", "x"])), "npm run bake -- --data x --dry-run");
    assert.equal(lineOf(said({ preview: "" })), "npm run bake -- --no-preview");
    assert.equal(said({ dry_run: "" }), null);
    assert.equal(said({ preview: "true" }), null);
    assert.equal(said({ dry_run: "true" }, ["--dry-run"]), null, "it was handed on as well");
  });

  it("is recognised despite a typo", () => {
    assert.equal(
      said({ dta: "x" }),
      "npm run bake: npm took --dta=x as one of its own options, because there is no -- before it; did you mean --data?" +
        "\n  next: npm run bake -- --data=x",
    );
    assert.equal(lineOf(said({ left_osd: "3" })), "npm run bake -- --left-osds=3");
  });

  it("does not count if npm's own configuration sets it", () => {
    const own = new Map([
      ["dry_run", "true"],
      ["data", "mine"],
    ]);
    assert.equal(said({ dry_run: "true", data: "mine" }, [], { own }), null);
    assert.equal(lineOf(said({ data: "x" }, [], { own })), "npm run bake -- --data=x", "typed over it");
  });

  it("is not one of npm's own options and settings", () => {
    const npms = {
      ...{
        user_agent: "npm/11",
        noproxy: "",
        userconfig: "/u/.npmrc",
        globalconfig: "/e/npmrc",
        prefix: "/usr",
      },
      ...{
        local_prefix: "/x",
        global_prefix: "/usr",
        npm_version: "11.1.0",
        cache: "/c",
        init_module: "/i.js",
      },
      ...{
        node_gyp: "/g.js",
        loglevel: "silent",
        fund: "",
        audit: "",
        update_notifier: "",
        cafile: "/ca.crt",
      },
      ...{
        registry: "https://example.org/",
        progress: "true",
        offline: "true",
        workspace: "a",
        if_present: "true",
      },
      ...{
        ignore_scripts: "true",
        script_shell: "bash",
        foreground_scripts: "true",
        color: "always",
        scope: "@a",
      },
      ...{
        save: "",
        save_exact: "true",
        depth: "1",
        omit: "dev",
        location: "user",
        timing: "true",
        tag: "next",
      },
    };
    assert.equal(said(npms), null);
  });
});

it("settings of npm are read as they are in the environment", () => {
  const text =
    "; data=no\n# out=no\nyes=false\n dry-run = true \nLeft-OSDs=3\ncolor\n//host/:_authToken=secret\nomit[]=dev\n";
  assert.deepEqual(settingsIn(text), [
    ["yes", ""],
    ["dry_run", "true"],
    ["left_osds", "3"],
    ["color", "true"],
  ]);
  assert.equal(keyOf("Dry-Run"), "dry_run");
});

describe("npm itself", () => {
  const npm = (args, environment = {}) => {
    const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
    return spawnSync("npm", ["--silent", ...args], {
      ...{ cwd: ROOT, encoding: "utf8", timeout: patient(120_000), stdio: ["ignore", "pipe", "pipe"] },
      env: { ...clean, ...environment },
    });
  };

  for (const [args, line] of [
    [["run", "build", "--data=x"], "npm run build -- --data=x"],
    [["run", "build", "--data", "x"], "npm run build -- --data=x"],
    [["run", "measure", "--site=x"], "npm run measure -- --site=x"],
    [["run", "measure", "--dry-run", "--", "--site", "x"], "npm run measure -- --site x --dry-run"],
    [["run", "sandbox", "up", "--left-osds", "3"], "npm run sandbox -- up --left-osds=3"],
    [["start", "--no-open"], "npm start -- --no-open"],
    [["run", "test:quick", "--quik"], "npm run test:quick -- --quick"],
  ])
    it(`npm ${args.join(" ")} is refused with the line to type`, () => {
      const { status, stdout, stderr } = npm(args);
      assert.equal(status, 2, stderr);
      assert.match(stderr, /^npm .*: npm took --/);
      assert.equal(lineOf(stderr.trimEnd()), line);
      assert.equal(stdout, "");
    });

  it("may be configured by the person who uses it", (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "replay-npmrc-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const npmrc = path.join(folder, "npmrc");
    writeFileSync(npmrc, "loglevel=warn\nfund=false\njson=true\nyes=true\n");
    const environment = { NPM_CONFIG_USERCONFIG: npmrc };
    for (const name of ["claims", "clean", "check"]) {
      const { status, stdout, stderr } = npm(["run", name, "--", "--help"], environment);
      assert.equal(status, 0, stderr);
      assert.match(stdout, new RegExp(`(npm run|replay) ${name}`));
    }
    assert.equal(npm(["run", "check", "--fix"], environment).status, 2);
  });
});
