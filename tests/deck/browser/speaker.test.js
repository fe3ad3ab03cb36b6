/** The speaker view: the pace of the chosen cut, keys that work on both screens, and finding the deck again. */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { READY } from "../support/browser.js";
import { chartsOf, goTo, openSpeakerView, startDeck } from "../support/deck.js";

const deck = await startDeck();
after(() => deck.close());

test("the speaker view is fetched after the slides, and shows the slides and the pace of the cut", async () => {
  const page = await deck.openDeck("?data=fixture&cut=20", { hash: "#/bet" });
  const asked = Date.now();
  const { speaker, frames, current } = await openSpeakerView(page);
  const cut = await page.evaluate(() => window.replay.deck.getSlides().length);
  const [shown, next] = await page.evaluate(() => {
    const { deck: reveal } = window.replay;
    const at = reveal.getSlidePastCount();
    return [at, at + 1].map((position) => reveal.getSlides()[position].id);
  });
  for (const frame of frames) {
    const expected = frame === current ? shown : next;
    await frame.waitForFunction((id) => window.replay.deck.getCurrentSlide().id === id, expected);
    assert.match(frame.url(), /cut=20/);
    assert.equal(await frame.evaluate(() => window.replay.deck.getSlides().length), cut);
    assert.equal(await frame.locator(".reader-bar, .notice").count(), 0);
  }
  // The time until the current slide ends: of all slides before it, and its own, minus the time since the view was opened.
  const allotted = await page.evaluate(() => {
    const { deck: reveal } = window.replay;
    return reveal
      .getSlides()
      .slice(0, reveal.getSlidePastCount() + 1)
      .reduce((sum, { dataset }) => sum + Number(dataset.timing), 0);
  });
  const pace = speaker.locator(".pacing");
  await speaker.waitForFunction(() => /[1-9]/.test(document.querySelector(".pacing").textContent));
  const [hours, minutes, seconds] = (await pace.innerText()).match(/\d+/g).map(Number);
  const left = hours * 3600 + minutes * 60 + seconds;
  const sinceAsked = (Date.now() - asked) / 1000;
  assert.ok(left <= allotted && left >= allotted - sinceAsked - 1, `${left} s left of ${allotted}`);
  assert.match(
    await speaker.evaluate(() => getComputedStyle(document.querySelector(".pacing"), "::after").content),
    /ahead|on time/,
  );
});

test("the speaker view has the chart of the stage, chart keys work both on stage and in the speaker view, and either can change slides", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/throughput-write-seq" });
  await goTo(page, "throughput-write-seq");
  const { speaker, current } = await openSpeakerView(page);
  await current.waitForFunction(() => {
    const canvas = document.querySelector("#throughput-write-seq canvas");
    return canvas && window.replay.charts.charts.get(canvas)?.model;
  });
  assert.deepEqual(
    await chartsOf(current, "throughput-write-seq"),
    await chartsOf(page, "throughput-write-seq"),
  );
  const table = "#throughput-write-seq .chart-figure table";
  await page.bringToFront();
  await page.keyboard.press("t");
  await page.locator(table).waitFor();
  await current.locator(table).waitFor();
  await speaker.bringToFront();
  await speaker.locator("#speaker-controls").focus();
  await speaker.keyboard.press("t");
  await page.locator(table).waitFor({ state: "hidden" });
  const before = await page.evaluate(() => window.replay.deck.getCurrentSlide().id);
  await speaker.keyboard.press("PageDown");
  await page.waitForFunction((id) => window.replay.deck.getCurrentSlide().id !== id, before);
});

test("the keys of a recorded run work in the speaker view, and ? lists keys over its picture of the slide", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/throughput-write-seq" });
  await goTo(page, "throughput-write-seq");
  const { speaker, current } = await openSpeakerView(page);
  await speaker.bringToFront();
  await speaker.locator("#speaker-controls").focus();
  await speaker.keyboard.press("z");
  const line = page.locator(".recorded-run");
  await line.waitFor();
  await speaker.keyboard.press("w");
  await line.getByText("paused").waitFor();
  await speaker.keyboard.press("q");
  await line.getByText("Recorded run over").waitFor();
  assert.equal(await current.locator(".recorded-run").count(), 0);
  await speaker.keyboard.press("?");
  const list = current.locator("dialog.keys-help");
  await list.waitFor();
  assert.match(await list.innerText(), /Recorded run: pause or continue/);
  assert.equal(await page.evaluate(() => window.replay.deck.isPaused()), false);
  assert.equal(await page.locator("dialog").count(), 0);
  // The button of the list has the focus in the picture, and does not keep the key.
  await speaker.locator("#speaker-controls").focus();
  await speaker.keyboard.press("Space");
  await list.waitFor({ state: "detached" });
});

test("keys of a character that are off do nothing in the speaker view either", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/setup" });
  const { speaker, current } = await openSpeakerView(page);
  const isDark = () => page.evaluate(() => window.replay.deck.isPaused());
  await page.evaluate(() => localStorage.setItem("replay-character-keys", "off"));
  await speaker.bringToFront();
  await speaker.locator("#speaker-controls").focus();
  await speaker.keyboard.press("b");
  // Once the list of keys is open, the stage has seen all keys before.
  await speaker.keyboard.press("F1");
  await current.locator("dialog.keys-help").waitFor();
  assert.equal(await isDark(), false);
  await page.evaluate(() => localStorage.removeItem("replay-character-keys"));
  await current.locator("dialog.keys-help").getByRole("button").click();
  await speaker.locator("#speaker-controls").focus();
  await speaker.keyboard.press("b");
  await page.waitForFunction(() => window.replay.deck.isPaused());
});

test("a reader's deck keeps slides without data, and so does its speaker view", async () => {
  const page = await deck.openDeck("?data=fixture&explore", { hash: "#/setup" });
  const { frames } = await openSpeakerView(page);
  const idsOf = (view) =>
    view.evaluate(() => [...document.querySelectorAll(".slides section:not(.stack)")].map(({ id }) => id));
  const own = await idsOf(page);
  const onStage = await deck.openDeck("?data=fixture");
  assert.ok((await idsOf(onStage)).length < own.length, "the fixture lacks data of no slide");
  await onStage.close();
  for (const frame of frames) assert.deepEqual(await idsOf(frame), own);
});

test("a speaker view finds the deck again after a reload, with its keys and the slides that there are now", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/setup" });
  const { speaker, frames, current } = await openSpeakerView(page);
  // As if data had come for a slide meanwhile.
  for (const frame of frames)
    await frame.evaluate(() => (document.documentElement.dataset.leftOut = '["come"]'));
  await page.reload();
  await page.waitForSelector(READY.deck);
  await page.evaluate(() => window.replay.deck.slide(0, 0));
  const note = await page.evaluate(() =>
    document.querySelector("#shop aside.notes").textContent.trim().slice(0, 30),
  );
  await speaker.waitForFunction(
    (words) => document.querySelector(".speaker-controls-notes .value").textContent.includes(words),
    note,
  );
  for (const frame of frames)
    await frame.waitForFunction(() => {
      const { deckReady, leftOut } = document.documentElement.dataset;
      return deckReady && leftOut !== '["come"]';
    });
  await speaker.bringToFront();
  await speaker.locator("#speaker-controls").focus();
  await speaker.keyboard.press("?");
  await current.locator("dialog.keys-help").waitFor();
});

test("the speaker view marks the paragraph of the present step, and keeps times and the size of the notes", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/one-write" });
  const { speaker } = await openSpeakerView(page);
  const { title } = await page.evaluate(() => JSON.parse(document.getElementById("talk").textContent));
  assert.equal(await speaker.title(), `Speaker view – ${title}`);
  const steps = await page.evaluate(
    () =>
      new Set([...document.querySelectorAll("#one-write .fragment")].map((one) => one.dataset.fragmentIndex))
        .size,
  );
  await speaker.waitForFunction(
    (words) => document.querySelector(".step")?.textContent === words,
    `Step 1 of ${steps + 1}`,
  );
  await page.evaluate(() => {
    // A step that the verdicts hide takes no click.
    const hidden = '<p class="fragment disabled" data-fragment-index="9" hidden></p>';
    document.getElementById("one-write").insertAdjacentHTML("beforeend", hidden);
    window.replay.deck.next();
  });
  await speaker.waitForFunction(
    (words) => document.querySelector(".step").textContent === words,
    `Step 2 of ${steps + 1}`,
  );
  const marked = speaker.locator(".speaker-controls-notes [aria-current=step]");
  await marked.first().waitFor();
  assert.match(await marked.first().textContent(), /[Cc]lick/);
  assert.match(await speaker.textContent(".spent"), /^This slide \d+:\d\d of \d+:\d\d/);
  const size = () => speaker.$eval(".speaker-controls-notes .value", (one) => getComputedStyle(one).fontSize);
  await speaker.setViewportSize({ width: 1440, height: 900 });
  const before = Number.parseFloat(await size());
  await speaker.getByRole("button", { name: "Larger notes" }).click();
  assert.ok(Number.parseFloat(await size()) > before);
  await page.evaluate(() => window.replay.deck.slide(0));
  await speaker.evaluate(() => {
    window.clicks = 0;
    document.querySelector(".speaker-controls-time").addEventListener("click", () => (window.clicks += 1));
  });
  await speaker.locator(".times summary").click();
  await speaker.waitForFunction(() => document.querySelectorAll(".times tbody tr").length > 5);
  const row = speaker.locator(".times tbody tr", { hasText: "one-write" });
  const [, , , now] = await row.locator("td").allTextContents();
  assert.match(now, /^\d+:\d\d$/);
  assert.equal(await speaker.evaluate(() => window.clicks), 0, "the clock would be set");
});

test("a spot follows the mouse, on stage and from the speaker view", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/one-write" });
  const { speaker, current } = await openSpeakerView(page);
  await page.bringToFront();
  await page.keyboard.press("m");
  await page.mouse.move(640, 360);
  await current.locator(".pointer-spot").waitFor();
  const middle = await page.locator(".pointer-spot").boundingBox();
  assert.ok(Math.abs(middle.x + middle.width / 2 - 640) < 1);
  const { x, y, width, height } = await speaker.locator("#current-slide iframe").boundingBox();
  await speaker.bringToFront();
  await speaker.mouse.move(x + width / 4, y + height / 2);
  await page.waitForFunction(
    () => Math.abs(document.querySelector(".pointer-spot").getBoundingClientRect().x - 320) < 60,
  );
  await page.bringToFront();
  await page.keyboard.press("m");
  await page.locator(".pointer-spot").waitFor({ state: "detached" });
});

test("bets are placed by key in the speaker view and by mouse on stage, and both windows show them", async () => {
  const page = await deck.openDeck("?data=fixture&cut=20", { hash: "#/bet" });
  await goTo(page, "bet");
  const open = async () => {
    const { speaker, current } = await openSpeakerView(page);
    await current.waitForFunction(
      () => window.replay.charts.charts.get(document.querySelector("#bet canvas"))?.drawn,
    );
    await speaker.locator("#speaker-controls").focus();
    return { speaker, current };
  };
  /** What both windows answer a third one: the name of each bet, and its place along x. */
  const answers = () =>
    page.evaluate(
      () =>
        new Promise((resolve) => {
          const channel = new BroadcastChannel(document.documentElement.dataset.echo);
          const heard = [];
          channel.onmessage = ({ data: { kept } }) => {
            if (kept) heard.push([...kept].map(([name, { x }]) => [name, x]));
            if (heard.length < 2) return;
            channel.close();
            resolve(heard);
          };
          channel.postMessage({ kept: null });
        }),
    );
  const { speaker, current } = await open();
  const views = [page, current];
  const pictures = () =>
    Promise.all(views.map((view) => view.evaluate(() => document.querySelector("#bet canvas").toDataURL())));
  /** Acts, and waits until both windows draw something else. */
  const change = async (act) => {
    const before = await pictures();
    await act();
    for (const [at, view] of views.entries())
      await view.waitForFunction(
        (was) => document.querySelector("#bet canvas").toDataURL() !== was,
        before[at],
        { polling: 100 },
      );
  };
  for (const key of ["a", "x", "x", "u"]) await change(() => speaker.keyboard.press(key));
  const journal = ["a journal", 5];
  assert.deepEqual(await answers(), [[journal], [journal]]);
  await page.bringToFront();
  await change(() => page.locator("#bet canvas").click({ position: { x: 640, y: 200 } }));
  await change(() => page.keyboard.press("u"));
  await speaker.bringToFront();
  await change(() => speaker.keyboard.press("x"));
  const [onStage, inFrame] = await answers();
  assert.deepEqual(onStage, inFrame);
  assert.deepEqual([onStage[0], onStage[1][0], onStage.length], [journal, "a snapshot a minute", 2]);
  await speaker.close();
  await open();
  assert.deepEqual(await answers(), [onStage, onStage], "a speaker view that is opened later");
  await page.bringToFront();
  await page.keyboard.press("?");
  assert.match(await page.locator("dialog.keys-help").innerText(), /Bets: take the next one/);
});

test("no note needs scrolling in the speaker view at 1440×900", async () => {
  const page = await deck.openDeck("?data=fixture");
  const { speaker } = await openSpeakerView(page);
  await speaker.setViewportSize({ width: 1440, height: 900 });
  const notes = await page.evaluate(() =>
    [...document.querySelectorAll(".slides section[id]:not(.stack)")].map(({ id }) => ({
      id,
      html: [...document.getElementById(id).querySelectorAll("aside.notes")]
        .map(({ innerHTML }) => innerHTML)
        .join(""),
    })),
  );
  assert.ok(notes.length > 26);
  const long = await speaker.evaluate((all) => {
    document.querySelector(".speaker-controls-notes").classList.remove("hidden");
    const place = document.querySelector(".speaker-controls-notes .value");
    const view = document.getElementById("speaker-controls");
    return all.flatMap(({ id, html }) => {
      place.innerHTML = html;
      const beyond = view.scrollHeight - view.clientHeight;
      return beyond > 0 ? [`${id}: ${beyond} px`] : [];
    });
  }, notes);
  assert.deepEqual(long, []);
});
