/** The built site on a plain static server: what is in it, what it requests, how it is opened, and bundles in it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile, readdir, stat, writeFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";

import { PNG } from "pngjs";

import { BUDGET } from "../../../scripts/deck/budget.js";
import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { SiteDoesNotStart, photographSlide } from "../../../scripts/deck/preview.js";
import { temporaryFolder } from "../../support/folders.mjs";
import { axeInBothThemes, loadAxe } from "../support/axe.js";
import { READY, askedElsewhere, launchPatiently } from "../support/browser.js";
import { chartsOf, goTo, lookAtEachSlide, openSpeakerView } from "../support/deck.js";
import { readChart } from "../support/csv-file.js";
import { FIXTURE } from "../support/fixture.js";
import { startFixtureSite, startShippedSite } from "../support/static-site.js";

let browser;
/** With the fixture's data. */
let site;
/** With the data that ship. */
let whole;
/** Closed at the end, because one that a failed test left open would keep the tests from ending. */
const servers = [];

before(async () => {
  // The sites first: one that is not built must leave no browser behind, which would keep the tests from ending.
  site = await startFixtureSite();
  servers.push(site);
  whole = await startShippedSite();
  servers.push(whole);
  browser = await launchPatiently();
});
after(async () => {
  await browser?.close();
  await Promise.all(servers.map((server) => server.close()));
});

const textOf = (name) => readFile(path.join(site.folder, name), "utf8");
/** The content of a tag of the built page, by its name or property. */
const tagOf = (html, name) =>
  new RegExp(`<meta\\s(?:name|property)="${name}"\\scontent="([^"]*)"`).exec(html)?.[1] ?? null;

const openSite = (query, options) => browser.open(`${site.url}${query}`, options);

/** Addresses, each of another page than the one before, and the sign that the page is ready. */
const VIEWS = [
  ["?data=fixture#/shop", READY.deck],
  ["?data=fixture&explore", READY.front],
  ["?data=fixture&view=scroll#/shop", READY.deck],
  ["?data=fixture&explore#/journal-ratio", READY.deck],
  ["?data=fixture&view=print", READY.print],
  ["?stage&data=fixture#/shop", READY.deck],
];

test("every view of the built site works from a subfolder of a plain server, and sends no request elsewhere", async () => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, reducedMotion: "reduce" });
  // Those of its frames and of the windows that it opens, too.
  page.context().on("request", (request) => page.asked.push(request.url()));
  page.context().on("page", (other) => other.on("websocket", (socket) => page.asked.push(socket.url())));
  for (const [view, ready] of VIEWS) {
    await page.goto(`${site.url}${view}`);
    await page.waitForSelector(ready);
    await page.evaluate(() => window.replay.charts.ready());
  }
  // The print view has asked for every chart's file; what a slide asks for when it is shown comes now.
  const { ids } = await lookAtEachSlide(page, []);
  await page.evaluate(() => window.replay.charts.ready());
  assert.ok(ids.length > 30, `only ${ids.length} slides were shown`);
  for (const id of ["journal-ratio", "who-said-yes", "iops"]) {
    await goTo(page, id);
    for (const chart of await chartsOf(page, id))
      assert.equal(chart.error, undefined, `${id}: ${chart.error}`);
  }
  await openSpeakerView(page);
  assert.deepEqual(askedElsewhere(page, site.url), []);
  assert.ok(page.asked.some((address) => address.endsWith(".csv")));
  assert.ok(
    !page.asked.some((address) => address.includes("__replay")),
    "a static site does not wait for news of a server",
  );
});

test("the page forbids foreign scripts, and everything from elsewhere", async () => {
  const html = await textOf("index.html");
  const [, written = ""] = /<meta http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html) ?? [];
  const policy = written.replaceAll("&#39;", "'");
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self' 'sha256-/);
  assert.match(policy, /connect-src 'self'/);
  assert.doesNotMatch(policy, /script-src[^;]*'unsafe|https?:|\*/);
});

test("`?talk=` opens another talk of the same site, with its own title, slides and colours, and a way back", async () => {
  const page = await openSite("?talk=cluster&data=fixture");
  assert.equal(await page.evaluate(() => location.pathname), "/some/where/talk-cluster.html");
  assert.equal(await page.evaluate(() => location.search), "?data=fixture");
  const ids = await page.evaluate(() =>
    [...document.querySelectorAll(".slides section[id]")].map(({ id }) => id),
  );
  assert.ok(ids.includes("curve") && !ids.includes("shop"), ids.join());
  assert.match(await page.title(), /What does this cluster do\?/);
  const lead = await textOf("index.html");
  const other = await textOf("talk-cluster.html");
  const accent = (html) => /--accent: ([^;]*);/.exec(html)[1];
  assert.notEqual(accent(other), accent(lead));
  await page.keyboard.press("c");
  const link = page.getByRole("link", { name: "What does your RPO cost?" });
  await link.click();
  await page.waitForURL(/\/some\/where\/index\.html/);
});

test("where there is Node and nothing else, no shell, no Python, no browser that starts, the site is built without a picture, and the build says so", async () => {
  assert.match(whole.said.stderr, /no social preview picture: /);
  assert.match(whole.said.stdout, /^Built .*tentacle/m);
  const html = await readFile(path.join(whole.folder, "index.html"), "utf8");
  assert.equal(tagOf(html, "og:image"), null);
  assert.equal(tagOf(html, "twitter:card"), "summary");
  assert.equal(tagOf(html, "og:url"), "https://talk.example/x/");
});

test("each chart has a page that another site may frame under a strict policy: the same numbers, 40 KB in all, a line to cite", async () => {
  const pages = await readdir(path.join(whole.folder, "embed"));
  assert.ok(pages.length > 20, `${pages.length} pages`);
  const sizes = await Promise.all(
    pages.map(async (name) => [name, (await stat(path.join(whole.folder, "embed", name))).size]),
  );
  assert.deepEqual(
    sizes.filter(([, size]) => size > BUDGET.embed),
    [],
  );
  const page = await browser.newPage({ viewport: { width: 900, height: 620 } });
  let framed = null;
  // Another site, which allows nothing but the frame.
  const policy = `default-src 'none'; frame-src ${new URL(whole.url).origin}`;
  const other = http.createServer((request, response) => {
    response.writeHead(200, { "content-type": "text/html", "content-security-policy": policy });
    response.end(
      `<iframe src="${whole.url}embed/${framed}" title="A chart" width="800" height="500"></iframe>`,
    );
  });
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  servers.push(other);
  const elsewhere = `http://127.0.0.1:${other.address().port}/`;
  /** Frames a page; resolves to its frame, with all charts drawn, and what these hold. */
  async function frame(name) {
    framed = name;
    await page.goto(elsewhere);
    await page.frameLocator("iframe").locator(READY.embedded).waitFor();
    const inner = page.frames().find((one) => one.url().endsWith(name));
    await inner.waitForFunction(() =>
      [...window.replay.charts.charts.values()].every(({ model, error }) => model || error),
    );
    const drawn = await inner.evaluate(() =>
      [...window.replay.charts.charts.values()].map(({ url, chart, error }) => ({
        url,
        error: error?.message ?? null,
        data: chart?.data.datasets.map(({ label, data }) => [label, data.map((one) => one?.y ?? one)]),
      })),
    );
    return { inner, drawn };
  }

  const { inner, drawn } = await frame("rpo.journal-ratio.1.html");
  assert.equal(drawn.length, 1);
  assert.equal(drawn[0].error, null);
  const { series } = await readChart(path.join(whole.folder, drawn[0].url));
  assert.ok(drawn[0].data.length > 0);
  for (const [label, data] of drawn[0].data) assert.deepEqual(data, series[label], label);
  assert.match(await inner.textContent(".provenance"), /^tentacle/);
  assert.equal(await inner.textContent(".embedded-from a"), "What does your RPO cost?");
  const { version } = JSON.parse(await readFile(path.join(PROJECT, "package.json"), "utf8"));
  const cited = await inner.textContent(".to-cite p");
  assert.match(
    cited,
    /^What does your RPO cost\? “[^”]+”, chart “[^”]+”\. tentacle: Sandbox · Ceph and client 20\./,
  );
  assert.ok(cited.includes(` 2026 · `) && cited.includes(`. Replay ${version}. `), cited);
  assert.ok(cited.endsWith(`${whole.url}index.html?chart=1#/journal-ratio`), cited);

  // Figures of a whole data set, a row or a line for each run, and another talk.
  for (const name of [
    "rpo.answer.1.html",
    "rpo.moment.1.html",
    "rpo.outrun.1.html",
    "cluster.curve.1.html",
  ]) {
    const another = await frame(name);
    assert.deepEqual(
      another.drawn.map(({ error, data }) => [error, data.length > 0]),
      [[null, true]],
      name,
    );
    const line = await another.inner.textContent(".to-cite p");
    assert.match(line, /Ceph and client 20\.\d\.\d · .*\d \w{3} 2026/, name);
  }
  assert.ok(
    page.asked.every((address) => address === elsewhere || address.startsWith(whole.url)),
    page.asked.join("\n"),
  );
  assert.ok(!page.asked.some((address) => /benchmarks\//.test(address)), "the data are in the page");
});

test("the page of claims by data set has the talk's type and colours, its verdicts come first on a phone, and axe finds nothing", async () => {
  const colorOf = (selector) => page.$eval(selector, (one) => getComputedStyle(one).color);
  const page = await browser.open(`${whole.url}matrix.html`, { ready: "main" });
  await page.evaluate(() => document.fonts.ready);
  assert.ok(
    await page.evaluate(() => [...document.fonts].some(({ status }) => status === "loaded")),
    "no font",
  );
  await loadAxe(page);
  assert.deepEqual(await axeInBothThemes(page), []);

  await page.setViewportSize({ width: 390, height: 844 });
  const facts = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth,
    scrolls:
      document.querySelector(".scrolling").scrollWidth - document.querySelector(".scrolling").clientWidth,
    // On the first screen, the verdicts that begin their lines.
    seen: [...document.querySelectorAll("td .verdict")].filter((one) => {
      const { left, bottom } = one.getBoundingClientRect();
      return bottom <= innerHeight && left < 30;
    }).length,
    heads: [...document.querySelectorAll("td")].filter(
      (one) => !getComputedStyle(one, "::before").content.includes(one.dataset.title),
    ).length,
  }));
  assert.equal(facts.wide, 390);
  assert.ok(facts.scrolls <= 0, `the table is ${facts.scrolls} px wider than the phone`);
  assert.ok(facts.seen >= 5, `${facts.seen} verdicts on the first screen`);
  assert.equal(facts.heads, 0, "a verdict without the name of its data set");
  assert.deepEqual(await axeInBothThemes(page), []);

  await page.setViewportSize({ width: 1280, height: 720 });
  const refuted = await colorOf("td .refuted");
  await page.getByRole("link", { name: "Back to the talk: What does your RPO cost?" }).click();
  await page.waitForSelector(READY.front);
  await page.goto(`${whole.url}?stage#/claims`);
  await page.waitForSelector(READY.deck);
  assert.equal(await colorOf("table.claims .refuted"), refuted);
  assert.deepEqual(askedElsewhere(page, whole.url), []);
});

test("axe finds nothing on charts that others frame", async () => {
  const problems = [];
  // A chart of lines, of an answer, of runs, of squares, of claims.
  for (const name of ["journal-ratio.1", "answer.1", "moment.1", "shop.1", "who-said-yes.1"]) {
    const page = await browser.open(`${whole.url}embed/rpo.${name}.html`, {
      ready: READY.embedded,
      viewport: { width: 800, height: 500 },
    });
    await loadAxe(page);
    problems.push(...(await axeInBothThemes(page)).map((text) => `${name}: ${text}`));
    await page.close();
  }
  assert.deepEqual(problems, []);
});

test("no address in the page or its parts is absolute, so the site works anywhere", async () => {
  const html = await textOf("index.html");
  for (const [, address] of html.matchAll(/\s(?:src|href)="([^"]*)"/g))
    assert.match(address, /^(?:\.\/|data:)/, address);
  for (const name of await readdir(path.join(site.folder, "assets"))) {
    if (!name.endsWith(".css")) continue;
    for (const [, address] of (await textOf(`assets/${name}`)).matchAll(/url\(["']?([^"')]+)/g))
      assert.match(address, /^(?:\.\/|data:)/, `${name}: ${address}`);
  }
});

test("the built site has slides, tables, manifests and attempts, and no raw output", async () => {
  const files = await readdir(site.folder, { recursive: true });
  assert.ok(files.includes("slides/rpo/00-loss.html"));
  assert.ok(files.includes("benchmarks/fixture/manifest.json"));
  assert.ok(
    files.includes("benchmarks/fixture/rbd-journaling/aggregate/ratio-throughput-write-seq.spread.csv"),
  );
  const index = JSON.parse(await textOf("benchmarks/index.json"));
  assert.deepEqual(index.data_sets, ["fixture", "fixture-small"]);
  assert.ok(!files.some((file) => /(^|\/)(raw|local)\/|\.woff$/.test(file)));
});

test("its parts are named after their content", async () => {
  const names = await readdir(path.join(site.folder, "assets"));
  for (const name of names) assert.match(name, /-[\w-]{8}\.(js|css|woff2|png)$/, name);
});

test("the first slide needs only the files that the page itself names", async () => {
  const html = await textOf("index.html");
  const atStart = [...html.matchAll(/\s(?:src|href)="\.\/(assets\/[^"]+\.js)"/g)].map(([, name]) => name);
  assert.ok(atStart.length > 0);
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  const heldBack = [];
  await page.route("**/assets/*.js", (route) => {
    const { pathname } = new URL(route.request().url());
    if (atStart.some((name) => pathname.endsWith(`/${name}`))) return route.continue();
    // Neither served nor refused: the slide must not wait for it.
    heldBack.push(pathname);
    return null;
  });
  await page.goto(`${site.url}?stage&data=fixture`, { waitUntil: "commit" });
  await page.waitForSelector(".reveal.ready section.present :is(h1, h2)");
  assert.match(await page.innerText(".reveal section.present :is(h1, h2)"), /\w/);
  assert.ok(heldBack.length > 0, "the charts' code comes later");
});

test("the lead talk's first chart is drawn with no more JavaScript than its budget; the rest comes later", async () => {
  const needed = /\/(?:index|start|charts|chart-address|chart-code|kinds|squares)-[\w-]{8}\.js$/;
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  const sent = [];
  await page.route("**/assets/*.js", (route) => {
    const { pathname } = new URL(route.request().url());
    if (!needed.test(pathname)) return null;
    sent.push(path.basename(pathname));
    return route.continue();
  });
  await page.addInitScript(() => {
    document.addEventListener("chart-csv:ready", ({ target }) => (target.dataset.drawn = "true"), true);
  });
  await page.goto(`${site.url}?stage&data=fixture#/shop`, { waitUntil: "commit" });
  await page.waitForSelector("#shop canvas[data-drawn]");
  const sizes = await Promise.all(
    sent.map(async (name) => gzipSync(await readFile(path.join(site.folder, "assets", name))).length),
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(total <= BUDGET.script, `${total} bytes gzipped: ${sent.join(", ")}`);
});

/** Makes the page of a site read its slides as the stage does: as Markdown. */
async function withMarkdown(page) {
  await page.route(
    (url) => url.href.startsWith(`${site.url}?`),
    async (route) => {
      const response = await route.fetch();
      const html = await response.text();
      const body = html.replace(/<meta name="replay:rendered"[^>]*>/, "");
      assert.notEqual(body, html);
      await route.fulfill({ response, body });
    },
  );
  await page.route("**/slides/rpo/*.md", async (route) => {
    const name = path.basename(new URL(route.request().url()).pathname);
    const body = await readFile(path.join(PROJECT, "slides/rpo", name), "utf8");
    await route.fulfill({ contentType: "text/markdown; charset=utf-8", body });
  });
}

test("its slides are those that a stage makes of the same Markdown, which it does not fetch", async () => {
  const query = "?stage&data=fixture#/yours";
  /** Each slide with its elements and texts, without those that are fetched and may arrive later. */
  const slidesOn = (page) =>
    page.evaluate(() =>
      [...document.querySelectorAll(".slides section")].map((section) => {
        const slide = section.cloneNode(true);
        for (const place of slide.querySelectorAll("[data-releases], [data-qr]")) place.replaceChildren();
        for (const figure of slide.querySelectorAll(".chart-figure"))
          figure.replaceWith(figure.querySelector("canvas"));
        const names = [...slide.querySelectorAll("*")].map(({ localName }) => localName);
        return { id: slide.id, text: slide.textContent, names };
      }),
    );
  const made = await openSite(query, { prepare: withMarkdown });
  const here = await slidesOn(made);
  assert.ok(made.asked.some((address) => address.endsWith("/slides/rpo/00-loss.md")));
  await made.close();
  const built = await openSite(query);
  const there = await slidesOn(built);
  assert.deepEqual(
    built.asked.filter((address) => /\.md$|safe-markdown/.test(address)),
    [],
  );
  await built.close();

  assert.ok(here.length >= 38, `${here.length} slides`);
  here.forEach((slide, at) => assert.deepEqual(there[at], slide, slide.id));
  assert.equal(there.length, here.length);
});

test("messengers get a description and a picture of the chart that the talk names, filled", async () => {
  const html = await textOf("index.html");
  const title = /<title>([^<]+)<\/title>/.exec(html)[1];
  assert.equal(tagOf(html, "og:title"), title);
  assert.equal(tagOf(html, "og:description"), tagOf(html, "description"));
  assert.equal(tagOf(html, "twitter:card"), "summary_large_image");
  const alt = tagOf(html, "og:image:alt");
  assert.match(alt, /No mirroring/);
  assert.match(alt, /Journal mirrored/);
  const picture = PNG.sync.read(await readFile(path.join(site.folder, tagOf(html, "og:image"))));
  assert.deepEqual([picture.width, picture.height], [1200, 630]);
  // Most of it is the light page, and some has the colour of the journal's mark: neither a blank picture nor an error's.
  const counts = { page: 0, journal: 0, all: 0 };
  for (let at = 0; at < picture.data.length; at += 4) {
    const [red, green, blue] = picture.data.subarray(at, at + 3);
    counts.all += 1;
    if (red > 240 && green > 240) counts.page += 1;
    if (red < 20 && Math.abs(green - 0x72) < 12 && Math.abs(blue - 0xb2) < 12) counts.journal += 1;
  }
  assert.ok(counts.page > 0.7 * counts.all && counts.page < counts.all, JSON.stringify(counts));
  assert.ok(counts.journal > 100, JSON.stringify(counts));
});

test("a site that does not start is refused with the page's own error", async (t) => {
  const folder = temporaryFolder(t);
  await writeFile(path.join(folder, "index.html"), "<script>throw new Error('the deck is broken');</script>");
  await assert.rejects(photographSlide(folder, { slide: "answer", patience: 500 }), (error) => {
    assert.ok(error instanceof SiteDoesNotStart);
    assert.match(error.message, /the deck is broken/);
    return true;
  });
});

test("the page says that it is published, so that readers get their controls; a present server's does not", async () => {
  const html = await textOf("index.html");
  assert.equal(tagOf(html, "replay:published"), "true");
  assert.doesNotMatch(html, /replay:events/);
});

test("where no script runs, the page says that it needs JavaScript", async () => {
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(site.url);
  assert.match(await page.locator("noscript").innerText(), /needs JavaScript/);
});

test("the published talk says where it can be cloned: on its last slide, and in the QR code", async () => {
  const page = await openSite("?stage&data=fixture#/yours");
  assert.equal(await page.textContent("#yours .credits"), "people.example/talk");
  assert.equal(await page.getAttribute("#yours .credits a", "href"), "https://people.example/talk");
  await goTo(page, "yours");
  await page.waitForSelector(".qr svg");
  assert.equal(await page.getAttribute(".qr svg", "aria-label"), "QR code: https://people.example/talk");
  assert.equal(await page.textContent(".qr a"), "people.example/talk");
});

test("a bundle that is dropped on the site, or named by its address, tells the talk with its numbers; a hostile one does not", async () => {
  const bundle = await strangersBundle();
  const page = await openSite("?stage&data=fixture#/journal-ratio");
  const figure = () => page.textContent(FIGURE);
  const own = await figure();
  await dropOn(page, Buffer.from("PK"));
  assert.match(await page.textContent(".notice"), /The bundle is not shown\. .* cannot be unpacked/);
  assert.equal(await figure(), own);
  const asked = page.asked.length;
  await page.evaluate(() => {
    const canvas = document.querySelector("#journal-ratio .panel canvas");
    window.chartNow = () => window.replay.charts.charts.get(canvas).chart;
    window.chartBefore = window.chartNow();
  });
  await dropOn(page, bundle);
  await page.waitForFunction((place) => document.querySelector(place).textContent === "7.8×", FIGURE);
  assert.match(
    await page.textContent(".notice"),
    /^Numbers of a bundle, “A stranger’s cluster”, in this browser, until this page is loaded again\. /,
  );
  /** Whether the browser asks before it leaves the page. */
  const asks = (one) => one.evaluate(() => !dispatchEvent(new Event("beforeunload", { cancelable: true })));
  assert.equal(await asks(page), true);
  await page.setViewportSize({ width: 1024, height: 768 });
  const back = await page.locator(".of-bundle a").boundingBox();
  assert.ok(back.x + back.width <= 1024, "the way back is off the screen");
  await page.setViewportSize({ width: 1280, height: 720 });
  await goTo(page, "journal-ratio");
  assert.equal(
    await page.evaluate(() => window.chartNow() === window.chartBefore),
    false,
    "the chart has the axes and names of the talk's own data",
  );
  for (const { error } of await chartsOf(page, "journal-ratio")) assert.equal(error, undefined);
  assert.match(
    await page.textContent("#journal-ratio .provenance"),
    /^fixture\.bundle: A stranger’s cluster · /,
  );
  const uploads = page.asked.slice(asked).filter((address) => address.includes("fixture.bundle"));
  assert.deepEqual(uploads, [], "the server is not asked about it, and gets nothing");
  await dropOn(page, Buffer.from("PK"));
  await page.locator(".notice").nth(1).waitFor();
  const notices = await page.locator(".notice").allTextContents();
  assert.equal(notices.length, 2);
  assert.match(notices[0], /^Numbers of a bundle/);
  assert.match(notices[1], /The bundle is not shown\. .* The numbers on show stay\.$/);
  assert.equal(await figure(), "7.8×");
  await page.close();

  const named = await openSite("?stage&bundle=others.bundle#/journal-ratio", {
    prepare: (one) =>
      one.route("**/others.bundle", (route) =>
        route.fulfill({ contentType: "application/octet-stream", body: bundle }),
      ),
  });
  assert.equal(await named.textContent(FIGURE), "7.8×");
  assert.match(await named.textContent(".notice"), /in this browser only\. /);
  assert.equal(await asks(named), false);
  await named.goto(`${site.url}?stage&data=fixture&bundle=https://evil.example/x#/journal-ratio`);
  await named.waitForSelector(READY.deck);
  assert.match(await named.textContent(".notice"), /names a bundle of another site/);
  assert.equal(await named.textContent(FIGURE), own);
});

test("from the numbers of a dropped bundle, the way back leads to the slide that is on show by then", async () => {
  const page = await openSite("?stage&data=fixture#/journal-ratio");
  await dropOn(page, await strangersBundle());
  await page.waitForSelector(".notice.of-bundle");
  await page.evaluate(() => {
    location.hash = "#/setup";
  });
  await page.waitForFunction(() => window.replay.deck.getCurrentSlide().id === "setup");
  await Promise.all([page.waitForEvent("load"), page.locator(".of-bundle a").click()]);
  await page.waitForSelector(READY.deck);
  assert.match(page.url(), /\?stage&data=fixture#\/setup(\/\d+)?$/);
  assert.equal(await page.locator(".of-bundle").count(), 0);
});

test("as the window becomes a phone's, a reader who stays with a dropped bundle is asked once", async () => {
  const page = await openSite("?stage&data=fixture#/journal-ratio");
  await dropOn(page, await strangersBundle());
  await page.waitForSelector(".notice.of-bundle");
  // A browser asks only who has used the page.
  await page.click(".of-bundle strong");
  let asked = 0;
  page.on("dialog", (dialog) => {
    asked += 1;
    return dialog.dismiss();
  });
  for (const [width, times] of [
    [690, 1],
    [680, 1],
    [1280, 1],
    [690, 2],
  ]) {
    const asking = times > asked ? page.waitForEvent("dialog") : null;
    await page.setViewportSize({ width, height: 720 });
    // A window's resize is told before its next frame.
    await page.evaluate(
      () => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown))),
    );
    await asking;
    assert.equal(asked, times, `${width} px`);
  }
  assert.equal(await page.locator(".of-bundle").count(), 1);
});

test("a reader sees where a bundle can be dropped, and can choose one with the keyboard instead", async () => {
  const page = await openSite("?data=fixture#/journal-ratio");
  const drag = (type) =>
    page.evaluate((name) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["PK"], "a.bundle"));
      document.body.dispatchEvent(new DragEvent(name, { bubbles: true, cancelable: true, dataTransfer }));
      return getComputedStyle(document.body, "::after").content;
    }, type);
  assert.match(await drag("dragover"), /Drop a bundle here/);
  assert.equal(await drag("dragleave"), "none");
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.locator(".reader-bar .choose-bundle button").press("Enter"),
  ]);
  const bundle = { name: "a.bundle", mimeType: "application/octet-stream", buffer: await strangersBundle() };
  await chooser.setFiles(bundle);
  await page.waitForFunction((place) => document.querySelector(place).textContent === "7.8×", FIGURE);
  await page.waitForSelector(".notice.of-bundle");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.locator("#journal-ratio .panel canvas").first().focus();
  await page.keyboard.press("e");
  await page.waitForFunction(() =>
    /\.csv copied\.$/.test(document.querySelector(".chart-toast")?.textContent),
  );
});

/** Where the slide of the ratios has the one that the bundle changes. */
const FIGURE = '#journal-ratio .panel data[value="journal-4k-seq-write.ratio"]';

/** A bundle of the fixture's data with another label and one other figure. */
async function strangersBundle() {
  const folder = path.join(FIXTURE, "fixture");
  const names = (await readdir(folder, { recursive: true })).filter(
    (name) => /^(?:manifest|claims)\.json$/.test(name) || /\/aggregate\/.*\.csv$/.test(name),
  );
  const files = {};
  for (const name of names) {
    let text = await readFile(path.join(folder, name), "utf8");
    if (name === "manifest.json")
      text = JSON.stringify({ ...JSON.parse(text), label: "A stranger’s cluster" });
    if (name === "claims.json") {
      const claims = JSON.parse(text);
      claims.claims["journal-4k-seq-write"].conditions.ratio.estimate = 7.77;
      text = JSON.stringify(claims);
    }
    files[name] = { sha256: createHash("sha256").update(text).digest("hex"), text };
  }
  return gzipSync(
    JSON.stringify({ format: "replay-bundle", version: 1, data_set: "fixture", claims: {}, files }),
  );
}

/** Drops a file on the page, and waits until the page has said what it makes of it. */
async function dropOn(page, bytes) {
  await page.evaluate((base64) => {
    document.querySelector(".notice:not(.of-bundle)")?.remove();
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))], "x.bundle"));
    document.body.dispatchEvent(
      new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }),
    );
  }, bytes.toString("base64"));
  await page.waitForSelector(".notice");
}
