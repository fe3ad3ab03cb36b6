import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";

import { runTask } from "../../scripts/npm/tasks.mjs";
import { lintsThatApply } from "../../scripts/npm/snakemake-lint.mjs";
import { fromJunit, fromTap } from "../../scripts/npm/test-report.mjs";
import { SLOW, testSteps } from "../../scripts/npm/test-steps.mjs";
import { patient } from "../../scripts/npm/patience.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const { problemWith } = createRequire(import.meta.url)("../../scripts/npm/node-version.cjs");

const listOf = (folder) => readdirSync(folder, { recursive: true }).sort();

describe("an npm script", () => {
  it("names a Node that is too old, and how to get a newer one", () => {
    assert.match(
      problemWith("18.20.4"),
      /Node 18\.20\.4 is too old: Replay needs 20\.19 or later.*nodejs\.org/s,
    );
    assert.match(problemWith("20.18.1"), /too old/);
    assert.equal(problemWith("20.19.0"), null);
    assert.equal(problemWith("24.0.0"), null);
  });

  it("wants the same Node as package.json and the set-up", () => {
    const { engines } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));
    const setup = readFileSync(path.join(ROOT, "scripts/setup.d/environments.sh"), "utf8");
    const wanted = /^wanted_node=(.+)$/m.exec(setup)[1];
    assert.equal(engines.node, `>=${wanted}`);
    assert.equal(problemWith(`${wanted}.0`), null);
    assert.notEqual(problemWith(wanted.replace(/\d+$/, (minor) => minor - 1)), null);
  });

  it("that does not exist is refused by name", async () => {
    await assert.rejects(runTask("nonsense", []), /no such task: nonsense/);
  });

  it("starts with an entry in the oldest syntax, which every Node can read", () => {
    for (const name of ["run.cjs", "node-version.cjs"]) {
      const text = readFileSync(path.join(ROOT, "scripts/npm", name), "utf8");
      assert.doesNotMatch(text, /=>|\bconst\b|\blet\b|`|\bimport\b|\?\./, name);
    }
  });

  const inJavaScript = [
    "start",
    "test",
    "present",
    "build",
    "check",
    "wording",
    "freeze",
    "pdf",
    "perf",
    "drills",
    "crashes",
    "lint",
  ];
  const inPython = ["preflight", "measure", "derive", "claims", "clean", "sandbox"];

  describe("in a checkout where nothing is installed", () => {
    let checkout;
    let bytecode;
    before(() => {
      checkout = mkdtempSync(path.join(tmpdir(), "replay-fresh-"));
      bytecode = mkdtempSync(path.join(tmpdir(), "replay-bytecode-"));
      for (const part of ["package.json", "pyproject.toml", "replay", "scripts", "deck", "config"])
        cpSync(path.join(ROOT, part), path.join(checkout, part), { recursive: true });
    });
    after(() => {
      for (const folder of [checkout, bytecode]) rmSync(folder, { recursive: true, force: true });
    });
    const run = (...args) => {
      const before = listOf(checkout);
      // Python compiles its modules once for all that run here, and keeps that elsewhere.
      const environment = { ...process.env, PYTHONPYCACHEPREFIX: bytecode };
      delete environment.PYTHONDONTWRITEBYTECODE;
      const done = spawnSync(process.execPath, ["scripts/npm/run.cjs", ...args], {
        cwd: checkout,
        encoding: "utf8",
        env: environment,
        timeout: patient(60_000),
      });
      assert.deepEqual(listOf(checkout), before, "something was installed");
      return done;
    };

    for (const name of [...inJavaScript, ...inPython])
      it(`${name} answers --help without installing anything`, () => {
        const { status, stdout, stderr } = run(name, "--help");
        assert.equal(status, 0, stderr);
        assert.match(stdout, new RegExp(`npm (run )?${name}|replay ${name}`));
        assert.equal(stderr, "");
      });

    for (const name of [...inJavaScript, ...inPython])
      it(`${name} refuses an unknown option`, () => {
        const { status, stdout, stderr } = run(name, ...(name === "sandbox" ? ["up"] : []), "--zzz=1");
        assert.equal(status, 2);
        assert.match(stderr, /^(npm|.*replay) [\w ]+: there is no option --zzz\n {2}next: see .* --help\n$/);
        assert.equal(stdout, "");
      });

    for (const [name, ...rest] of [
      ...["present", "build", "pdf", "wording", "freeze", "derive", "claims"].map((one) => [one]),
      ...["measure", "preflight"].map((one) => [one, "--site", "sandbox"]),
      ["measure", "--site", "sandbox", "--dry-run"],
    ])
      it(`${[name, ...rest].join(" ")} refuses an invalid data set name`, () => {
        const { status, stderr } = run(name, ...rest, "--data", "Bad_Name");
        assert.equal(status, 2);
        assert.match(
          stderr,
          /^.*: --data: 'Bad_Name' is not a valid data set name: .*\n {2}next: see .* --help\n$/,
        );
      });
  });
});

describe("the report of a test run", () => {
  const TAP = `TAP version 13
# Subtest: adds
ok 1 - adds
# Subtest: subtracts
not ok 2 - subtracts
# Subtest: divides
ok 3 - divides # SKIP no divisor here
1..3
# tests 3
# pass 1
# fail 1
# cancelled 0
# skipped 1
# todo 0
`;
  it("is read from Node's runner", () => {
    assert.deepEqual(fromTap(TAP), {
      passed: 1,
      failed: 1,
      failures: ["subtracts"],
      skipped: ["divides # SKIP no divisor here"],
    });
  });

  it("of a runner that died before its count does not exist", () => {
    assert.equal(fromTap(TAP.slice(0, TAP.indexOf("# tests"))), null);
    assert.equal(fromJunit(""), null);
  });

  it("is read from pytest", () => {
    const xml = `<testsuites><testsuite name="pytest" errors="0" failures="1" skipped="1" tests="3" time="0.1">
<testcase classname="a" name="adds" time="0.1" />
<testcase classname="a" name="subtracts[&lt;0]" time="0.1"><failure message="no">trace</failure></testcase>
<testcase classname="a" name="divides" time="0.1"><skipped type="pytest.skip" message="no divisor">x</skipped></testcase>
</testsuite></testsuites>`;
    assert.deepEqual(fromJunit(xml), {
      passed: 1,
      failed: 1,
      failures: ["subtracts[<0]"],
      skipped: ["divides # no divisor"],
    });
  });
});

describe("the steps of npm test", () => {
  it("run the linters first, and the sandbox beside all the others", () => {
    const [first, second, ...others] = testSteps();
    assert.equal(first.name, "Linters");
    assert.equal(first.beside ?? false, false, "what fails in seconds is seen first");
    assert.match(second.name, /sandbox/);
    assert.equal(second.beside, true);
    assert.ok(
      others.length > 0 && others.every((step) => !step.beside),
      "more than two at a time gain nothing",
    );
  });

  it("of the fast run are a part of the whole, without sandbox and browser", () => {
    const whole = testSteps().map((step) => step.name);
    const quick = testSteps({ quick: true }).map((step) => step.name);
    assert.ok(quick.every((name) => whole.includes(name)));
    assert.ok(!quick.some((name) => /sandbox|browser/i.test(name)));
    const words = (options) => testSteps(options).flatMap((step) => step.argv("report"));
    for (const file of SLOW) {
      assert.ok(words().includes(file), `${file} is in the whole run`);
      assert.ok(!words({ quick: true }).includes(file), `${file} is not in the fast one`);
    }
  });

  it("of other releases get each release first, and test it with its name in the environment", () => {
    const steps = testSteps({ releases: true });
    for (const release of ["18", "20"]) {
      const first = steps.findIndex((step) => step.argv("report").join(" ").endsWith(`--get ${release}`));
      assert.equal(steps[first + 1].environment.REPLAY_TEST_RELEASE, release);
      assert.equal(steps[first + 1].report, "junit");
    }
    assert.equal(steps.length, 4);
  });

  it("of other releases run the tests with a mark that there is", () => {
    const marks = testSteps({ releases: true })
      .map((step) => step.argv("report"))
      .filter((argv) => argv.includes("-m"))
      .map((argv) => argv[argv.lastIndexOf("-m") + 1]);
    assert.equal(marks.length, 2);
    const declared = readFileSync(path.join(ROOT, "pyproject.toml"), "utf8");
    for (const mark of marks) assert.ok(declared.includes(`"${mark}: `), mark);
  });

  it("each have a time limit", () => {
    for (const step of [...testSteps(), ...testSteps({ releases: true })])
      assert.ok(step.bound > 0 && step.bound <= 30 * 60_000, step.name);
  });

  it("include every test file of the tree in exactly one step", () => {
    const files = testSteps().flatMap((step) =>
      step.argv("report").filter((arg) => /\.test\.m?js$/.test(arg)),
    );
    assert.equal(new Set(files).size, files.length);
    assert.ok(files.includes(path.relative(ROOT, import.meta.filename)));
  });
});

it("a lint of Snakemake that does not apply is ignored, and no other", () => {
  const report = `Lints for rule derive (line 29, Snakefile):
    * Specify a conda environment or container for each rule.:
      This way …
    * No log directive defined:
      Without …
`;
  assert.deepEqual(lintsThatApply(report), ["No log directive defined"]);
});
