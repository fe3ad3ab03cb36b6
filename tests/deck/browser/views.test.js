/** The deck's other views: overview, scroll view, speaker view; and what readers can expect of every view. */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { chartsOf, goTo, openSpeakerView, startDeck } from "../support/deck.js";
import { drawingProblems } from "../support/drawing.js";
import { patient } from "../../support/patience.mjs";

const deck = await startDeck();
after(() => deck.close());

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

test("the overview shows slides with their charts, and leaving it shows the slide that was chosen", async () => {
  const page = await deck.openDeck("?data=fixture&explore", { hash: "#/journal-ratio" });
  await goTo(page, "journal-ratio");
  await page.evaluate(() => window.replay.deck.toggleOverview(true));
  await page.evaluate(() => window.replay.charts.ready());
  const inSight = () =>
    page.evaluate(() =>
      [...window.replay.charts.charts.values()]
        .filter(({ canvas }) => {
          const { left, top, right, bottom, width } = canvas.getBoundingClientRect();
          return width > 0 && right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
        })
        .map(({ chart, error, src }) => ({
          src,
          drawn: Boolean(chart),
          missing: /404/.test(error?.message),
        })),
    );
  const end = Date.now() + patient(8000);
  let charts = await inSight();
  while (charts.some(({ drawn }) => !drawn) && Date.now() < end) {
    await page.waitForTimeout(100);
    charts = await inSight();
  }
  assert.ok(charts.length >= 4, `${charts.length} charts are in sight`);
  assert.deepEqual(
    charts.filter(({ drawn }) => !drawn),
    [],
  );
  // Sharp: a chart has as many pixels as the screen shows of it.
  const pixelsEach = () =>
    [...window.replay.charts.charts.values()]
      .filter(({ chart, canvas }) => chart && canvas.getBoundingClientRect().width > 0)
      .map(({ canvas }) => canvas.width / devicePixelRatio / canvas.getBoundingClientRect().width);
  await page.waitForFunction(`(${pixelsEach})().every((pixels) => pixels > 0.9 && pixels < 1.1)`, null, {
    timeout: patient(8000),
  });
  assert.ok((await page.evaluate(pixelsEach)).length >= 4);
  const marked = () =>
    page.evaluate(() =>
      [...document.querySelectorAll(".slides section:not(.stack)")]
        .filter((slide) => getComputedStyle(slide).outlineStyle === "solid")
        .filter((slide) => Number.parseFloat(getComputedStyle(slide).outlineWidth) > 15)
        .map(({ id }) => id),
    );
  assert.deepEqual(await marked(), ["journal-ratio"]);
  const step = page.locator("#monday .fragment").first();
  assert.equal(await step.evaluate((item) => getComputedStyle(item).visibility), "visible");
  await page.keyboard.press("ArrowRight");
  const chosen = await page.evaluate(() => window.replay.deck.getCurrentSlide().id);
  assert.deepEqual(await marked(), [chosen]);
  await page.evaluate(() => window.replay.deck.toggleOverview(false));
  assert.deepEqual(await marked(), []);
  assert.equal(await page.evaluate(() => window.replay.deck.getCurrentSlide().id), chosen);
  await goTo(page, "journal-ratio");
  assert.deepEqual(await page.evaluate(drawingProblems, "journal-ratio"), []);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("the scroll view draws each chart as it comes into sight, and leaving it keeps them", async () => {
  const page = await deck.openDeck("?data=fixture&view=scroll", { hash: "#/shop" });
  assert.equal(await page.evaluate(() => window.replay.deck.isScrollView()), true);
  for (const id of ["journal-ratio", "throughput-write-seq"]) {
    await page.evaluate((slide) => document.getElementById(slide).scrollIntoView(), id);
    await page.waitForFunction(
      (slide) =>
        [...document.querySelectorAll(`#${slide} canvas`)].every((canvas) => {
          const { model, error } = window.replay.charts.charts.get(canvas) ?? {};
          return model && !error;
        }),
      id,
    );
    for (const { error, shown } of await chartsOf(page, id)) {
      assert.equal(error, undefined);
      assert.ok(shown.length > 0);
    }
    assert.deepEqual(await page.evaluate(drawingProblems, id), []);
  }
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("the speaker view opens under the page's policy, with notes, clock, pace and both slides", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/setup" });
  const { speaker, frames } = await openSpeakerView(page);
  // As on the stage, the note's values come from the data.
  const note = await page.evaluate(
    () => document.querySelector("#setup aside.notes data.bound").parentElement.textContent,
  );
  await speaker.waitForFunction(
    (text) => document.querySelector(".speaker-controls-notes .value")?.textContent.includes(text),
    note,
  );
  await speaker.waitForFunction(() => {
    const pace = document.querySelector(".speaker-controls-time .pacing");
    return pace && getComputedStyle(pace).display !== "none" && /\d/.test(pace.textContent);
  });
  assert.equal(frames.length, 2);
  for (const frame of frames) assert.match(frame.url(), /data=fixture/);
  await page.bringToFront();
  await page.keyboard.press("ArrowRight");
  assert.deepEqual(page.complaints, []);
  await speaker.close();
  await page.close();
});

test("a chart in the speaker view is the one of the stage", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/throughput-write-seq" });
  await goTo(page, "throughput-write-seq");
  const [onStage] = await chartsOf(page, "throughput-write-seq");
  const {
    speaker,
    frames: [current],
  } = await openSpeakerView(page);
  await current.waitForFunction(() => {
    const canvas = document.querySelector("#throughput-write-seq canvas");
    return canvas && window.replay?.charts.charts.get(canvas)?.model;
  });
  const [beside] = await chartsOf(current, "throughput-write-seq");
  assert.deepEqual(beside, onStage);
  await speaker.close();
  await page.close();
});

test("with reduced motion, nothing moves for longer than a blink", async () => {
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
