import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";

import { eachSlide, goTo, startDeck } from "../support/deck.js";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
let deck;

before(async () => {
  deck = await startDeck();
});
after(() => deck.close());

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing serious on any slide, in ${colorScheme}`, async () => {
    const page = await deck.openDeck("?data=fixture", { colorScheme });
    // Evaluated, not added as an element: the page's policy forbids scripts that are not its own.
    await page.evaluate(await readFile(AXE, "utf8"));
    const problems = [];
    await eachSlide(page, async (id) => {
      const found = await page.evaluate(async (slide) => {
        const include = [[`[id="${slide}"]`], [".slide-number"]];
        const { violations } = await window.axe.run({ include }, { resultTypes: ["violations"] });
        return violations
          .filter(({ impact }) => ["serious", "critical"].includes(impact))
          .flatMap(({ id: rule, nodes }) => nodes.map(({ html }) => `${rule}: ${html.slice(0, 120)}`));
      }, id);
      problems.push(...found.map((text) => `${id}: ${text}`));
    });
    assert.deepEqual(problems, []);
    await page.close();
  });
}

test("the deck is a document, not an application, and every chart is an image with a summary", async () => {
  const page = await deck.openDeck();
  assert.equal(await page.locator('[role="application"]').count(), 0);
  assert.equal(await page.locator(".slides").getAttribute("role"), "main");
  await goTo(page, "throughput-write-seq");
  const canvas = page.locator("#throughput-write-seq canvas");
  assert.equal(await canvas.getAttribute("role"), "img");
  assert.match(await canvas.getAttribute("aria-label"), /I\/O size from 4 KiB to 4 MiB/);
  const heading = await page.innerText("#throughput-write-seq h2");
  assert.equal(await page.title(), `${heading} – What does your RPO cost?`);
  await page.close();
});

test("the speaker view opens under the page's policy, with notes, clock, pace and both slides", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/setup" });
  const [speaker] = await Promise.all([page.waitForEvent("popup"), page.keyboard.press("s")]);
  await speaker.waitForFunction(() =>
    /Ceph 16\.2\.15/.test(document.querySelector(".speaker-controls-notes .value")?.textContent),
  );
  await speaker.waitForFunction(() => document.querySelectorAll("iframe").length === 2);
  await speaker.waitForFunction(() => {
    const pace = document.querySelector(".speaker-controls-time .pacing");
    return pace && getComputedStyle(pace).display !== "none" && /\d/.test(pace.textContent);
  });
  const frames = speaker.frames().filter((frame) => frame.url().includes("receiver"));
  assert.equal(frames.length, 2);
  for (const frame of frames) {
    assert.match(frame.url(), /data=fixture/);
    await frame.waitForSelector("html[data-deck-ready]");
  }
  await page.bringToFront();
  await page.keyboard.press("ArrowRight");
  assert.deepEqual(page.complaints, []);
  await speaker.close();
  await page.close();
});

test("the print view has a page for each slide, each chart drawn, in light colours", async () => {
  const takeAway = await deck.lendShipped();
  const page = await deck.openDeck("?data=shipped&view=print", { colorScheme: "dark" });
  await page.waitForSelector("html[data-charts-ready]", { timeout: 20000 });
  const facts = await page.evaluate(() => ({
    pages: document.querySelectorAll(".pdf-page").length,
    slides: document.querySelectorAll(".pdf-page > section").length,
    missing: [...window.replay.charts.charts.values()]
      .filter(({ chart, error }) => !chart || error)
      .map(({ src }) => src),
    tooHigh: [...document.querySelectorAll(".pdf-page")].filter((one) => one.scrollHeight > 722).length,
    background: getComputedStyle(document.body).backgroundColor,
  }));
  assert.equal(facts.pages, facts.slides);
  assert.ok(facts.pages > 30);
  assert.deepEqual(facts.missing, []);
  assert.equal(facts.tooHigh, 0);
  assert.equal(facts.background, "rgb(253, 252, 249)");
  const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true });
  const count = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g).length;
  assert.equal(count, facts.pages);
  await page.close();
  await takeAway();
});

test("with less motion asked for, nothing moves for longer than a blink", async () => {
  const page = await deck.openDeck();
  const longest = await page.evaluate(() =>
    Math.max(
      ...[...document.querySelectorAll(".reveal *")].map((element) =>
        Math.max(...getComputedStyle(element).transitionDuration.split(",").map(parseFloat)),
      ),
    ),
  );
  assert.ok(longest <= 0.01, `${longest} s`);
  await page.close();
});
