// The steps of `npm test`: cheapest failures first, and the longest one beside the others.

import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { availableParallelism, freemem } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { TOGETHER as PLUGIN_TOGETHER } from "../../plugins/chartjs-plugin-csv/test/together/files.js";
import { ROOT } from "./processes.mjs";

const MINUTE = 60_000;

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {(report: string) => string[]} argv  the command; `report` is where a test runner writes its report
 * @property {"tap"|"junit"} [report]  the report's kind; a step without one is a check, which has no tests
 * @property {Record<string, string>} [environment]  added to the program's environment
 * @property {boolean} [beside]  it runs beside the steps that follow it
 * @property {boolean} [inMemory]  its files may be in memory, since they are small: without a disk, it takes less time
 * @property {number} bound  the most milliseconds that it takes on the reference machine of scripts/npm/patience.mjs,
 *   which says how much longer it may take here before it counts as hanging and is ended
 */

/** Test files (`*.test.js`, `*.test.mjs`) below `folders` whose path satisfies `belongs`. */
function testFiles(folders, belongs) {
  return folders
    .filter((folder) => existsSync(path.join(ROOT, folder)))
    .flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true }).map((name) => path.join(folder, name)),
    )
    .filter((file) => /\.test\.m?js$/.test(file) && belongs(file))
    .sort();
}

function pluginTests() {
  return readdirSync(path.join(ROOT, "plugins")).map((name) => `plugins/${name}/test`);
}

/**
 * Files of tests/deck/browser that run in one process, by name, because they share its browser. A file that no group
 * names runs in a process of its own. Each group takes about as long as the others.
 */
export const GROUPS = [
  ["every-slide", "views", "counts"],
  ["claims", "canvas", "deck", "altered"],
  ["site", "origin", "phone", "recorded-run"],
  ["axe", "keyboard", "stage"],
  ["reader", "speaker", "chart-tools", "front-page"],
  ["pdf", "print", "errors", "navigation", "imported", "contact-sheet", "reused-page", "comparison"],
];

// A browser test is in a folder `browser`, or named browser….test.js.
const isBrowserTest = (file) => /(^|\/)browser([-./])/.test(file);
// These run several in one process: those of a group, and those of the plugin's test/together.
const TOGETHER = new Set([
  ...GROUPS.flat().map((name) => `tests/deck/browser/${name}.test.js`),
  ...PLUGIN_TOGETHER.map((name) => `plugins/chartjs-plugin-csv/test/${name}.test.js`),
]);

/** What this run writes, below the project: a folder of its own, since two runs may go on side by side. */
export const OWN_FOLDER = `.cache/test/${process.pid}`;

/** Writes a test file for each group, which runs the group in one process. Returns their paths. */
function groupFiles() {
  const folder = `${OWN_FOLDER}/groups`;
  mkdirSync(path.join(ROOT, folder), { recursive: true });
  const program = pathToFileURL(path.join(ROOT, "tests/deck/support/together.js")).href;
  return GROUPS.map((_, position) => {
    const file = `${folder}/browser-${position + 1}.test.js`;
    const lines = [
      `import { runGroup } from ${JSON.stringify(program)};`,
      `await runGroup(${position + 1});`,
    ];
    writeFileSync(path.join(ROOT, file), `${lines.join("\n")}\n`);
    return file;
  });
}

/**
 * What `npm run test:quick` leaves out, as it leaves out Python tests that are marked `slow`: tests whose promise is that
 * of whole processes (the set-up, npm scripts, Ctrl-C, a compiler).
 */
export const SLOW = [
  "plugins/chartjs-plugin-csv/test/types.test.js",
  "tests/setup/npm-scripts.test.js",
  "tests/setup/setup.test.js",
  "tests/setup/start.test.js",
  "tests/setup/swallowed.test.js",
  "tests/setup/test-run.test.js",
  "tests/deck/unit/freeze.test.js",
];

function nodeTests(files, args = []) {
  if (files.length === 0)
    return () => [process.execPath, "-e", "throw new Error('no test files were found')"];
  return (report) => [
    ...[process.execPath, "--test", ...args],
    ...["--test-reporter=spec", "--test-reporter-destination=stdout"],
    ...["--test-reporter=tap", `--test-reporter-destination=${report}`],
    ...files,
  ];
}

/** The releases of Ceph that `npm run test:releases` tests; `npm test` tests the host's release. */
const RELEASES = [18, 20];

/** The mark of the tests that depend on the release: the sandbox, every experiment at smoke scale, foreign clusters. */
const OF_RELEASE = "of_release";

/** The mark of the tests that run blocks elsewhere: in a container, or as jobs of Slurm. */
const ON_OTHER_HOSTS = "hosts";

const pytest =
  (marks, ...args) =>
  (report) => [
    ...[path.join(ROOT, ".venv/bin/python"), "-m", "pytest", "-q", "-m", marks, ...args],
    ...["--durations=5", `--junitxml=${report}`],
  ];

/** What a sandbox and the test on it take at the most, with room for the rest of the machine. */
const SANDBOX_BYTES = 2 * 2 ** 30;

/**
 * Returns how many sandboxes are tested at a time, if there is memory for them: three for each processor, because a test
 * mostly waits for Ceph. With four on each of two processors, the step takes no less.
 */
export function sandboxesAtATime({ processors = availableParallelism(), freeBytes = freemem() } = {}) {
  return Math.max(1, Math.min(3 * processors, 6, Math.floor(freeBytes / SANDBOX_BYTES)));
}

/** Steps of `npm run test:releases`. @returns {Step[]} */
function stepsOfReleases() {
  return RELEASES.flatMap((release) => [
    {
      name: `Ceph ${release} is available`,
      argv: () => [path.join(ROOT, "replay"), "sandbox", "releases", "--get", String(release)],
      bound: 15 * MINUTE,
    },
    {
      name: `Sandbox, experiments and foreign clusters on Ceph ${release}`,
      // Two at a time: the tests that start and break sandboxes, and those that share one that is up all the while.
      argv: pytest(OF_RELEASE, "-n", "2", "--dist", "loadgroup"),
      environment: { REPLAY_TEST_RELEASE: String(release) },
      report: "junit",
      bound: 15 * MINUTE,
    },
  ]);
}

/** Steps of `npm run test:hosts`. @returns {Step[]} */
function stepsOfHosts() {
  return [
    {
      name: "Snakemake's plugin for Slurm is available",
      argv: () => [path.join(ROOT, "scripts/setup"), "--for", "slurm"],
      bound: 5 * MINUTE,
    },
    {
      name: "Blocks in a container, and as jobs of Slurm",
      argv: pytest(ON_OTHER_HOSTS),
      report: "junit",
      bound: 15 * MINUTE,
    },
  ];
}

/** Returns the steps of the whole run, of the fast subset, of other releases, or of hosts. @returns {Step[]} */
export function testSteps({ quick = false, releases = false, hosts = false } = {}) {
  if (releases) return stepsOfReleases();
  if (hosts) return stepsOfHosts();
  const folders = ["tests", ...pluginTests()];
  const lint = { name: "Linters", argv: () => [process.execPath, "scripts/npm/lint.mjs"], bound: MINUTE };
  const unit = {
    name: "JavaScript unit tests",
    // Three files at a time: some wait for the processes that they start.
    argv: nodeTests(
      testFiles(folders, (file) => !isBrowserTest(file) && !(quick && SLOW.includes(file))),
      ["--test-concurrency=3"],
    ),
    report: "tap",
    inMemory: true,
    bound: 2 * MINUTE,
  };
  const python = {
    name: "Python tests without a cluster",
    // Three at a time on two cores: some wait for the processes that they start.
    argv: pytest(
      // What depends on the release and has no sandbox of the host's is for `npm run test:releases` alone.
      `not sandbox and not hosts and not of_release${quick ? " and not slow" : ""}`,
      "-n",
      "3",
      "--dist",
      "loadgroup",
    ),
    report: "junit",
    inMemory: true,
    bound: 3 * MINUTE,
  };
  const sandbox = {
    name: "Tests on a sandbox, with a smoke run of every experiment",
    // Each process has its own sandbox. Groups of tests stay together.
    argv: (report) => pytest("sandbox", "-n", String(sandboxesAtATime()), "--dist", "loadgroup")(report),
    report: "junit",
    // It takes more than half of the time, and often waits for Ceph.
    beside: true,
    bound: 10 * MINUTE,
  };
  if (quick) return [lint, unit, python];
  return [
    lint,
    sandbox,
    unit,
    python,
    { name: "check", argv: () => [process.execPath, "scripts/check.mjs"], bound: MINUTE },
    {
      name: "build",
      argv: () => [process.execPath, "scripts/build.mjs", "--out", `${OWN_FOLDER}/dist`],
      // The talk may not say yet where people clone it; what is built here is not published.
      environment: { REPLAY_REPOSITORY: "https://people.example/talk" },
      bound: 2 * MINUTE,
    },
    {
      name: "Browser tests",
      argv: (report) =>
        nodeTests(
          [...groupFiles(), ...testFiles(folders, (file) => isBrowserTest(file) && !TOGETHER.has(file))],
          ["--test-concurrency=2"],
        )(report),
      report: "tap",
      inMemory: true,
      bound: 6 * MINUTE,
    },
  ];
}
