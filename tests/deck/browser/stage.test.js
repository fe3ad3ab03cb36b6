/** On stage: keys and clickers, the two cuts, and slides that somebody tampered with. */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { askedElsewhere } from "../support/browser.js";
import { replaceChapter } from "../support/chapters.js";
import { goTo, startDeck } from "../support/deck.js";

const deck = await startDeck();
after(() => deck.close());

const slideOf = (page) => page.evaluate(() => window.replay.deck.getCurrentSlide().id);
/** Slide and step. */
const placeOf = (page) => page.evaluate(() => JSON.stringify(window.replay.deck.getIndices()));
const stateOf = (page) =>
  page.evaluate(() => ({
    slide: window.replay.deck.getCurrentSlide().id,
    overview: window.replay.deck.isOverview(),
    paused: window.replay.deck.isPaused(),
    dialogs: document.querySelectorAll("dialog[open]").length,
    inputs: document.querySelectorAll("input, select").length,
  }));

test("no single key opens a menu, and the next press of a clicker moves on", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/setup" });
  assert.equal(await page.locator(".notice").count(), 0, "something was removed from its slides");
  const keys = [
    ..."abcdefghijklmnopqrstuvwxyz0123456789./;'-=[]",
    "Escape",
    "Home",
    "End",
    "Enter",
    "Delete",
    "F1",
    "F5",
  ];
  // S opens a new window, F fills the screen, and both are intended.
  for (const key of keys.filter((one) => !["s", "f"].includes(one))) {
    await page.keyboard.press(key);
    const { overview, inputs } = await stateOf(page);
    assert.equal(overview, false, `${key} opens the overview`);
    assert.equal(inputs, 0, `${key} opens an input`);
    if ((await stateOf(page)).paused) await page.keyboard.press("PageDown");
    assert.equal((await stateOf(page)).paused, false, `after ${key} the screen stays black`);
    await page.evaluate(() => window.replay.deck.slide(2, 0));
    const before = await placeOf(page);
    await page.keyboard.press("PageDown");
    const { dialogs } = await stateOf(page);
    assert.notEqual(await placeOf(page), before, `after ${key} a clicker does not go on`);
    assert.equal(dialogs, 0, `after ${key} something lies over the slides`);
    await page.evaluate(() => window.replay.deck.slide(2, 0));
  }
});

test("arrow keys and a clicker's buttons go through all slides in the order of the talk", async () => {
  const page = await deck.openDeck("?data=fixture&cut=20", { hash: "#/shop" });
  const order = await page.evaluate(() =>
    [...document.querySelectorAll(".slides section:not(.stack)")].map(({ id }) => id),
  );
  for (const key of ["ArrowRight", "ArrowDown", "PageDown", "Enter", " "]) {
    await page.evaluate(() => window.replay.deck.slide(0, 0));
    const seen = new Set([await slideOf(page)]);
    for (let press = 0; press < 40 && seen.size < 8; press += 1) {
      await page.keyboard.press(key);
      // A busy browser may show what a key did only with its next frame.
      await page.evaluate(
        () => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown))),
      );
      seen.add(await slideOf(page));
    }
    assert.deepEqual([...seen], order.slice(0, 8), key);
  }
});

test("Shift+O shows the overview on stage, and O or Escape leaves it", async () => {
  const page = await deck.openDeck();
  for (const leaving of ["o", "Escape"]) {
    await page.keyboard.press("Shift+O");
    assert.equal((await stateOf(page)).overview, true);
    await page.keyboard.press(leaving);
    assert.equal((await stateOf(page)).overview, false, leaving);
  }
});

test("slides near the current one are laid out when there is time, one slide a frame", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/shop" });
  const laidOut = () =>
    page.evaluate(() => {
      const slides = [...document.querySelectorAll(".slides section:not(.stack)")];
      const near = slides.filter(({ style }) => style.display !== "none");
      // False for what is not in the layout, and for what waits in `content-visibility: hidden`.
      const isLaidOut = (slide) => [...slide.children].some((part) => part.checkVisibility());
      return { near: near.length, waiting: near.filter((slide) => !isLaidOut(slide)).map(({ id }) => id) };
    });
  /** The slides that a change lays out at once, and the most that one later frame lays out. */
  const change = (name) =>
    page.evaluate(async (id) => {
      const { deck } = window.replay;
      const slide = document.getElementById(id);
      const { h, v } = deck.getIndices(slide);
      const marked = () => [...document.querySelectorAll(".slides section.laid-out")];
      // A slide that is near both may have been laid out before.
      const before = marked();
      deck.slide(h, v);
      const atOnce = marked().filter((one) => !before.includes(one));
      const far = marked().filter(({ style }) => style.display === "none");
      const counts = [marked().length];
      for (let frame = 0; frame < 60; frame += 1) {
        await new Promise(requestAnimationFrame);
        counts.push(marked().length);
      }
      return {
        atOnce: atOnce.map((one) => one.id),
        far: far.map((one) => one.id),
        most: Math.max(...counts.slice(1).map((count, at) => count - counts[at])),
        shown: [...slide.children].some((part) => part.checkVisibility()),
      };
    }, name);
  const { atOnce, far, most, shown } = await change("journal-ratio");
  assert.deepEqual(atOnce, ["journal-ratio"], "only the new slide itself, which was not near");
  assert.deepEqual(far, [], "what is no longer near will be laid out anew");
  assert.equal(most, 1);
  assert.equal(shown, true);
  await page.waitForFunction(
    () =>
      document.querySelectorAll(".slides section:not(.stack, .laid-out):not([style*='display: none'])")
        .length === 0,
  );
  const settled = await laidOut();
  assert.ok(settled.near > 2);
  assert.deepEqual(settled.waiting, []);
  await page.keyboard.press("Shift+O");
  assert.deepEqual((await laidOut()).waiting, [], "the overview shows all");
});

test("? lists the working keys, and moving on closes the list", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/setup" });
  const before = await placeOf(page);
  await page.keyboard.press("?");
  const list = page.locator("dialog.keys-help");
  await list.waitFor();
  const text = await list.innerText();
  assert.match(text, /Black screen/);
  assert.match(text, /Charts as a table/);
  assert.doesNotMatch(text, /Contents|Search|Jump/);
  await page.keyboard.press("PageDown");
  await list.waitFor({ state: "detached" });
  assert.notEqual(await placeOf(page), before);
});

test("a list of keys that arrives after one has moved on does not open", async () => {
  let arrive;
  const page = await deck.openDeck("?data=fixture", {
    hash: "#/setup",
    prepare: (one) =>
      one.route(/\/help[-.][^/]*\.js$/, async (route) => {
        await new Promise((resolve) => (arrive = resolve));
        await route.continue();
      }),
  });
  const asked = page.waitForRequest(/\/help[-.][^/]*\.js$/);
  await page.keyboard.press("?");
  const address = (await asked).url();
  await page.keyboard.press("PageDown");
  while (!arrive) await page.evaluate(() => new Promise(requestAnimationFrame));
  arrive();
  // The deck's own import of the module is answered before this one.
  await page.evaluate(
    (url) => import(url).then(() => new Promise((resolve) => setTimeout(resolve))),
    address,
  );
  assert.equal(await page.locator("dialog").count(), 0);
});

test("a cut shows its own slides and seconds, and an address of another slide leads to the nearest one", async () => {
  const facts = async (query, hash) => {
    const page = await deck.openDeck(query, { hash });
    const found = await page.evaluate(() => {
      const slides = [...document.querySelectorAll(".slides section:not(.stack)")];
      const counted = slides.filter((slide) => !slide.closest('[data-visibility="uncounted"]'));
      return {
        all: slides.map(({ id }) => id),
        seconds: counted.reduce((sum, { dataset }) => sum + Number(dataset.timing), 0),
        only30: slides.filter(({ dataset }) => dataset.cut === "30").length,
        untimed: counted.filter(({ dataset }) => !/^\d+$/.test(dataset.timing)).map(({ id }) => id),
        emptyStacks: [...document.querySelectorAll(".slides > section")].filter(
          (one) => one.children.length === 0,
        ).length,
        here: window.replay.deck.getCurrentSlide().id,
        notices: document.querySelectorAll(".notice").length,
      };
    });
    await page.close();
    return found;
  };
  // On stage, with the data that ship: slides for which the fixture has nothing leave its cuts.
  const takeAway = await deck.lendShipped();
  const whole = await facts("?data=tentacle", "#/shop");
  const short = await facts("?data=tentacle&cut=20", "#/shop");
  assert.equal(whole.seconds, 28 * 60 + 48);
  assert.equal(short.seconds, 18 * 60 + 34);
  assert.equal(short.only30, 0);
  for (const { untimed, emptyStacks } of [whole, short]) {
    assert.deepEqual(untimed, []);
    assert.equal(emptyStacks, 0);
  }
  const gone = whole.all.filter((id) => !short.all.includes(id));
  assert.ok(gone.length > 3);
  const [first] = gone;
  const before = whole.all.slice(0, whole.all.indexOf(first)).findLast((id) => short.all.includes(id));
  const led = await facts("?data=tentacle&cut=20", `#/${first}`);
  assert.equal(led.here, before);
  assert.equal(led.notices, 0, "a notice on stage");
  const told = await facts("?data=tentacle&cut=20&explore", `#/${first}`);
  assert.equal(told.here, before);
  assert.equal(told.notices, 1);
  await takeAway();
});

test("a square for each minute of the cut is full when it is spoken; the appendix has numbers instead", async () => {
  const page = await deck.openDeck("?data=fixture&cut=20", { hash: "#/shop" });
  const look = (id) =>
    page.evaluate((name) => {
      const { deck } = window.replay;
      const counted = deck.getSlides();
      const slide = name === null ? counted.at(-1) : document.getElementById(name);
      const { h, v } = deck.getIndices(slide);
      deck.slide(h, v);
      const row = document.querySelector(".minutes");
      const stage = document.querySelector(".slides").getBoundingClientRect();
      const box = row.getBoundingClientRect();
      const scale = deck.getScale();
      return {
        minutes: Math.round(counted.reduce((sum, { dataset }) => sum + Number(dataset.timing), 0) / 60),
        squares: row.children.length,
        spoken: row.querySelectorAll(".spoken").length,
        shown: row.checkVisibility(),
        number: document.querySelector(".slide-number").checkVisibility(),
        words: row.getAttribute("aria-label"),
        // px of the stage
        right: Math.round((stage.right - box.right) / scale),
        bottom: Math.round((stage.bottom - box.bottom) / scale),
        color: getComputedStyle(row.firstElementChild).backgroundColor,
        count: counted.length,
        width: Math.round(box.width / scale),
      };
    }, id);
  const first = await look("shop");
  assert.equal(first.squares, first.minutes);
  assert.ok(first.minutes > 3, `${first.minutes} minutes`);
  assert.equal(first.spoken, 1);
  assert.deepEqual([first.shown, first.number], [true, false]);
  assert.equal(first.words, `Slide 1 of ${first.count}`);
  const { spoken, words } = await look(null);
  assert.equal(spoken, first.minutes);
  assert.equal(words, `Slide ${first.count} of ${first.count}`);
  const light = await look("bet");
  assert.notEqual(light.color, first.color, "on a dark slide and on a light one");
  const appendix = await look("setup");
  assert.deepEqual([appendix.shown, appendix.number], [false, true]);
  for (const viewport of [
    { width: 1280, height: 720 },
    { width: 1920, height: 1080 },
    { width: 1024, height: 768 },
  ]) {
    await page.setViewportSize(viewport);
    await page.waitForFunction(
      ({ width }) => Math.abs(window.replay.deck.getScale() - width / 1280) < 0.01,
      viewport,
    );
    const { right, bottom, width } = await look("bet");
    assert.deepEqual([right, bottom, width], [72, 25, 15 * first.minutes - 6], JSON.stringify(viewport));
  }
});

test("a title that answers at a click moves nothing below it", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/shop" });
  const asking = await page.evaluate(() =>
    [...document.querySelectorAll(".slides section:has(> h2 > .finding.fragment)")].map(({ id }) => id),
  );
  assert.ok(asking.length >= 5, `${asking}`);
  const below = (id) =>
    page.evaluate((slide) => {
      const section = document.getElementById(slide);
      const title = section.querySelector("h2");
      const shown = [...section.children].find(
        (element) => element !== title && element.offsetHeight > 0 && !element.matches(".corner"),
      );
      return { top: shown.offsetTop, asks: title.querySelector(".question").offsetHeight > 0 };
    }, id);
  for (const id of asking) {
    await goTo(page, id);
    const answered = await below(id);
    assert.equal(answered.asks, false, `${id} never answers`);
    await page.evaluate((slide) => {
      const { h, v } = window.replay.deck.getIndices(document.getElementById(slide));
      window.replay.deck.slide(h, v, -1);
    }, id);
    assert.deepEqual(await below(id), { top: answered.top, asks: true }, id);
  }
});

test("an address with an impossible request gets a message", async () => {
  const page = await deck.openDeck("?data=fixture&cut=40");
  assert.match(await page.innerText(".notice"), /no “40”-minute cut.*20 or 30/);
});

const HOSTILE = `<!-- .slide: id="hostile" onclick="window.hacked = 1" data-background-iframe="https://example.org/" -->
# Harmless <!-- .element: onmouseover="window.hacked = 2" data-preview-link="javascript:window.hacked=3" -->

<img src="data:," onerror="window.hacked = 4"><iframe srcdoc="<script>parent.hacked = 5</script>"></iframe>

[a link](javascript:window.hacked=6) <a href="&#106;avascript:window.hacked=7">another</a>

<svg><script>window.hacked = 8</script><a xlink:href="javascript:window.hacked=9"><text>x</text></a></svg>

<form action="https://example.org/"><button formaction="javascript:window.hacked=10">send</button></form>
<meta http-equiv="refresh" content="0;url=https://example.org/"><base href="https://example.org/">
<style>.slides { display: none }</style>

</SCRIPT ><img src="data:," onerror="window.hacked = 11"><script>window.hacked = 12</script>

<p onclick="window.hacked = 13" class="kept">Kept</p>

<!-- Note -->
A note <img src="data:," onerror="window.hacked = 14">.


<!-- .slide: id="after-hostile" -->
# Still here
`;

test("a hostile chapter runs nothing, loads nothing, and is reported; its harmless parts stay", async () => {
  const page = await deck.openDeck("?data=fixture", {
    prepare: (one) => replaceChapter(one, "slides/rpo/10-tax-and-lottery.md", HOSTILE),
  });
  await page.evaluate(() => {
    window.replay.deck.slide(
      ...Object.values(window.replay.deck.getIndices(document.getElementById("hostile"))),
    );
    for (const element of document.querySelectorAll("#hostile, #hostile *:not(aside *)")) element.click?.();
  });
  await page.waitForTimeout(200);
  const found = await page.evaluate(() => ({
    hacked: window.hacked ?? null,
    elements: [
      ...document.querySelectorAll(".slides :is(iframe, script, object, embed, form, style, meta, base)"),
    ].map(({ localName }) => localName),
    attributes: [...document.querySelectorAll(".slides *")].flatMap((element) =>
      [...element.attributes]
        .filter(({ name, value }) => /^on|iframe|preview-link/.test(name) || /^\s*javascript:/i.test(value))
        .map(({ name }) => `${element.localName} ${name}`),
    ),
    kept: document.querySelector("#hostile .kept")?.textContent,
    after: document.querySelector("#after-hostile h1")?.textContent,
    notice: document.querySelector(".notice")?.textContent,
  }));
  assert.equal(found.hacked, null);
  assert.deepEqual(found.elements, []);
  assert.deepEqual(found.attributes, []);
  assert.equal(found.kept, "Kept");
  assert.equal(found.after, "Still here");
  assert.match(found.notice, /Parts of the slides were removed.*<iframe>.*onclick of <section>/s);
  assert.deepEqual(askedElsewhere(page, deck.url), []);
  assert.equal(page.url().startsWith(deck.url), true, "the page went elsewhere");
  assert.match(page.complaints.splice(0).join("\n"), /Content Security Policy/);
});

test("a click with Ctrl zooms in on what it points at, and Escape out again", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/setup" });
  await page.waitForFunction(() => window.replay.deck.hasPlugin("zoom"));
  const zoom = () => page.evaluate(() => new DOMMatrix(getComputedStyle(document.body).transform).a);
  assert.equal(await zoom(), 1);
  await page.keyboard.down("Control");
  await page.mouse.click(900, 400);
  await page.keyboard.up("Control");
  assert.equal(await zoom(), 2);
  await page.keyboard.press("Escape");
  assert.equal(await zoom(), 1);
  assert.equal((await stateOf(page)).overview, false);
});
