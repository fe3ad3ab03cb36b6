/** The first page for readers of the published talk: its text, charts and links, and how to leave it. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, test } from "node:test";

import { parse } from "csv-parse/sync";

import { READY, askedElsewhere } from "../support/browser.js";
import { VERDICTS, judgedAlike } from "../support/claims.js";
import { startDeck } from "../support/deck.js";

const CLAIMS = "fixture/claims.json";
const deck = await startDeck({ shipped: true });
after(() => deck.close());

async function open({ query = "?explore&data=fixture", ...options } = {}) {
  const page = await deck.browser.open(`${deck.url}${query}`, { ready: READY.front, ...options });
  await page.evaluate(() => window.replay.front.charts.ready());
  return page;
}

const text = async (page, selector) => (await page.innerText(selector)).replace(/\s+/g, " ").trim();

test("the first screen has the question, what mirroring is, the answer, its chart, and to whom it applies", async () => {
  const page = await open({ query: "?explore&data=tentacle" });
  assert.match(await text(page, ".hero .lead"), /Ceph .* mirror .* measured: what is lost/s);
  assert.match(await text(page, ".hero .kicker"), /^Recovery point objective, RPO for short/);
  assert.match(
    await text(page, "p.answer:not([hidden])"),
    /^While the copy kept up, the worst of \d+ trials lost .* with a journal.* A 4K write takes [\d.]+ ms or/,
  );
  const drawn = page.locator(".hero canvas");
  assert.match(await drawn.getAttribute("aria-label"), /lost/i);
  assert.equal(await text(page, "h1"), "What does your RPO cost?");
  assert.match(await text(page, ".hero .applies"), /^Measured on .* It applies to you if .* Ceph \d+/);
  // RPO is spelled out before it is used.
  assert.ok((await page.evaluate(() => document.body.innerText.indexOf("RPO for short"))) < 60);
  const shown = ["h1", "p.answer:not([hidden])", ".hero canvas", ".hero .applies"];
  for (const selector of shown) {
    const box = await page.locator(selector).first().boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height <= 720, `${selector} ends at ${box.y + box.height} px`);
  }
  assert.equal(await page.locator(".notice").count(), 0, "something was removed from its text");
  assert.deepEqual(askedElsewhere(page, deck.url), []);
  assert.ok(
    !page.asked.some((address) => address.includes("90-appendix")),
    "chapters that nobody asked for were read",
  );
});

test("the lead chart draws its file, in four panels with one y axis, and the same figures as a table", async () => {
  const page = await open();
  const drawn = await page.evaluate(() =>
    [...document.querySelectorAll("#reader-chart canvas[data-chart]")].map((canvas) => {
      const { url, chart, error } = window.replay.front.charts.charts.get(canvas);
      return {
        url,
        error: error?.message,
        range: chart && [chart.scales.y.min, chart.scales.y.max],
        series: Object.fromEntries((chart?.data.datasets ?? []).map(({ label, data }) => [label, data])),
        label: canvas.getAttribute("aria-label"),
        width: canvas.getBoundingClientRect().width,
      };
    }),
  );
  assert.equal(drawn.length, 4);
  let columns = 0;
  for (const { url, error, range, series, label, width } of drawn) {
    assert.equal(error, undefined, url);
    assert.deepEqual(range, drawn[0].range, "the panels share their y axis");
    const [header, ...rows] = parse(
      await readFile(path.join(deck.benchmarks, url.replace("benchmarks/", "")), "utf8"),
    );
    columns = header.length - 1;
    for (const [name, ...cells] of rows) {
      const values = cells.map((cell) => (cell === "" ? null : Number(cell)));
      assert.deepEqual(
        series[name].map((point) => point?.y ?? point),
        values,
        `${url}: ${name}`,
      );
    }
    assert.match(label, /With journal/);
    assert.ok(width > 300, `${width} px wide`);
  }
  await page.click("details[data-figures] summary");
  await page.waitForSelector(".scrolled table");
  assert.equal(await page.locator(".files a").count(), 4);
  assert.equal(await page.locator(".scrolled tbody tr").count(), columns, "a row for each size of the files");
  assert.match(await text(page, "#reader-chart .provenance"), /^fixture/);
});

test("it says where it was measured, to whom it applies, and each mode in the table, under headings one level below each other", async () => {
  const page = await open();
  assert.match(
    await text(page, "#reader-measured"),
    /applies to you if .*processors run out before disks and network/,
  );
  assert.equal(await page.locator("#reader-decision .answer-table").count(), 1);
  assert.equal(await page.locator(".front-page .chapter-error").count(), 0);
  const levels = await page.$$eval(".front-page :is(h1, h2, h3, h4)", (all) =>
    all.map((one) => Number(one.tagName[1])),
  );
  assert.equal(levels[0], 1);
  levels.slice(1).forEach((level, at) => assert.ok(level - levels[at] <= 1, levels.join(" ")));
  assert.equal(await page.locator("main, [role=main]").count(), 1);
});

test("whatever the verdicts, each group of texts shows exactly one, and the answer is one sentence", async () => {
  const original = await readFile(path.join(deck.benchmarks, CLAIMS), "utf8");
  const page = await open();
  for (const verdict of VERDICTS) {
    await deck.replaceFile(CLAIMS, JSON.stringify(judgedAlike(JSON.parse(original), verdict)));
    await page.waitForFunction(
      (wanted) => window.replay.data.about().claims?.claims["journal-4k-seq-write"].verdict === wanted,
      verdict,
    );
    await page.waitForFunction(() => document.querySelectorAll("p.answer:not([hidden])").length === 1);
    const shown = await text(page, "p.answer:not([hidden])");
    assert.match(shown, /\.\)?$/, verdict);
    const chosen = await page
      .locator('#reader-chart > p > [data-when^="journal-4k-seq-write"]:not([hidden])')
      .count();
    assert.equal(chosen, 1, `${verdict}: ${chosen} texts on the journal's price`);
  }
  await deck.replaceFile(CLAIMS, original);
});

test("a changed CSV file reaches the page's chart in place", async () => {
  const page = await open();
  const name = "fixture/rbd-journaling/aggregate/ratio-throughput-write-seq.csv";
  const original = await readFile(path.join(deck.benchmarks, name), "utf8");
  const [, first] = /^With journal,([^,\n]+)/m.exec(original);
  const drawn = (value) =>
    page.waitForFunction((wanted) => {
      const slot = window.replay.front.charts.charts.get(document.querySelector("#reader-chart canvas"));
      // The page may be open before its chart has read its file.
      const set = slot?.chart?.data.datasets.find(({ label }) => label === "With journal");
      return set && (set.data[0]?.y ?? set.data[0]) === wanted;
    }, value);
  await drawn(Number(first));
  await deck.replaceFile(name, original.replace(`With journal,${first}`, "With journal,3.21"));
  await drawn(3.21);
  await deck.replaceFile(name, original);
});

test("a link leads to the slides, Back returns, and another cut keeps the data set", async () => {
  const page = await open();
  await page.click("a.button[data-open='30']");
  await page.waitForSelector(READY.deck);
  assert.equal(await page.locator(".front-page").count(), 0);
  assert.match(page.url(), /\?explore&data=fixture#\/shop$/);
  await page.evaluate(() => window.replay.deck.next());
  // reveal writes the address a moment later.
  await page.waitForURL((url) => url.hash !== "#/shop");
  await page.goBack();
  await page.waitForSelector(READY.front);
  assert.ok(await page.isVisible("h1"));
  const short = new URL(await page.getAttribute("a[data-open='20']", "href"));
  assert.deepEqual([...short.searchParams.keys()].sort(), ["cut", "data", "explore"]);
  await page.goto(short.href);
  await page.waitForSelector(READY.deck);
  assert.equal(await page.evaluate(() => window.replay.deck.getCurrentSlide().id), "shop");
});

test("the command is copied with the keyboard, and the page says so", async () => {
  const page = await open({ permissions: ["clipboard-read", "clipboard-write"] });
  await page.focus(".command button");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector(".command [role=status]").textContent !== "");
  assert.equal(await text(page, ".command [role=status]"), "Copied.");
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /npm start$/);
});

for (const [name, viewport] of Object.entries({
  desk: { width: 1280, height: 720 },
  phone: { width: 390, height: 844 },
  "smallest phone": { width: 320, height: 568 },
}))
  test(`on a ${name} nothing is wider than the screen`, async () => {
    const page = await open({
      viewport,
      ...(viewport.width < 500 ? { isMobile: true, hasTouch: true } : {}),
    });
    await page.click("details[data-figures] summary");
    await page.waitForSelector(".scrolled table");
    const wide = await page.evaluate(() => {
      const limit = document.documentElement.clientWidth;
      // Except the headings of a narrow table, which are for screen readers.
      const scrolls = (element) => element.closest("thead") !== null;
      return [...document.querySelectorAll(".front-page *")]
        .filter((one) => one.getClientRects().length > 0 && !scrolls(one))
        .filter((one) => one.getBoundingClientRect().right > limit + 1)
        .map((one) => `<${one.tagName}> ${one.textContent.trim().slice(0, 40)}`);
    });
    assert.deepEqual(wide, []);
    assert.ok(
      await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      "it scrolls sideways",
    );
  });

test("on a phone a link of the page leads to the top of its slide, title first", async () => {
  const page = await open({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  await page.click('.hero a[href$="#/claims"]');
  await page.waitForSelector(READY.deck);
  await page.evaluate(() => window.replay.charts.ready());
  const { slide, title } = await page.evaluate(() => ({
    slide: document.getElementById("claims").getBoundingClientRect().top,
    title: document.querySelector("#claims h2").getBoundingClientRect().top,
  }));
  assert.ok(Math.abs(slide) <= 1, `the slide begins at ${slide} px`);
  assert.ok(title >= 0 && title < 200, `its title is at ${title} px`);
});

test("without its text the page says which file is missing, and still links to the slides", async () => {
  const page = await deck.browser.open(`${deck.url}?explore&data=fixture`, {
    ready: READY.front,
    prepare: (one) =>
      one.route("**/slides/rpo/reader.md", (route) => route.fulfill({ status: 404, body: "gone" })),
  });
  assert.match(await text(page, ".chapter-error"), /slides\/rpo\/reader\.md/);
  assert.equal(await page.getAttribute("a", "href"), "#/");
});
