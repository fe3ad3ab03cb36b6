import assert from "node:assert/strict";
import { test } from "node:test";

import { JSDOM } from "jsdom";

import { DataOnShow } from "../../../deck/data/data-on-show.js";
import { readDocument } from "../../../deck/data/manifests.js";

const CHART = "benchmarks/reference/rbd-journaling/aggregate/iops-read-seq.csv";

/** A server that has these texts and answers 404 to everything else. */
function server(texts) {
  return (address) =>
    Promise.resolve(
      address in texts ? new Response(texts[address]) : new Response("not here", { status: 404 }),
    );
}
const list = (files) => ({ "benchmarks/index.json": JSON.stringify({ schema_version: 1, files }) });

/** The data on show in a page, loaded from a server that has these texts. */
async function shown(texts, page = {}) {
  const data = new DataOnShow({ search: "", usual: "reference", fetchFile: server(texts), ...page });
  await data.load();
  return data;
}

test("without a request the deck shows the data set that the page names", async () => {
  const data = await shown({ "benchmarks/reference/manifest.json": '{"label": "ours"}' });
  assert.equal(data.resolve(CHART), CHART);
  assert.equal(data.about().manifest.label, "ours");
  assert.equal(data.problem, null);
});

test("with a request, charts and manifest are the other data set's", async () => {
  const texts = { ...list({ mine: [] }), "benchmarks/mine/manifest.json": '{"label": "mine"}' };
  const data = await shown(texts, { search: "?data=mine" });
  assert.equal(data.resolve(CHART), CHART.replace("reference", "mine"));
  assert.equal(data.about().manifest.label, "mine");
});

test("a chart that the awaited data set lacks is drawn from its stand-in until it is there", async () => {
  const texts = list({ reference: ["rbd-journaling/aggregate/iops-read-seq.csv"] });
  const data = await shown(texts, { search: "?data=local&meanwhile=reference" });
  assert.equal(data.problem, null);
  assert.equal(data.resolve(CHART), CHART);
  Object.assign(
    texts,
    list({
      reference: ["rbd-journaling/aggregate/iops-read-seq.csv"],
      local: ["rbd-journaling/aggregate/iops-read-seq.csv"],
    }),
  );
  await data.load();
  assert.equal(data.resolve(CHART), CHART.replace("reference", "local"));
});

test("a listed file is there however a slide writes its address", async () => {
  const data = await shown(list({ reference: ["rbd-journaling/aggregate/iops-read-seq.csv"] }));
  for (const src of [CHART, `./${CHART}`, `${CHART}?v=2`]) assert.equal(data.has(src), true, src);
  assert.equal(data.has(`./${CHART.replace("read", "write")}`), false);
});

test("a data set may be called as what every object has", async () => {
  const data = await shown(list({ reference: ["rbd-journaling/aggregate/iops-read-seq.csv"] }), {
    search: "?data=constructor&meanwhile=reference",
  });
  assert.equal(data.resolve(CHART), CHART);
});

test("a server without a list still shows the requested data set", async () => {
  const data = await shown({}, { search: "?data=mine" });
  assert.equal(data.available, null);
  assert.equal(data.resolve(CHART), CHART.replace("reference", "mine"));
});

test("an index page in place of a manifest is not a manifest", async () => {
  const address = "benchmarks/a/manifest.json";
  assert.equal(await readDocument(server({ [address]: "<!doctype html>" }), address), null);
});

test("the data are the shipped ones only if the page names them", async () => {
  const texts = list({ reference: ["claims.json"], mine: [] });
  const shipped = async (search) => (await shown(texts, { search })).shipped;
  assert.equal(await shipped(""), true);
  assert.equal(await shipped("?data=reference"), true);
  assert.equal(await shipped("?data=nobody"), true, "what cannot be shown is not shown");
  assert.equal(await shipped("?data=mine"), false);
  assert.equal(await shipped("?data=mine&meanwhile=reference"), false);
});

test("a frozen talk ignores what the address asks for, and says so", async () => {
  const texts = { ...list({ mine: [], other: [] }), "benchmarks/mine/manifest.json": '{"label": "mine"}' };
  const frozen = (search) => shown(texts, { search, usual: "mine", frozen: "mine" });
  const data = await frozen("?data=other&meanwhile=other");
  assert.equal(data.resolve(CHART.replace("reference", "mine")), CHART.replace("reference", "mine"));
  assert.equal(data.about().manifest.label, "mine");
  assert.equal(data.meanwhile, null);
  assert.equal(data.shipped, true);
  assert.equal(data.problem, "This talk is frozen to mine; “other” is ignored.");
  assert.equal((await frozen("")).problem, null);
  assert.equal((await frozen("?data=mine")).problem, null);
});

test("a slide of another data set is told with that one, unless the address asks for one data set for all", async () => {
  const texts = {
    ...list({ reference: ["claims.json"], old: ["claims.json"], mine: [] }),
    "benchmarks/reference/manifest.json": '{"label": "ours"}',
    "benchmarks/old/manifest.json": '{"label": "old"}',
    "benchmarks/old/claims.json": '{"claims": {"price": {}}}',
    "benchmarks/mine/manifest.json": '{"label": "mine"}',
  };
  const told = async (search) => {
    const data = await shown(texts, { search, others: ["old", "gone"] });
    return (named) => data.about(data.nameFor(named));
  };
  for (const search of ["", "?data=reference"]) {
    const usual = await told(search);
    assert.equal(usual(null).manifest.label, "ours");
    const old = usual("old");
    assert.deepEqual([old.dataSet, old.manifest.label, old.shipped], ["old", "old", true]);
    assert.deepEqual(old.claims, { claims: { price: {} } });
    for (const none of ["gone", "mine"]) assert.equal(usual(none).dataSet, "reference");
  }
  const asked = await told("?data=mine");
  for (const named of [null, "old"]) {
    const { dataSet, manifest, shipped } = asked(named);
    assert.deepEqual([dataSet, manifest.label, shipped], ["mine", "mine", false]);
  }
});

test("a slide that compares data sets keeps its files with any data set, and these are read", async () => {
  const old = CHART.replace("reference", "old");
  const texts = {
    ...list({ reference: [], old: ["claims.json"], mine: [] }),
    "benchmarks/reference/manifest.json": '{"label": "ours"}',
    "benchmarks/old/manifest.json": '{"label": "old"}',
    "benchmarks/old/claims.json": '{"claims": {}}',
  };
  const { document } = new JSDOM(
    `<section data-compare="old reference"><canvas data-chart-src="${old}"></canvas></section>`,
  ).window;
  const canvas = document.querySelector("canvas");
  const others = ["old"];
  const data = await shown(texts, { search: "?data=mine", others });
  assert.deepEqual(
    [old, CHART].map((src) => data.resolve(src, canvas)),
    [old, CHART],
  );
  assert.deepEqual(
    ["old", "reference"].map((name) => data.manifestOf(name).label),
    ["old", "ours"],
  );
  canvas.parentElement.removeAttribute("data-compare");
  assert.equal(data.resolve(old, canvas), CHART.replace("reference", "mine"));
  const frozen = await shown(texts, { frozen: "reference", others });
  assert.deepEqual((await frozen.other("old")).claims, { claims: {} });
});

test("claims that disappear are no longer shown", async () => {
  const texts = {
    ...list({ reference: ["claims.json"] }),
    "benchmarks/reference/claims.json": '{"claims": {"price": {}}}',
  };
  const data = await shown(texts);
  assert.deepEqual(data.about().claims, { claims: { price: {} } });
  Object.assign(texts, list({ reference: ["manifest.json"] }));
  await data.load();
  assert.equal(data.about().claims, null);
});

test("a server without a list is asked for claims too", async () => {
  const data = await shown({ "benchmarks/reference/claims.json": '{"claims": {}}' });
  assert.deepEqual(data.about().claims, { claims: {} });
});
