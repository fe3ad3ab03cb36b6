/** The data of a chart's own page: what the chart draws and its texts say, and no more. */
import assert from "node:assert/strict";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

import { JSDOM } from "jsdom";

import { writeEmbedPages } from "../../../scripts/deck/embed.js";
import { filesOfChart, rowsOf } from "../../../scripts/deck/embed-data.js";
import { temporaryFolder } from "../../support/folders.mjs";

const ALTERED = { file: "claims.json", what: "is not what derive wrote" };

async function saveAll(folder, files) {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

test("of a table, only the rows of the series on show are kept, as they are written", () => {
  const table = 'series,x,y\n"Journal, poll age 5 s",1,0.10\nSnapshots,1,2\n"Journal, poll age 5 s",2,3\n';
  assert.equal(rowsOf(table, { series: null }), table);
  assert.equal(rowsOf(table, { series: ["Snapshots"] }), "series,x,y\nSnapshots,1,2\n");
  const journal = rowsOf(table, { series: ["Journal, poll age 5 s", "Other"] });
  assert.equal(journal, table.replace("Snapshots,1,2\n", ""));
});

test("of the runs of an experiment, only those of the chart and its series are kept", () => {
  const head = "chart,series,x,y,block,attempt\n";
  const runs = `${head}iops,A,1,2,1,1\niops,B,1,2,1,1\nlag,A,1,2,1,1\n`;
  assert.equal(rowsOf(runs, { charts: ["iops"], series: ["A"] }), `${head}iops,A,1,2,1,1\n`);
  assert.equal(rowsOf(runs, { charts: ["lag"], series: null }), `${head}lag,A,1,2,1,1\n`);
});

test("a page holds the claims that its slide names, not those whose names begin alike, and what they were judged from", async (t) => {
  const root = temporaryFolder(t);
  const experiment = { title: "E", limits: { a: 1 }, charts: { x: { n: 6 }, y: { n: 7 } } };
  const files = {
    "mine/manifest.json": JSON.stringify({ label: "L", experiments: { e: experiment, f: experiment } }),
    "mine/claims.json": JSON.stringify({
      claims: { slow: { chart: "e/x" }, "slow-cached": { chart: "f/x" }, "(of somebody else": {} },
    }),
    "index.json": JSON.stringify({ altered: { mine: [ALTERED], other: [ALTERED] }, own: {} }),
    "mine/e/aggregate/x.csv": "I/O size,4096\nA,1\nB,2\n",
    "mine/e/aggregate/x.spread.csv": "series,x,low,high,min,max,n\nA,4096,1,1,1,1,6\nB,4096,2,2,2,2,6\n",
    "mine/e/aggregate/runs.csv": "chart,series,x,y,block,attempt\nx,A,4096,1,1,1\ny,A,4096,1,1,1\n",
  };
  await saveAll(path.join(root, "benchmarks"), files);
  const filesFor = (attributes) => {
    const html = `<section><canvas ${attributes}></canvas></section>`;
    const canvas = new JSDOM(html).window.document.querySelector("canvas");
    return filesOfChart(root, { section: html, canvas, usual: "mine" });
  };
  const table = "benchmarks/mine/e/aggregate/x.csv";
  const plain = await filesFor(`data-chart-src="${table}" data-chart-series="A"`);
  assert.equal(plain[table], "I/O size,4096\nA,1\n");
  assert.ok(!Object.keys(plain).some((name) => name.endsWith("runs.csv")));
  const lines = await filesFor(`data-chart-src="${table}" data-chart-lines="worst"`);
  assert.equal(
    lines["benchmarks/mine/e/aggregate/runs.csv"],
    "chart,series,x,y,block,attempt\nx,A,4096,1,1,1\n",
  );

  const claimed = await filesFor(
    'data-chart-src="benchmarks/mine/claims.json" data-chart-claims="One = slow.ratio"',
  );
  const read = (name) => JSON.parse(claimed[`benchmarks/mine/${name}`]);
  assert.deepEqual(Object.keys(read("claims.json").claims), ["slow"]);
  assert.deepEqual(read("manifest.json").experiments, { e: { title: "E", charts: { x: { n: 6 } } } });
  const index = JSON.parse(claimed["benchmarks/index.json"]);
  assert.deepEqual(index, {
    data_sets: ["mine"],
    files: { mine: ["claims.json", "manifest.json"] },
    altered: { mine: [ALTERED] },
    own: {},
  });
  assert.equal(await filesFor('data-chart-src="benchmarks/other/claims.json"'), null);
  const outside = path.relative(root, import.meta.filename);
  assert.equal(await filesFor(`data-chart-src="${outside}"`), null, "no file outside of the site");
  const more = await filesFor(`data-chart-src="${table}" data-chart-more="${outside}"`);
  assert.ok(!Object.hasOwn(more, outside));
});

test("a chart has a page if the verdicts of the data set with which the talk is told show it", async (t) => {
  const outDir = temporaryFolder(t);
  const table = "benchmarks/mine/e/aggregate/x.csv";
  const panel = (verdict) =>
    `<div data-when="slow ${verdict}"><canvas data-chart="line" data-chart-src="${table}"></canvas></div>`;
  const stated = {
    name: "talk",
    title: "A talk",
    chapters: ["slides/talk/a.md"],
    dataSet: "reference",
    cuts: [{ minutes: 30 }, { minutes: 20 }],
  };
  /** Where a page says that its chart is from. */
  async function linkIn(name) {
    const html = await readFile(path.join(outDir, "embed", name), "utf8");
    const [, packed] = /id="embedded">([^<]*)</.exec(html);
    const { section } = JSON.parse(gunzipSync(Buffer.from(packed, "base64")));
    return new JSDOM(section).window.document.querySelector(".embedded-from a").getAttribute("href");
  }
  await saveAll(outDir, {
    "index.html": "<!doctype html><head></head>",
    "benchmarks/index.json": '{"altered": {}, "own": {}}',
    "benchmarks/mine/claims.json": JSON.stringify({ claims: { slow: { verdict: "held" } } }),
    [table]: "I/O size,4096\nA,1\n",
  });
  await writeEmbedPages({
    outDir,
    talks: [{ stated, dataSet: "mine", page: "index.html" }],
    slides: new Map([
      [
        "slides/talk/a.html",
        `<section id="one"><h2>A</h2>${panel("refuted")}${panel("held")}</section>
        <section id="short" data-cut="20"><h2>B</h2>${panel("held")}</section>`,
      ],
    ]),
  });
  assert.deepEqual((await readdir(path.join(outDir, "embed"))).sort(), [
    "talk.one.2.html",
    "talk.short.1.html",
  ]);
  assert.equal(await linkIn("talk.one.2.html"), "../index.html?chart=1#/one");
  assert.equal(await linkIn("talk.short.1.html"), "../index.html?cut=20&chart=1#/short");
});
