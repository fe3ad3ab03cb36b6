/** An imported data set is drawn like a measured one: charts, labels, no complaint. */
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";

import { serveFolder } from "../../../scripts/deck/static-server.js";
import { temporaryFolder } from "../../support/folders.mjs";
import { assertEnds, runNode, runReplay } from "../../support/programs.mjs";
import { replaceChapter } from "../support/chapters.js";
import { chartsOf, goTo, slideIds, startDeck } from "../support/deck.js";

const SECONDS = 2;
const DEPTH = 4;
const CHARTS = ["iops-randwrite", "ratio-iops-randwrite", "latency-mean-randwrite"];
const CHAPTER = `

<!-- .slide: id="theirs" data-timing="10" -->
## Theirs

<div class="panels">
${CHARTS.map(panel).join("\n")}
</div>

<!-- Note -->
Words.
`;
const withChapter = (page) => replaceChapter(page, "slides/rpo/91-journal.md", CHAPTER);
let deck;
const results = temporaryFolder({ after });

before(async () => {
  deck = await startDeck();
  const folders = ["before", "after"].map((name) => path.join(results, name));
  for (const [factor, folder] of folders.entries()) {
    await mkdir(folder);
    for (const run of [1, 2, 3])
      for (const size of [4096, 65536]) {
        const operations = 10_000 * (factor + 1) + 10 * run;
        await writeFile(path.join(folder, `${size}-${run}.json`), report({ operations, size, run }));
      }
  }
  await replay("import", ...folders, "--data", "theirs", "--label", "Theirs");
});
after(() => deck?.close());

test("its charts are drawn from its tables, with their intervals and a label that says where they come from", async () => {
  const page = await deck.openDeck("?data=theirs", { prepare: withChapter });
  await goTo(page, "theirs");
  const charts = await chartsOf(page, "theirs");
  assert.deepEqual(
    charts.map(({ error }) => error),
    CHARTS.map(() => undefined),
  );
  const [iops, ratio, latency] = charts;
  assert.deepEqual(iops.series, { before: [5010, 5010], after: [10010, 10010] });
  assert.deepEqual(Object.keys(ratio.series), ["after"]);
  for (const value of ratio.series.after) assert.ok(Math.abs(value - 20020 / 10020) < 1e-5, `ratio ${value}`);
  for (const [name, rate] of [
    ["before", 5010],
    ["after", 10010],
  ])
    for (const value of latency.series[name])
      assert.ok(Math.abs(value - DEPTH / rate) < 1e-6, `${name}: ${value}`);
  const said = await page.textContent("#theirs");
  assert.match(said, /theirs: Theirs · n = 3 · /);
});

test("a talk that replay talk starts from it is built, and opens with every chart drawn and every figure written", async () => {
  const talk = path.join(results, "talk");
  const said = await replay("talk", "theirs", "--out", talk, "--title", "Which is faster?");
  assert.match(said, /4 slides and 2 in the appendix/);
  assert.match(said, /n = 3: 2 of 2 comparisons settled/);
  const site = path.join(results, "site");
  const build = (...options) =>
    runNode("scripts/build.mjs", ["--out", site, "--no-preview", ...options], {
      REPLAY_TALK: talk,
      REPLAY_REPOSITORY: "",
    });
  await assertEnds(build(), 1, /talk\.yaml:\d+: repository is empty.*Or build with --no-address/s);
  await build("--no-address");
  const server = await serveFolder(site);
  const page = await deck.browser.open(`${server.url}?stage`);
  assert.equal(await page.textContent("#question h1"), "Which is faster?");
  const ids = await slideIds(page);
  assert.deepEqual(ids, ["question", "answer", "iops", "next", "setup", "method"]);
  const titleOf = (id) =>
    page.evaluate((slide) => document.querySelector(`#${slide} h2`).innerText.replaceAll(/\s+/g, " "), id);
  await goTo(page, "answer");
  const runs = await chartsOf(page, "answer");
  assert.deepEqual(
    runs.map(({ error, series }) => [error, Object.keys(series)]),
    [[undefined, ["before", "after"]]],
  );
  assert.equal(await titleOf("answer"), "after: 2.0× the IOPS.");
  await goTo(page, "iops");
  const [ratios] = await chartsOf(page, "iops");
  assert.equal(ratios.error, undefined);
  assert.deepEqual(Object.keys(ratios.series), ["writes 4K", "writes 64K"]);
  for (const [value] of Object.values(ratios.series)) assert.ok(Math.abs(value - 2) < 0.01, `ratio ${value}`);
  assert.equal(
    await titleOf("iops"),
    "IOPS: two of two are settled. Writes of 4K: 2.0×; writes of 64K: 2.0×.",
  );
  await page.close();
  await server.close();
});

test("what replay bundle writes of other results is taken by a deck, with their names and figures", async () => {
  const other = path.join(results, "other.bundle");
  await replay("import", path.join(results, "after"), path.join(results, "before"), "--data", "others");
  await replay("bundle", "--data", "others", "--label", "Other people", "--out", other);
  const bundle = await readFile(other);
  const prepare = async (page) => {
    await page.route("**/other.bundle", (route) => route.fulfill({ body: bundle }));
    await withChapter(page);
  };
  const page = await deck.openDeck("?bundle=other.bundle", { prepare });
  await goTo(page, "theirs");
  const [iops, ratio] = await chartsOf(page, "theirs");
  assert.deepEqual(iops.series, { after: [10010, 10010], before: [5010, 5010] });
  assert.deepEqual(Object.keys(ratio.series), ["before"]);
  assert.match(await page.textContent("#theirs .provenance"), /^others\.bundle: Other people · n = 3 · /);
});

/** Runs a command of Replay on the deck's data sets; resolves to what it prints. */
async function replay(...words) {
  return (await runReplay(words, { REPLAY_BENCHMARKS: deck.benchmarks })).stdout;
}

/** A chart in a panel, which gives it its height. */
function panel(name) {
  const file = `benchmarks/reference/imported-fio/aggregate/${name}.csv`;
  return `<div class="panel"><h3>${name}</h3><canvas data-chart="line" data-chart-src="${file}"></canvas></div>`;
}

/** fio's JSON of one job of random writes whose figures agree. */
function report({ operations, size, run }) {
  const idle = { total_ios: 0 };
  const bytes = operations * size;
  const write = {
    total_ios: operations,
    io_bytes: bytes,
    runtime: SECONDS * 1000,
    iops: operations / SECONDS,
    bw_bytes: bytes / SECONDS,
    // What was in flight, divided by the rate.
    clat_ns: { min: 1000, max: 9_000_000, mean: (DEPTH * SECONDS * 1e9) / operations, N: operations },
  };
  const options = { rw: "randwrite", bs: String(size), iodepth: String(DEPTH) };
  const job = { jobname: "job", groupid: 0, error: 0, "job options": options, read: idle, write };
  return JSON.stringify(
    { "fio version": "fio-3.33", timestamp_ms: 1_700_000_000_000 + run, jobs: [job] },
    null,
    1,
  );
}
