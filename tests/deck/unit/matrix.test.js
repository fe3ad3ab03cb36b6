/** The page of claims by data set: what each says, which wording it was asked, and nothing of a stranger read as HTML. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { JSDOM } from "jsdom";

import { MATRIX, matrixPage, rowsOf, writeMatrix } from "../../../scripts/deck/matrix.js";
import { temporaryFolder } from "../../support/folders.mjs";
import { claimsWith } from "../support/talk.js";

const ACCENT = { light: "#005f99", dark: "#7cc4f5" };
const STATED = { title: "A talk", accent: ACCENT, claims: null, look: { style: null, logo: null } };
const CLAIM = { sentence: "Writes of 4 KiB are slower.", exploratory: false };
const manifest = (more = {}) => ({
  label: "Ours",
  setup: { ceph_release: "16 (pacific)", cores: 2 },
  experiments: {},
  ...more,
});
const column = (name, claims, more = {}) => ({
  name,
  href: `./?data=${name}#/`,
  manifest: manifest(more),
  claims,
});

function cells(html) {
  return [...html.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell]) => cell.replace(/<[^>]+>/g, " ").trim());
}

const pageOf = (columns, claims = null) =>
  matrixPage({ talk: STATED, columns, rows: rowsOf(columns[0], columns, claims), styles: [] });

test("each data set's verdict stands beside the others', with its figure and n", () => {
  const ours = column("ours", claimsWith({ slower: CLAIM }));
  const refuted = { ...CLAIM, verdict: "refuted", exploratory: true };
  refuted.conditions = { ratio: { estimate: 1.02, n: 3, verdict: "refuted" } };
  const theirs = column("theirs", claimsWith({ slower: refuted }));
  const html = pageOf([ours, theirs, column("empty", claimsWith())]);
  const [one, two, three] = cells(html);
  assert.match(one, /^✓ held +2\.08×, n = 6$/);
  assert.match(two, /^✗ refuted † +1\.02×, n = 3$/);
  assert.equal(three, "not judged");
  assert.match(html, /Ceph 16 \(pacific\)/);
});

test("a verdict on another wording, or another region, is marked", () => {
  const asked = {
    ...CLAIM,
    conditions: { ratio: { estimate: 2, n: 6, verdict: "held", says: "a ÷ b", region: { low: 1 } } },
  };
  const region = structuredClone(asked);
  region.conditions.ratio.region.low = 3;
  const columns = [asked, structuredClone(asked), { ...asked, sentence: "Writes are faster." }, region].map(
    (claim, at) => column(`c${at}`, claimsWith({ slower: claim })),
  );
  assert.deepEqual(
    cells(pageOf(columns)).map((cell) => cell.includes("‡")),
    [false, false, true, true],
  );
});

test("a data set that is altered is marked wherever its verdicts stand", () => {
  const claims = claimsWith({ slower: CLAIM });
  const edited = { ...column("edited", claims, { label: "Theirs" }), altered: true };
  const { document } = new JSDOM(
    pageOf([column("ours", claims), edited, column("old", claims, { label: "Old", altered: true })]),
  ).window;
  const texts = (selector) => [...document.querySelectorAll(selector)].map(({ textContent }) => textContent);
  const marks = ["Ours", "ALTERED DATA · Theirs", "ALTERED DATA · Old"];
  assert.deepEqual(
    [...document.querySelectorAll("td")].map(({ dataset }) => dataset.title),
    marks,
  );
  texts("thead th")
    .slice(1)
    .forEach((text, at) => assert.ok(text.startsWith(marks[at]), text));
  assert.deepEqual(
    texts("main li").map((text) => text.includes("ALTERED DATA")),
    [false, true, true],
  );
});

test("only the claims that the talk discusses have a row, and no text of a bundle is read as HTML", () => {
  const hostile = '"><script>alert(1)</script>';
  const ours = column("ours", claimsWith({ slower: CLAIM, other: CLAIM }));
  const theirs = column(hostile, claimsWith({ slower: { ...CLAIM, verdict: hostile, reason: hostile } }), {
    label: hostile,
    setup: { cpu: hostile, cores: hostile, memory_bytes: hostile, osds: hostile, ceph_release: hostile },
    measured_from: hostile,
  });
  const html = pageOf([ours, theirs], ["slower"]);
  assert.ok(!html.includes("<script"), html);
  assert.equal(html.match(/<tr id=/g).length, 1);
  assert.equal(cells(html)[1], "not judged");
});

test("the page has landmarks and a way back, and data sets of one label are told apart by their names", () => {
  const claims = claimsWith({ slower: CLAIM });
  const html = pageOf([
    column("ours", claims),
    column("headline", claims),
    column("other", claims, { label: "Theirs" }),
  ]);
  const { document } = new JSDOM(html).window;
  assert.equal(document.querySelectorAll("body > header, body > main").length, 2);
  const back = document.querySelector("header nav a");
  assert.deepEqual([back.getAttribute("href"), back.textContent], ["./", "← Back to the talk: A talk"]);
  const texts = (selector) => [...document.querySelectorAll(selector)].map(({ textContent }) => textContent);
  assert.deepEqual(texts("main li a"), ["ours", "headline", "Theirs"]);
  assert.deepEqual(
    [...document.querySelectorAll("td")].map(({ dataset }) => dataset.title),
    ["ours", "headline", "Theirs"],
  );
  assert.match(texts("main li")[0], /^ours Ours · Ceph 16 \(pacific\) · 2 cores$/);
});

test("a site with a bundle gets the page and the bundle; a bundle that is damaged is named", async (t) => {
  const root = temporaryFolder(t);
  const folder = (...names) => path.join(root, ...names);
  const benchmarks = folder("benchmarks");
  const altered = { ours: [{ file: "claims.json", what: "is not what derive wrote" }] };
  const stated = { ...STATED, dataSet: "ours" };
  const site = { outDir: folder("dist"), root, benchmarks, published: ["ours"], altered, stated };
  for (const name of ["dist/assets", "bundles", "benchmarks/ours"])
    await mkdir(folder(name), { recursive: true });
  const face = '@font-face{font-family:Inter;src:url(./inter-abc.woff2)format("woff2")}';
  await writeFile(folder("dist/assets/index-abc.css"), `body{margin:0}${face}`);
  await writeFile(folder("benchmarks/ours/manifest.json"), JSON.stringify(manifest()));
  await writeFile(folder("benchmarks/ours/claims.json"), JSON.stringify(claimsWith({ slower: CLAIM })));
  assert.equal(await writeMatrix(site), null, "nothing to compare");
  await assert.rejects(access(folder("dist", MATRIX)));

  const conditions = { ratio: { estimate: 2, n: 6, verdict: "held", region: { low: 1 } } };
  const documents = {
    "manifest.json": manifest({ label: "Theirs" }),
    "claims.json": claimsWith({ slower: { ...CLAIM, conditions } }),
  };
  const files = Object.fromEntries(
    Object.entries(documents).map(([name, value]) => {
      const text = JSON.stringify(value);
      return [name, { text, sha256: createHash("sha256").update(text).digest("hex") }];
    }),
  );
  const bundle = { format: "replay-bundle", version: 1, data_set: "theirs", claims: {}, files };
  await writeFile(folder("bundles/theirs.bundle"), gzipSync(JSON.stringify(bundle)));
  assert.deepEqual(await writeMatrix(site), { claims: 1, columns: 2 });
  const html = await readFile(folder("dist", MATRIX), "utf8");
  assert.match(html, /@font-face\{font-family:Inter;src:url\(\.\/assets\/inter-abc\.woff2\)/);
  assert.doesNotMatch(html, /body\{margin:0\}/, "rules of slides");
  assert.match(html, /<a href="\.\/\?bundle=bundles%2Ftheirs\.bundle#\/">Theirs<\/a>/);
  assert.match(html, />ALTERED DATA · Ours</);
  assert.doesNotMatch(html, /ALTERED DATA · Theirs/);
  await access(folder("dist/bundles/theirs.bundle"));

  bundle.files["claims.json"].text += " ";
  await writeFile(folder("bundles/theirs.bundle"), gzipSync(JSON.stringify(bundle)));
  await assert.rejects(writeMatrix(site), /^Error: bundles\/theirs\.bundle: This bundle was altered/);
});
