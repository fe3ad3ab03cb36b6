import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, mkdtemp, readdir, rm } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";

import { launchChromium } from "../../../scripts/deck/chromium.js";
import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { FIXTURE, chartsOf, goTo } from "../support/deck.js";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
let folder;
let browser;
let server;
let site;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "replay-site-"));
  const out = path.join(folder, "some", "where");
  await promisify(execFile)("node", ["scripts/build.mjs", "--out", out], {
    cwd: PROJECT,
    env: { ...process.env, REPLAY_BENCHMARKS: FIXTURE, REPLAY_HOMEPAGE: "" },
  });
  // The plainest of servers: files, and 404.
  server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const file = path.join(folder, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    try {
      const body = await readFile(file);
      response.writeHead(200, { "Content-Type": TYPES[path.extname(file)] ?? "application/octet-stream" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  site = `http://127.0.0.1:${server.address().port}/some/where/`;
  browser = await launchChromium();
});
after(async () => {
  await browser?.close();
  server?.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

test("the built site works from a subfolder of a plain server, and asks nothing of any other", async () => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, reducedMotion: "reduce" });
  const addresses = [];
  const complaints = [];
  page.on("request", (request) => addresses.push(request.url()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of 404/.test(message.text())) complaints.push(message.text());
  });
  await page.goto(`${site}?data=fixture`);
  await page.waitForSelector("html[data-deck-ready]");
  for (const id of ["journal-ratio", "trap-cache", "run-it"]) {
    await goTo(page, id);
    for (const chart of await chartsOf(page, id))
      assert.equal(chart.error, undefined, `${id}: ${chart.error}`);
  }
  await page.waitForTimeout(300);
  const foreign = addresses.filter((address) => !address.startsWith(site) && !address.startsWith("data:"));
  assert.deepEqual(foreign, []);
  assert.deepEqual(complaints, []);
  assert.ok(!addresses.some((address) => address.includes("__replay")), "a static site listens to no server");
  await page.close();
});

test("the built site has slides, tables and manifests, and no raw output", async () => {
  const files = await readdir(path.join(folder, "some", "where"), { recursive: true });
  assert.ok(files.includes("slides/00-title.md"));
  assert.ok(files.includes("benchmarks/fixture/manifest.json"));
  assert.ok(files.includes("benchmarks/fixture/rbd-journaling/aggregate/ratio-throughput-write-seq.low.csv"));
  const index = JSON.parse(
    await readFile(path.join(folder, "some", "where", "benchmarks", "index.json"), "utf8"),
  );
  assert.deepEqual(index.data_sets, ["fixture", "fixture-small"]);
  assert.ok(!files.some((file) => /(^|\/)(raw|local)\/|tidy\.csv|\.woff$/.test(file)));
});

test("its parts are named after their content, and stay within the budget", async () => {
  const assets = path.join(folder, "some", "where", "assets");
  const names = await readdir(assets);
  for (const name of names) assert.match(name, /-[\w-]{8}\.(js|css|woff2)$/, name);
  const sizes = { js: 0, woff2: 0 };
  const start = /src="\.\/assets\/([^"]+\.js)"/.exec(
    await readFile(path.join(folder, "some", "where", "index.html"), "utf8"),
  )[1];
  sizes.js = gzipSync(await readFile(path.join(assets, start))).length;
  for (const name of names.filter((one) => one.endsWith(".woff2")))
    sizes.woff2 += (await readFile(path.join(assets, name))).length;
  assert.ok(sizes.woff2 <= 60 * 1024, `fonts: ${sizes.woff2} bytes`);
  assert.ok(sizes.js <= 145 * 1024, `JavaScript at start: ${sizes.js} bytes gzipped`);
});

test("on a site that others can reach, the QR code leads to the site itself", async () => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  await page.route("http://talk.example/**", async (route) => {
    const { pathname } = new URL(route.request().url());
    const response = await fetch(new URL(`.${pathname === "/" ? "/index.html" : pathname}`, site));
    const type = response.headers.get("content-type");
    await route.fulfill({
      status: response.status,
      contentType: type,
      body: Buffer.from(await response.arrayBuffer()),
    });
  });
  await page.goto("http://talk.example/?data=fixture#/run-it");
  await page.waitForSelector(".qr svg");
  assert.equal(await page.getAttribute(".qr svg", "aria-label"), "QR code: http://talk.example/");
  assert.equal(await page.textContent(".qr a"), "talk.example");
  await page.close();
});
